// Finds secrets in text and replaces them: packs, samples, journal, logs and error messages all use
// this detector.
//
//   Redact("key sk-abc…")               // "key [redacted:openai_key]"
//   Redact("token = next_token()")      // as it is: no name makes a word or an expression a secret
//
// A secret is recognised by its value: it has the prefix and length of a provider's keys, or it
// looks random and is at the place of a literal (in quotes, or assigned in a settings file). A
// telling name next to it only lowers the evidence needed. docs/formats/redaction.md lists all
// kinds.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_REDACT_H_
#define DOSSIER_BASE_TEXT_REDACT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

// Redacts text that comes in pieces, including secrets that are split between pieces.
//
//   RedactStream stream;
//   file += stream.Add(bytes);  …  file += stream.Finish();
//
// The output is Redact of the whole input. It holds back up to 128 KiB. Thread-safety: one owner.

class RedactStream {
 public:
  // Returns the text that is ready to be written.
  std::string Add(std::string_view bytes);
  // Returns the rest. The stream may be reused.
  std::string Finish();
  // The number of secrets replaced in the output so far.
  std::uint64_t found() const { return found_; }

 private:
  // Returns the text up to about `end`; all secrets that begin there must be pending whole.
  std::string Take(std::size_t end);

  std::string pending_;
  std::size_t written_ = 0;  // bytes of pending_ already written, kept as context of a value
  std::uint64_t found_ = 0;
};

struct Secret {
  std::size_t offset;     // bytes
  std::size_t length;     // bytes
  std::string_view kind;  // "openai_key", "jwt", "private_key", "password", …
};

// Returns all secrets in `text`, in order, not overlapping, in linear time.
std::vector<Secret> FindSecrets(std::string_view text);
// Returns the kind of the secret `value` of a field called `name`; empty if it is none. As in text,
// a name alone is not enough: the value must look like a secret.
std::string_view KindOfNamedSecret(std::string_view name, std::string_view value);

// Returns `text` with each secret replaced by "[redacted:KIND]".
std::string Redact(std::string_view text);
// The same for `found`, the result of FindSecrets for `text`.
std::string Redact(std::string_view text, std::span<const Secret> found);
// Returns `text` with each of `found` replaced by `put(secret)`.
std::string Redact(std::string_view text, std::span<const Secret> found,
                   const std::function<std::string(const Secret&)>& put);

// Returns the line of each of `found`, from 1.
std::vector<std::size_t> LinesOf(std::string_view text, std::span<const Secret> found);

// Recognises environment variables that no foreign program gets unless the user names them.
//
//   IsSecretVariable("DB_PASSWD", "x")                              // true, by its name
//   IsSecretVariable("DATABASE_URL", "postgres://ann:pw@host/db")   // true, by its value
//   IsSecretVariable("PATH", "/usr/bin:/bin")                       // false
//
// Thread-safety: pure functions.

// Returns true if the name usually belongs to a secret: it contains KEY, TOKEN, SECRET, PASS,
// CREDENTIAL or JWT, or ends with a word PAT, PWD, CREDS or AUTH. Exceptions: PWD, OLDPWD, and
// names that end in ASKPASS, which are programs.
bool IsSecretVariableName(std::string_view name);

// Returns true if the value is a secret under any name: it contains a URL with a password, or
// something that the redactor takes for a secret.
bool HoldsSecretValue(std::string_view value);

// Returns true if the name or the value says so.
bool IsSecretVariable(std::string_view name, std::string_view value);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_REDACT_H_
