// Secrets that are recognised by their own form, whatever stands around them: keys with a
// provider's prefix, JSON web tokens, private keys, passwords in URLs, values of Authorization
// headers. Internal to base/text/redact.h.
//
// Thread-safety: pure functions and constants.

#ifndef DOSSIER_BASE_TEXT_SECRET_SHAPES_H_
#define DOSSIER_BASE_TEXT_SECRET_SHAPES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dossier::secrets {

// A secret at one place of a text; length 0: there is none.
struct Match {
  std::size_t offset = 0, length = 0;  // bytes
  std::string_view kind;
};

// Shapes that begin at `at`, where no word may be cut in two: `at` is the start of one.
Match FindToken(std::string_view text, std::size_t at);
Match FindJwt(std::string_view text, std::size_t at);
Match FindAuthorization(std::string_view text, std::size_t at);
Match FindWebhook(std::string_view text, std::size_t at);

// Shapes that are known by something inside them, which is at `at`.
Match FindPrivateKey(std::string_view text, std::size_t at);   // "-----BEGIN"
Match FindEncodedKey(std::string_view text, std::size_t at);   // the same in base64
Match FindUrlPassword(std::string_view text, std::size_t at);  // "://"
Match FindUserOption(std::string_view text, std::size_t at);   // "-u ", "-user": of curl
Match FindMarkedToken(std::string_view text, std::size_t at);  // ":AA", "8Q~", ".atlasv1."

// The bytes that base64 of either alphabet stands for; empty if it is none.
std::string FromBase64(std::string_view value);
// Whether the password of "user:password" is a value, not a word or a place for one.
bool IsMadePassword(std::string_view value);

}  // namespace dossier::secrets

#endif  // DOSSIER_BASE_TEXT_SECRET_SHAPES_H_
