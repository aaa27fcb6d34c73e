// The parts of the secret detector: byte classes, the shapes of known keys, values that look
// random, and the search for places where a secret may begin. Internal to base/text/redact.h and
// its tests.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_SECRET_DETECTION_H_
#define DOSSIER_BASE_TEXT_SECRET_DETECTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/redact.h"

namespace dossier::secrets {

// Classes of bytes that occur in secrets.

constexpr bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
constexpr bool IsUpperOrDigit(char c) { return IsUpper(c) || IsDigit(c); }
constexpr bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
constexpr bool IsWord(char c) { return IsAlnum(c) || c == '_'; }
constexpr bool IsUrlSafe(char c) { return IsWord(c) || c == '-'; }
constexpr bool IsUrlSafeOrDot(char c) { return IsUrlSafe(c) || c == '.'; }
constexpr bool IsBase64(char c) { return IsUrlSafe(c) || c == '+' || c == '/' || c == '='; }
// RFC 9110: the characters after Bearer and Basic.
constexpr bool IsToken68(char c) { return IsBase64(c) || c == '.' || c == '~'; }
constexpr bool IsVisible(char c) { return c > ' ' && c <= '~' && c != '\'' && c != '"'; }
constexpr bool IsQuote(char c) { return c == '"' || c == '\'' || c == '`'; }

// Returns the byte at `at`, 0 after the end.
constexpr char At(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '\0';
}
// Returns the end of the run that begins at `at`.
template <typename In>
constexpr std::size_t RunEnd(std::string_view text, std::size_t at, In in) {
  while (at < text.size() && in(text[at])) ++at;
  return at;
}
// Returns the start of the run that ends at `at`, at most `most` bytes before it.
template <typename In>
constexpr std::size_t RunStart(std::string_view text, std::size_t at, std::size_t most, In in) {
  const std::size_t first = at > most ? at - most : 0;
  while (at > first && in(text[at - 1])) --at;
  return at;
}
constexpr bool StartsWithNoCase(std::string_view text, std::size_t at, std::string_view lower) {
  if (text.size() < at + lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ToLower(text[at + i]) != lower[i]) return false;
  }
  return true;
}

// The shape of a token: a fixed prefix, then `min_tail` to `max_tail` random-looking bytes of one
// class.
struct TokenShape {
  std::string_view prefix;  // at least 3 bytes
  bool (*in_tail)(char);
  std::size_t min_tail, max_tail;
  std::string_view kind;
};

constexpr std::size_t kAny = 2048;  // bytes: the longest tail

// Sorted by the first byte; of two with a common beginning, the longer one first. Taken from the
// providers' documentation of their keys; for variable lengths, the shortest seen.
inline constexpr TokenShape kTokenShapes[] = {
    {"AKCp8", IsAlnum, 60, 80, "artifactory_key"},
    {"AGE-SECRET-KEY-", IsUpperOrDigit, 58, 60, "age_key"},
    {"ATATT3x", IsBase64, 60, kAny, "atlassian_token"},
    {"ATCTT3x", IsBase64, 60, kAny, "atlassian_token"},
    {"ABIA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"ACCA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"AIza", IsUrlSafe, 35, 35, "google_key"},
    {"AKIA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"ASIA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"ATBB", IsAlnum, 32, 36, "atlassian_token"},
    {"CCIPAT_", IsWord, 63, 63, "circleci_token"},
    {"CFPAT-", IsUrlSafe, 43, 43, "contentful_token"},
    {"EAAA", IsUrlSafe, 56, 64, "square_token"},
    {"EAA", IsAlnum, 90, kAny, "facebook_token"},
    {"GOCSPX-", IsUrlSafe, 28, 28, "google_secret"},
    {"HRKU-", IsUrlSafe, 36, 64, "heroku_key"},
    {"LTAI", IsAlnum, 16, 24, "alibaba_key"},
    {"NRAK-", IsUpperOrDigit, 27, 27, "newrelic_key"},
    {"PMAK-", IsUrlSafe, 59, 59, "postman_key"},
    {"SG.", IsUrlSafeOrDot, 60, 70, "sendgrid_key"},
    {"bkua_", IsHex, 40, 40, "buildkite_token"},
    {"cio", IsAlnum, 32, 32, "crates_token"},
    {"dapi", IsHex, 32, 34, "databricks_token"},
    {"dckr_oat_", IsUrlSafe, 24, 64, "docker_token"},
    {"dckr_pat_", IsUrlSafe, 24, 64, "docker_token"},
    {"django-insecure-", IsVisible, 50, 50, "django_key"},
    {"doo_v1_", IsHex, 64, 64, "digitalocean_token"},
    {"dop_v1_", IsHex, 64, 64, "digitalocean_token"},
    {"dor_v1_", IsHex, 64, 64, "digitalocean_token"},
    {"dp.pt.", IsAlnum, 40, 48, "doppler_token"},
    {"dsk_", IsAlnum, 52, 52, "dossier_key"},
    {"e2b_", IsHex, 40, 40, "e2b_key"},
    {"figd_", IsUrlSafe, 36, 64, "figma_token"},
    {"fm1_", IsBase64, 80, kAny, "fly_token"},
    {"fm2_", IsBase64, 80, kAny, "fly_token"},
    {"fo1_", IsUrlSafe, 40, 64, "fly_token"},
    {"github_pat_", IsWord, 40, 100, "github_token"},
    {"glagent-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glcbt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glimt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"gloas-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glpat-", IsUrlSafeOrDot, 20, 320, "gitlab_token"},
    {"glptt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"gldt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glft-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glrt-", IsUrlSafeOrDot, 20, 128, "gitlab_token"},
    {"glsa_", IsWord, 41, 41, "grafana_token"},
    {"glc_", IsBase64, 32, 400, "grafana_token"},
    {"gho_", IsAlnum, 30, 255, "github_token"},
    {"ghp_", IsAlnum, 30, 255, "github_token"},
    {"ghr_", IsAlnum, 30, 255, "github_token"},
    {"ghs_", IsAlnum, 30, 255, "github_token"},
    {"ghu_", IsAlnum, 30, 255, "github_token"},
    {"gsk_", IsAlnum, 40, 64, "groq_key"},
    {"hf_", IsAlnum, 30, 64, "huggingface_token"},
    {"hvb.", IsUrlSafe, 24, 512, "vault_token"},
    {"hvs.", IsUrlSafe, 24, 512, "vault_token"},
    {"key-", IsHex, 32, 32, "mailgun_key"},
    {"lsv2_pt_", IsWord, 43, 43, "langsmith_key"},
    {"lsv2_sk_", IsWord, 43, 43, "langsmith_key"},
    {"lin_api_", IsAlnum, 32, 48, "linear_key"},
    {"nvapi-", IsUrlSafe, 50, 80, "nvidia_key"},
    {"nfp_", IsAlnum, 32, 48, "netlify_token"},
    {"npm_", IsAlnum, 36, 36, "npm_token"},
    {"ntn_", IsAlnum, 40, 50, "notion_token"},
    {"ops_eyJ", IsBase64, 100, kAny, "onepassword_token"},
    {"oy2", IsLowerOrDigit, 43, 43, "nuget_key"},
    {"pcsk_", IsWord, 60, 80, "pinecone_key"},
    {"pat-", IsUrlSafe, 40, 44, "hubspot_token"},
    {"phx_", IsAlnum, 40, 50, "posthog_key"},
    {"pplx-", IsAlnum, 40, 64, "perplexity_key"},
    {"pscale_oauth_", IsUrlSafeOrDot, 32, 64, "planetscale_token"},
    {"pscale_pw_", IsUrlSafeOrDot, 32, 64, "planetscale_token"},
    {"pscale_tkn_", IsUrlSafeOrDot, 32, 64, "planetscale_token"},
    {"pul-", IsHex, 40, 40, "pulumi_token"},
    {"pypi-", IsUrlSafe, 60, 512, "pypi_token"},
    {"r8_", IsAlnum, 37, 37, "replicate_token"},
    {"rk_live_", IsAlnum, 20, 255, "stripe_key"},
    {"rk_test_", IsAlnum, 20, 255, "stripe_key"},
    {"rzp_live_", IsAlnum, 14, 24, "razorpay_key"},
    {"rubygems_", IsHex, 48, 48, "rubygems_key"},
    {"sbp_", IsHex, 40, 40, "supabase_token"},
    {"secret_", IsAlnum, 43, 43, "notion_token"},
    {"sgp_", IsWord, 40, 64, "sourcegraph_token"},
    {"shippo_live_", IsHex, 40, 40, "shippo_token"},
    {"shpat_", IsHex, 32, 32, "shopify_token"},
    {"shpca_", IsHex, 32, 32, "shopify_token"},
    {"shppa_", IsHex, 32, 32, "shopify_token"},
    {"shpss_", IsHex, 32, 32, "shopify_token"},
    {"sk-ant-", IsUrlSafe, 20, 255, "anthropic_key"},
    {"sk-", IsUrlSafe, 20, 255, "openai_key"},
    {"sk_live_", IsAlnum, 20, 255, "stripe_key"},
    {"sk_test_", IsAlnum, 20, 255, "stripe_key"},
    {"sl.", IsUrlSafe, 100, kAny, "dropbox_token"},
    {"sntrys_", IsBase64, 60, kAny, "sentry_token"},
    {"sntryu_", IsHex, 64, 64, "sentry_token"},
    {"sqp_", IsHex, 40, 40, "sonarqube_token"},
    {"squ_", IsHex, 40, 40, "sonarqube_token"},
    {"sq0atp-", IsUrlSafe, 22, 22, "square_token"},
    {"sq0csp-", IsUrlSafe, 43, 43, "square_token"},
    {"tskey-", IsUrlSafe, 28, 80, "tailscale_key"},
    {"tvly-", IsUrlSafe, 32, 48, "tavily_key"},
    {"v1.0-", IsUrlSafe, 150, 200, "cloudflare_key"},
    {"whsec_", IsBase64, 32, 64, "stripe_key"},
    {"xai-", IsAlnum, 60, 96, "xai_key"},
    {"xapp-", IsUrlSafe, 40, 160, "slack_token"},
    {"xkeysib-", IsUrlSafe, 70, 90, "brevo_key"},
    {"xoxa-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxb-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxe-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxe.", IsUrlSafeOrDot, 40, 255, "slack_token"},
    {"xoxo-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxp-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxr-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxs-", IsUrlSafe, 24, 255, "slack_token"},
    {"ya29.", IsUrlSafe, 40, 512, "google_token"},
};

// Finds secrets by their own form, whatever surrounds them: keys with a provider's prefix, JSON web
// tokens, private keys, passwords in URLs, values of Authorization headers.

// A secret found at a place of a text; length 0: none.
struct Match {
  std::size_t offset = 0, length = 0;  // bytes
  std::string_view kind;
};

// Finds shapes that begin at `at`, which must be the start of a word.
Match FindToken(std::string_view text, std::size_t at);
Match FindJwt(std::string_view text, std::size_t at);
Match FindAuthorization(std::string_view text, std::size_t at);
Match FindWebhook(std::string_view text, std::size_t at);

// These find shapes by a part inside them, which is at `at`.
Match FindPrivateKey(std::string_view text, std::size_t at);   // "-----BEGIN"
Match FindEncodedKey(std::string_view text, std::size_t at);   // the same in base64
Match FindUrlPassword(std::string_view text, std::size_t at);  // "://"
Match FindUserOption(std::string_view text, std::size_t at);   // "-u ", "-user": of curl
Match FindMarkedToken(std::string_view text, std::size_t at);  // ":AA", "8Q~", ".atlasv1."

// Decodes base64 of either alphabet; empty if it is invalid.
std::string FromBase64(std::string_view value);
// Returns true if the password of "user:password" is a value, not a word or a placeholder.
bool IsMadePassword(std::string_view value);

// Finds secrets whose value looks random: after a telling name, or alone in quotes. A name only
// lowers the evidence needed; it never makes a word, an expression or a type a secret.

// A word at the end of a name, in lower case; "api_key" is "key" with a word before it.
struct NameWord {
  std::string_view word;
  std::string_view kind;
  enum class Weight { kStrong, kWeak } weight;  // kWeak: also in many names that are no secrets
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

// Finds the value of the name that ends with the word at `at`: token = "…", "api_key": "…",
// TOKEN=…, --token …, ?token=…&, <password>…</password>, setPassword("…") and similar forms.
Match FindNamedValue(std::string_view text, std::size_t at);

// Returns the kind of the whole `value` of a field called `name`, as if it were quoted; empty if it
// is no secret.
std::string_view KindOfNamed(std::string_view name, std::string_view value);

// Finds values without a telling name: alone between quotes, or all that a line assigns. Looks at
// each run of token characters once, whichever of its places is given; places ascend.
class LoneValues {
 public:
  static constexpr std::size_t kShortest = 24;  // bytes

  explicit LoneValues(std::string_view text) : text_(text) {}

  void LookAt(std::size_t place);
  // Returns the matches in order.
  std::vector<Match> Take() { return std::move(found_); }

 private:
  std::string_view text_;
  std::size_t done_ = 0;  // the end of the last run looked at
  std::vector<Match> found_;
};

// Marks places where secrets may begin: an AVX2 loop that skips the rest of a text, 32 bytes at a
// time. Marked places are checked again, so it may mark too many but never too few; without it the
// result of a search is the same.

constexpr std::size_t kPartBytes = 4096;    // bytes per call
constexpr std::size_t kBeginningBytes = 4;  // compared bytes of a shape

// Bits for bytes, 64 at a time.
struct Marks {
  std::array<std::uint64_t, kPartBytes / 64> starts;  // a shape may begin here
  std::array<std::uint64_t, kPartBytes / 64> runs;    // the 24th or later byte of a token in a row
};

// State from one part to the next: bytes at its end with 1, 2, 4 and 8 token bytes in a row.
using TokenRunState = std::array<std::uint64_t, 4>;

// Two tables for each byte of a beginning, by its low and its high half: the ones of eight groups
// of beginnings in which it occurs.
struct GroupTables {
  std::array<std::array<std::uint8_t, 16>, kBeginningBytes> low{}, high{};
};
const GroupTables& BeginningGroups();

// Needs utf8::internal::HasAvx2(). `text` has kPartBytes + kBeginningBytes bytes from `begin` on.
Marks MarkPartAvx2(std::string_view text, std::size_t begin, TokenRunState* state);

enum class Loop { kScalar, kAvx2 };
// FindSecrets with the given loop.
std::vector<Secret> FindSecretsBy(std::string_view text, Loop loop);

}  // namespace dossier::secrets

// Estimates whether a value was generated at random, as keys and passwords are, or written by a
// person, as names, words, numbers, paths and placeholders are.
//
//   BitsOfChance("next_token")            // negative: letters follow each other as in words
//   BitsOfChance("q7Zr0xKfW2mB9tLc")      // some 50: 2^50 times likelier drawn than written
//   IsPlaceholder("xxxxxxxxxxxxxxxx")     // true

namespace dossier {

// The classes of characters in a value, as a set of bits.
struct CharacterSet {
  static constexpr std::uint8_t kLower = 1, kUpper = 2, kDigit = 4, kOther = 8, kPastHex = 16;

  std::uint8_t bits = 0;  // kPastHex: some letter is none of a to f

  bool has(std::uint8_t wanted) const { return (bits & wanted) == wanted; }
  // True for digits and letters a to f of one case: a checksum looks like a key of this kind.
  bool is_hex() const { return (bits & (kOther | kPastHex)) == 0 && !has(kLower | kUpper); }
};

CharacterSet CharactersOf(std::string_view value);

// Returns the binary logarithm of how much likelier `value` is as random characters than as text
// written by a person. Both likelihoods are estimates: usual names in source code are below 0,
// random values gain 1 to 3 per character. Linear in the length.
int BitsOfChance(std::string_view value);

// Returns true for a placeholder: it has very few different characters, is mostly a sequence such
// as "abcdefgh" or "12345678", repeats something short, or contains the word "example", as the
// example keys of cloud providers do.
bool IsPlaceholder(std::string_view value);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_SECRET_DETECTION_H_
