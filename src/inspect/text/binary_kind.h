// The kind of a binary file by its first bytes. Nothing inside the file is read.
//
//   BinaryKind("\x89PNG\r\n\x1A\n…")->name == "png";
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_TEXT_BINARY_KIND_H_
#define DOSSIER_INSPECT_TEXT_BINARY_KIND_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace dossier::inspect {

// How much the mark proves. Some marks are letters with which a text may begin as well.
enum class MarkProof : std::uint8_t { kAlone, kUnlessText };

struct BinaryMark {
  std::string_view name;
  MarkProof proof = MarkProof::kAlone;
};

// `head`: the first 64 KiB. None: no known mark.
std::optional<BinaryMark> FindBinaryMark(std::string_view head);
// The name alone; empty if there is none.
std::string_view BinaryKind(std::string_view head);
// Whether the mark decides: it proves the kind alone, or `head` is no text.
bool HasBinaryMark(std::string_view head);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_BINARY_KIND_H_
