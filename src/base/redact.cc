#include "base/redact.h"

#include <algorithm>
#include <array>

namespace dossier {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsAlnum(char c) { return IsDigit(c) || IsUpper(c) || IsLower(c); }
bool IsUpperOrDigit(char c) { return IsUpper(c) || IsDigit(c); }
bool IsWord(char c) { return IsAlnum(c) || c == '_'; }
bool IsUrlSafe(char c) { return IsWord(c) || c == '-'; }
bool IsSlackTail(char c) { return IsAlnum(c) || c == '-'; }
bool IsToken68(char c) {  // RFC 9110: what follows Bearer and Basic
  return IsUrlSafe(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t RunLength(std::string_view text, std::size_t at, bool (*in)(char)) {
  std::size_t end = at;
  while (end < text.size() && in(text[end])) ++end;
  return end - at;
}

bool StartsWithNoCase(std::string_view text, std::size_t at, std::string_view lower) {
  if (text.size() - at < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (Lower(text[at + i]) != lower[i]) return false;
  }
  return true;
}

// A fixed beginning followed by at least `min_tail` bytes of one class. Longer beginnings first.
struct TokenShape {
  std::string_view prefix;
  bool (*in_tail)(char);
  std::size_t min_tail;
  std::string_view kind;
};

constexpr TokenShape kTokens[] = {
    {"sk-ant-", IsUrlSafe, 8, "anthropic_key"}, {"sk-", IsUrlSafe, 16, "openai_key"},
    {"hf_", IsAlnum, 16, "huggingface_token"},  {"github_pat_", IsWord, 16, "github_token"},
    {"ghp_", IsAlnum, 16, "github_token"},      {"gho_", IsAlnum, 16, "github_token"},
    {"ghu_", IsAlnum, 16, "github_token"},      {"ghs_", IsAlnum, 16, "github_token"},
    {"ghr_", IsAlnum, 16, "github_token"},      {"glpat-", IsUrlSafe, 16, "gitlab_token"},
    {"AKIA", IsUpperOrDigit, 16, "aws_key"},    {"ASIA", IsUpperOrDigit, 16, "aws_key"},
    {"AIza", IsUrlSafe, 30, "google_key"},      {"xoxa-", IsSlackTail, 10, "slack_token"},
    {"xoxb-", IsSlackTail, 10, "slack_token"},  {"xoxe-", IsSlackTail, 10, "slack_token"},
    {"xoxo-", IsSlackTail, 10, "slack_token"},  {"xoxp-", IsSlackTail, 10, "slack_token"},
    {"xoxr-", IsSlackTail, 10, "slack_token"},  {"xoxs-", IsSlackTail, 10, "slack_token"},
};

// Names whose value is a secret wherever they stand in front of `=` or `:`.
struct PairName {
  std::string_view name;  // lower case
  std::size_t min_value;  // shorter values are words of prose or counts
};

constexpr PairName kPairNames[] = {
    {"password", 3},      {"passwd", 3},        {"passphrase", 3},   {"pwd", 3},
    {"secret_key", 8},    {"client_secret", 6}, {"secret", 6},       {"api_key", 6},
    {"api-key", 6},       {"apikey", 6},        {"access_token", 8}, {"auth_token", 8},
    {"refresh_token", 8}, {"access_key", 8},    {"private_key", 8},  {"token", 12},
};

constexpr std::string_view kNoSecrets[] = {"null",  "none",      "true",
                                           "false", "undefined", "redacted"};

// A match at one place; length 0: none.
struct Match {
  std::size_t offset = 0, length = 0;
  std::string_view kind;
};

Match FindToken(std::string_view text, std::size_t at) {
  for (const TokenShape& shape : kTokens) {
    if (!text.substr(at).starts_with(shape.prefix)) continue;
    const std::size_t tail = RunLength(text, at + shape.prefix.size(), shape.in_tail);
    if (tail >= shape.min_tail) return {at, shape.prefix.size() + tail, shape.kind};
  }
  return {};
}

// header.payload.signature, where the header is base64 of `{"`.
Match FindJwt(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return {};
  std::size_t end = at;
  for (int part = 0; part < 3; ++part) {
    if (part > 0 && (end >= text.size() || text[end++] != '.')) return {};
    const std::size_t length = RunLength(text, end, IsUrlSafe);
    if (length < 4) return {};
    end += length;
  }
  return {at, end - at, "jwt"};
}

// "Bearer x", "Basic x": the value only, so that the reader still sees what was there.
Match FindAuthorization(std::string_view text, std::size_t at) {
  struct Scheme {
    std::string_view name, kind;
    std::size_t min_value;
  };
  constexpr Scheme kSchemes[] = {{"bearer ", "bearer", 8}, {"basic ", "basic", 12}};
  for (const Scheme& scheme : kSchemes) {
    if (!StartsWithNoCase(text, at, scheme.name)) continue;
    const std::size_t start = at + scheme.name.size();
    const std::size_t length = RunLength(text, start, IsToken68);
    const std::string_view value = text.substr(start, length);
    // "basic authentication" is prose: a value has a digit, an upper case letter or padding.
    const bool looks_made = std::any_of(value.begin(), value.end(), [](char c) {
      return IsDigit(c) || IsUpper(c) || c == '=' || c == '+';
    });
    if (length >= scheme.min_value && looks_made) return {start, length, scheme.kind};
  }
  return {};
}

// From the header to its end line, or as far as base64 goes where the end is missing.
Match FindPrivateKey(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kKey = "PRIVATE KEY";
  if (!text.substr(at).starts_with(kBegin)) return {};
  const std::string_view label = text.substr(at + kBegin.size(), 48);
  const std::size_t dashes = label.find("-----");
  if (dashes == std::string_view::npos) return {};
  if (!label.substr(0, dashes).ends_with(kKey)) return {};
  if (RunLength(label, 0, [](char c) { return IsUpper(c) || c == ' '; }) < dashes) return {};
  std::size_t end = at + kBegin.size() + dashes + 5;
  const auto in_body = [](char c) {
    return IsToken68(c) || c == '\n' || c == '\r' || c == ' ' || c == '\\' || c == ':' || c == ',';
  };
  while (end < text.size() && in_body(text[end]) && !text.substr(end).starts_with("-----")) ++end;
  if (text.substr(end).starts_with("-----END ")) {
    const std::size_t close = text.substr(end + 9, 64).find("-----");
    if (close != std::string_view::npos) end += 9 + close + 5;
  }
  return {at, end - at, "private_key"};
}

// The value behind `name`, which ends at `at`: optional quote, `=` or `:`, optional space and
// quote.
Match PairValue(std::string_view text, std::size_t at, std::size_t min_value) {
  const auto peek = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  if (peek(at) == '\\' && peek(at + 1) == '"') at += 2;
  if (peek(at) == '"' || peek(at) == '\'') ++at;
  for (int spaces = 0; spaces < 2 && peek(at) == ' '; ++spaces) ++at;
  if (peek(at) != '=' && peek(at) != ':') return {};
  ++at;
  for (int spaces = 0; spaces < 2 && peek(at) == ' '; ++spaces) ++at;
  if (peek(at) == '\\' && peek(at + 1) == '"') ++at;
  const char quote = peek(at) == '"' || peek(at) == '\'' ? peek(at) : '\0';
  if (quote) ++at;
  std::size_t end = at;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '\n' || c == '\r' || c == '"') break;
    if (quote ? c == quote || c == '\\'
              : c == ' ' || c == '\t' || c == ',' || c == ';' || c == '&' || c == '}' || c == ')' ||
                    c == '\'') {
      break;
    }
  }
  const std::string_view value = text.substr(at, end - at);
  if (value.size() < min_value || value.front() == '[' || value.front() == '{' ||
      value.front() == '<' || value.front() == '$') {
    return {};
  }
  for (std::string_view word : kNoSecrets) {
    if (value.size() == word.size() && StartsWithNoCase(value, 0, word)) return {};
  }
  return {at, value.size(), "password"};
}

Match FindPair(std::string_view text, std::size_t at) {
  for (const PairName& pair : kPairNames) {
    if (!StartsWithNoCase(text, at, pair.name)) continue;
    const Match match = PairValue(text, at + pair.name.size(), pair.min_value);
    if (match.length > 0) return match;
  }
  return {};
}

// scheme://user:PASSWORD@host
Match FindUrlPassword(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxUser = 128;
  if (!text.substr(at).starts_with("://")) return {};
  const auto in_user_info = [](char c) {
    return c > ' ' && c < 0x7F && c != '/' && c != '@' && c != '"' && c != '\'' && c != '<' &&
           c != '[';
  };
  const std::size_t user = at + 3;
  std::size_t colon = user;
  while (colon < text.size() && colon - user < kMaxUser && in_user_info(text[colon]) &&
         text[colon] != ':' && text[colon] != '=') {
    ++colon;
  }
  if (colon >= text.size() || text[colon] != ':') return {};
  std::size_t end = colon + 1;
  while (end < text.size() && end - colon < 2 * kMaxUser && in_user_info(text[end])) ++end;
  if (end >= text.size() || text[end] != '@' || end == colon + 1) return {};
  return {colon + 1, end - colon - 1, "url_password"};
}

// Which three bytes can begin a shape, by their five low bits, which letters of both cases share;
// all other places are passed over. No shape begins with fewer.
constexpr std::size_t kTrigrams = 1 << 15;

constexpr std::size_t NextTrigram(std::size_t trigram, char c) {
  return (trigram << 5 | (static_cast<unsigned char>(c) & 31)) & (kTrigrams - 1);
}

constexpr std::array<bool, kTrigrams> MakeStarts() {
  std::array<bool, kTrigrams> starts{};
  const auto add = [&](std::string_view shape) {
    std::size_t trigram = 0;
    for (const char c : shape.substr(0, 3)) trigram = NextTrigram(trigram, c);
    starts[trigram] = true;
  };
  for (const TokenShape& shape : kTokens) add(shape.prefix);
  for (const PairName& pair : kPairNames) add(pair.name);
  for (const std::string_view shape : {"eyJ", "bearer", "basic", "-----BEGIN", "://"}) add(shape);
  return starts;
}
constexpr std::array<bool, kTrigrams> kStarts = MakeStarts();

Match MatchAt(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '-') return FindPrivateKey(text, at);
  if (c == ':') return FindUrlPassword(text, at);
  const char before = at > 0 ? text[at - 1] : ' ';
  // A token starts at a word; the name of a pair may end a longer one: DB_PASSWORD.
  if (IsAlnum(before) && !(before == 'n' && at > 1 && text[at - 2] == '\\')) return {};
  if (before != '_') {
    if (Match match = FindToken(text, at); match.length > 0) return match;
    if (Match match = FindJwt(text, at); match.length > 0) return match;
    if (Match match = FindAuthorization(text, at); match.length > 0) return match;
  }
  return FindPair(text, at);
}

}  // namespace

std::vector<Secret> FindSecrets(std::string_view text) {
  std::vector<Secret> secrets;
  std::size_t trigram = 0, next = 0;  // no shape begins before `next`
  for (std::size_t end = 0; end < text.size(); ++end) {
    trigram = NextTrigram(trigram, text[end]);
    if (!kStarts[trigram] || end < next + 2) continue;
    const Match match = MatchAt(text, end - 2);
    if (match.length == 0) continue;
    secrets.push_back({match.offset, match.length, match.kind});
    next = match.offset + match.length;
  }
  return secrets;
}

std::string Redact(std::string_view text) {
  std::string out;
  std::size_t copied = 0;
  for (const Secret& secret : FindSecrets(text)) {
    out.append(text, copied, secret.offset - copied);
    out.append("[redacted:").append(secret.kind).append("]");
    copied = secret.offset + secret.length;
  }
  out.append(text, copied);
  return out;
}

}  // namespace dossier
