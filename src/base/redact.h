// Secrets out of text: one list of shapes for every writer (journal, logs, errors, samples).
//
//   Redact("key sk-abc…")        // "key [redacted:openai_key]"
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_REDACT_H_
#define DOSSIER_BASE_REDACT_H_

#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct Secret {
  std::size_t offset;     // bytes
  std::size_t length;     // bytes
  std::string_view kind;  // "openai_key", "jwt", "private_key", … from the table in redact.cc
};

// All secret shapes in `text`, in order, not overlapping. Linear in the length of `text`.
std::vector<Secret> FindSecrets(std::string_view text);
// `text` with each of them replaced by "[redacted:KIND]".
std::string Redact(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_REDACT_H_
