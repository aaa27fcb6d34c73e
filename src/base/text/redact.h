// Finds secrets in text and replaces them: the one detector that packs, samples, journal, logs and
// error messages use.
//
//   Redact("key sk-abc…")               // "key [redacted:openai_key]"
//   Redact("token = next_token()")      // as it is: no name makes a word or an expression a secret
//
// A secret is recognised by its value: it has the prefix and length of a provider's keys, or it
// looks random and stands where a literal stands (in quotes, or assigned in a settings file). A
// telling name beside it only lowers the evidence that is needed. docs/formats/redaction.md lists
// all kinds.
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

// Redact for text that comes in pieces: a secret that is cut in two by them is found as well.
//
//   RedactStream stream;
//   file += stream.Add(bytes);  …  file += stream.Finish();
//
// What comes out in all is Redact of what went in. Up to 128 KiB are held back. Thread-safety: one
// owner.

class RedactStream {
 public:
  // What may be written by now.
  std::string Add(std::string_view bytes);
  // The rest. The stream may be used anew.
  std::string Finish();
  // Secrets replaced in what came out so far.
  std::uint64_t found() const { return found_; }

 private:
  // The text up to about `end`, which must hold all secrets that begin there.
  std::string Take(std::size_t end);

  std::string pending_;
  std::size_t written_ = 0;  // bytes of pending_, kept for what stands in front of a value
  std::uint64_t found_ = 0;
};

struct Secret {
  std::size_t offset;     // bytes
  std::size_t length;     // bytes
  std::string_view kind;  // "openai_key", "jwt", "private_key", "password", …
};

// All secrets in `text`, in order, not overlapping. Linear in the length of `text`.
std::vector<Secret> FindSecrets(std::string_view text);
// The kind of `value` as a secret in a field called `name`; empty if it is none. Names do no more
// here than in text: the value must be one.
std::string_view KindOfNamedSecret(std::string_view name, std::string_view value);

// `text` with each of its secrets replaced by "[redacted:KIND]".
std::string Redact(std::string_view text);
// The same with `found`, which FindSecrets found in `text`.
std::string Redact(std::string_view text, std::span<const Secret> found);
// `text` with `put(secret)` in the place of each of `found`.
std::string Redact(std::string_view text, std::span<const Secret> found,
                   const std::function<std::string(const Secret&)>& put);

// The line of each of `found`, from 1.
std::vector<std::size_t> LinesOf(std::string_view text, std::span<const Secret> found);

// Environment variables that no program of others gets unless the user names them.
//
//   IsSecretVariable("DB_PASSWD", "x")                              // true, by its name
//   IsSecretVariable("DATABASE_URL", "postgres://ann:pw@host/db")   // true, by its value
//   IsSecretVariable("PATH", "/usr/bin:/bin")                       // false
//
// Thread-safety: pure functions.

// Whether a variable of this name holds a secret by the habits of naming: one with KEY, TOKEN,
// SECRET, PASS, CREDENTIAL or JWT in it, or with a word PAT, PWD, CREDS or AUTH at its end. Not
// PWD, OLDPWD and what ends in ASKPASS, which is a program.
bool IsSecretVariableName(std::string_view name);

// Whether the value is a secret whatever the variable is called: it holds a URL with a password,
// or what the redactor takes for a secret.
bool HoldsSecretValue(std::string_view value);

// Either of them.
bool IsSecretVariable(std::string_view name, std::string_view value);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_REDACT_H_
