// Secrets that are recognised because their value looks random: after a telling name, or alone in
// quotes. A name only lowers the evidence that is needed; it never makes a word, an expression or a
// type a secret. Internal to base/text/redact.h.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_SECRET_VALUES_H_
#define DOSSIER_BASE_TEXT_SECRET_VALUES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::secrets {

// Secrets that are recognised by their own form, whatever stands around them: keys with a
// provider's prefix, JSON web tokens, private keys, passwords in URLs, values of Authorization
// headers.

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

// A word at the end of a name, in lower case; "api_key" is "key" with a word in front of it.
struct NameWord {
  std::string_view word;
  std::string_view kind;
  enum class Weight { kStrong, kWeak } weight;  // kWeak: in names of much that is no secret, too
};
constexpr NameWord kNameWords[] = {
    {"password", "password", NameWord::Weight::kStrong},
    {"passwd", "password", NameWord::Weight::kStrong},
    {"passphrase", "password", NameWord::Weight::kStrong},
    {"pass", "password", NameWord::Weight::kWeak},
    {"pwd", "password", NameWord::Weight::kStrong},
    {"secret", "secret", NameWord::Weight::kStrong},
    {"token", "token", NameWord::Weight::kStrong},
    {"credentials", "credential", NameWord::Weight::kStrong},
    {"credential", "credential", NameWord::Weight::kStrong},
    {"auth", "credential", NameWord::Weight::kWeak},
    {"&sig", "signature", NameWord::Weight::kStrong},
    {"?sig", "signature", NameWord::Weight::kStrong},
    {"key_base", "key", NameWord::Weight::kWeak},
    {"key", "key", NameWord::Weight::kWeak},
};

// The value of the name that ends with the word at `at`: token = "…", "api_key": "…", TOKEN=…,
// --token …, ?token=…&, <password>…</password>, setPassword("…") and their like.
Match FindNamedValue(std::string_view text, std::size_t at);

// The whole of `value` as the value of a field called `name`, as when it is written in quotes;
// empty if it is no secret.
std::string_view KindOfNamed(std::string_view name, std::string_view value);

// Values without a telling name: alone between quotes, or all that a line assigns. A run of token
// characters is looked at once, whichever of its places is named; places ascend.
class LoneValues {
 public:
  static constexpr std::size_t kShortest = 24;  // bytes

  explicit LoneValues(std::string_view text) : text_(text) {}

  void LookAt(std::size_t place);
  // In order.
  std::vector<Match> Take() { return std::move(found_); }

 private:
  std::string_view text_;
  std::size_t done_ = 0;  // the end of the run that was looked at last
  std::vector<Match> found_;
};

}  // namespace dossier::secrets

#endif  // DOSSIER_BASE_TEXT_SECRET_VALUES_H_
