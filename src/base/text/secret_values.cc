#include <algorithm>
#include <bitset>
#include <optional>
#include <string>

#include "base/text/secret_detection.h"

namespace dossier::secrets {
namespace {

using Weight = NameWord::Weight;

constexpr std::size_t kLongestValue = 512;  // bytes

// The form of a value in the text, the most certain first.
enum class Form {
  kQuoted,  // between quotes
  kLine,    // without quotes, the rest of its line
  kPart,    // without quotes, something else follows it
  kSpaced,  // only a space between it and its name
};

struct Value {
  std::size_t begin, end;
  Form form;
};

struct Name {
  std::string_view kind;
  Weight weight;
  std::size_t begin, end;
};

// Words before "key" that make it a secret key.
constexpr std::string_view kKeyWords[] = {"api",    "access",     "secret",  "private", "account",
                                          "auth",   "encryption", "signing", "master",  "license",
                                          "shared", "storage",    "service", "webhook", "session",
                                          "admin",  "server"};

// Returns true if `word` is before the "key" at `key`, with at most one byte between them.
bool IsKeyOf(std::string_view word, std::string_view text, std::size_t key) {
  if (key > 0 && (text[key - 1] == '_' || text[key - 1] == '-' || text[key - 1] == ' ')) --key;
  return key >= word.size() && StartsWithNoCase(text, key - word.size(), word);
}

bool IsSecretKey(std::string_view text, std::size_t key) {
  return std::ranges::any_of(kKeyWords,
                             [&](std::string_view word) { return IsKeyOf(word, text, key); });
}

std::optional<Name> NameAt(std::string_view text, std::size_t at) {
  for (const NameWord& word : kNameWords) {
    if (!StartsWithNoCase(text, at, word.word)) continue;
    std::size_t end = at + word.word.size();
    // PASSWORD2, token_1
    if (At(text, end) == '_' && IsDigit(At(text, end + 1))) ++end;
    end = RunEnd(text, end, IsDigit);
    if (IsUrlSafe(At(text, end))) continue;
    if (word.kind == "key" && (IsKeyOf("public", text, at) || IsKeyOf("pub", text, at))) continue;
    const bool strong =
        word.weight == Weight::kStrong || (word.kind == "key" && IsSecretKey(text, at));
    return Name{word.kind, strong ? Weight::kStrong : Weight::kWeak, at, end};
  }
  return std::nullopt;
}

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  constexpr std::size_t kMost = 64;
  const std::size_t end = RunEnd(text.substr(0, std::min(text.size(), at + kMost)), at, IsBlank);
  return end;
}

// Returns the length of the quote at `at`, in a program or in a string of one; 0 if there is none.
std::size_t QuoteLength(std::string_view text, std::size_t at) {
  if (At(text, at) == '\\' && IsQuote(At(text, at + 1))) return 2;
  return IsQuote(At(text, at)) ? 1 : 0;
}

// Skips a type, as in `token: str = "…"`: returns the place of `=`; `at` if there is none.
std::size_t SkipType(std::string_view text, std::size_t at) {
  const auto in_type = [](char c) {
    return IsWord(c) || c == '.' || c == '<' || c == '>' || c == '[' || c == ']' || c == '|' ||
           c == '&' || c == '*' || c == '?' || c == ' ' || c == ':';
  };
  constexpr std::size_t kMost = 48;
  const std::size_t end = RunEnd(text.substr(0, std::min(text.size(), at + kMost)), at, in_type);
  const bool ends = end > at && text[end - 1] == ' ' && At(text, end) == '=';
  return ends && At(text, end + 1) != '=' ? end : at;
}

// Returns the place of the value of an element or a field whose sibling contains the name:
// name="token" value="…", {"name": "token", "value": "…"}.
std::optional<std::size_t> SiblingValue(std::string_view text, std::size_t at) {
  constexpr std::string_view kValue = "value";
  at = RunEnd(text.substr(0, std::min(text.size(), at + 64)), at,
              [](char c) { return IsBlank(c) || c == '\n' || c == '\r' || c == ',' || c == '"'; });
  if (!StartsWithNoCase(text, at, kValue)) return std::nullopt;
  at += kValue.size();
  at = SkipBlanks(text, at + QuoteLength(text, at));
  if (At(text, at) != '=' && At(text, at) != ':') return std::nullopt;
  return at + 1;
}

struct Separator {
  std::size_t end;  // after it
  bool spaced = false;
  bool needs_quotes = false;
};

// Detects login NAME password …, as in .netrc, on one line or two.
bool IsBehindLogin(std::string_view text, const Name& name) {
  const auto in_space = [](char c) { return IsBlank(c) || c == '\n' || c == '\r'; };
  const auto in_word = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  const std::size_t user_end = RunStart(text, name.begin, 64, in_space);
  const std::size_t user = RunStart(text, user_end, 64, in_word);
  const std::size_t login_end = RunStart(text, user, 64, in_space);
  return user < user_end && user_end < name.begin && login_end < user &&
         text.substr(0, login_end).ends_with("login");
}

// Finds the separator between a name and its value.
std::optional<Separator> SeparatorBehind(std::string_view text, const Name& name) {
  const std::size_t at = name.end;
  const std::size_t quote = QuoteLength(text, at);
  std::size_t next = at + quote;
  if (At(text, next) == ']' && quote > 0) ++next;  // config["token"]
  if (At(text, next) == '[' && quote == 0) {       // char token[64]
    const std::size_t close = RunEnd(text, next + 1, IsDigit);
    if (At(text, close) == ']') next = close + 1;
  }
  const std::size_t blanks = next;
  next = SkipBlanks(text, next);
  const char c = At(text, next);
  if (c == '=') {
    const bool compares = At(text, next + 1) == '=';  // with a literal; an unquoted value is code
    while (At(text, next) == '=') ++next;
    return Separator{.end = At(text, next) == '>' ? next + 1 : next, .needs_quotes = compares};
  }
  if (c == ':') {
    if (At(text, next + 1) == ':' || text.substr(next).starts_with("://")) return std::nullopt;
    if (At(text, next + 1) == '=') return Separator{next + 2};
    const std::size_t type = SkipType(text, next + 1);
    return Separator{type > next + 1 ? type + 1 : next + 1};
  }
  if ((c == '!' || c == '?' || c == '+') && At(text, next + 1) == '=') {
    return Separator{RunEnd(text, next + 1, [](char e) { return e == '='; })};
  }
  if (c == '>' && next == at && quote == 0) return Separator{next + 1};
  if (c == '(' && next == at) return Separator{next + 1};
  if (quote > 0) {
    if (const auto sibling = SiblingValue(text, next)) return Separator{*sibling};
    // setenv("TOKEN", "…"), but not a list of paths.
    const std::size_t first = RunStart(text, name.begin, 64, IsUrlSafeOrDot);
    if (c == ',' && first > 0 && IsQuote(text[first - 1])) {
      return Separator{.end = next + 1, .needs_quotes = true};
    }
    return std::nullopt;
  }
  if (next > blanks) return Separator{next, !IsBehindLogin(text, name)};
  return std::nullopt;
}

// Reads a value between quotes, on one line.
std::optional<Value> QuotedValue(std::string_view text, std::size_t at) {
  const std::size_t length = QuoteLength(text, at);
  std::string_view quote = text.substr(at, length);
  const std::string_view three = text.substr(std::min(text.size(), at + length), 2);
  if (length == 1 && three.size() == 2 && three[0] == quote[0] && three[1] == quote[0]) {
    quote = text.substr(at, 3);
  }
  const std::size_t begin = at + quote.size();
  const std::size_t most = std::min(text.size(), begin + kLongestValue + 1);
  for (std::size_t end = begin; end < most; ++end) {
    const char c = text[end];
    if (static_cast<unsigned char>(c) <= ' ') return std::nullopt;
    if (text.substr(end).starts_with(quote)) return Value{begin, end, Form::kQuoted};
    if (c == '\\') ++end;
  }
  return std::nullopt;
}

bool EndsPart(char c) {
  return c == ',' || c == ';' || c == '&' || c == '<' || c == '>' || c == ')' || c == ']' ||
         c == '}' || c == '|' || c == '\\';
}

// Reads as far as a shell or a settings file would; nothing if that is code.
std::optional<Value> BareValue(std::string_view text, std::size_t at, bool spaced) {
  const auto in_value = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 0x7F &&
           !IsQuote(c);
  };
  const std::string_view near = text.substr(0, std::min(text.size(), at + kLongestValue + 1));
  std::size_t end = RunEnd(near, at, in_value);
  const std::size_t behind = SkipBlanks(text, end);
  const char stop = At(text, behind);
  const bool line = behind >= text.size() || stop == '\n' || stop == '\r' || stop == '#';
  const std::string_view whole = text.substr(at, end - at);
  if (line && !spaced && std::ranges::none_of(whole, EndsPart)) {
    return Value{at, end, Form::kLine};
  }
  std::size_t part = at;
  while (part < end && !EndsPart(text[part])) ++part;
  return Value{at, part, spaced ? Form::kSpaced : Form::kPart};
}

// Skips a call around a literal, or its prefix, as in Some("…") or b"…": returns the place of its
// quote; `at` if there is none.
std::size_t SkipWrapping(std::string_view text, std::size_t at) {
  constexpr std::size_t kMost = 40, kPrefix = 2;
  const auto in_call = [](char c) {
    return IsWord(c) || c == '.' || c == ':' || c == '@' || c == '$';
  };
  const std::string_view near = text.substr(0, std::min(text.size(), at + kMost));
  std::size_t next = RunEnd(near, at, in_call);
  if (At(near, next) == '(') {
    next = SkipBlanks(near, next + 1);
  } else if (next - at > kPrefix) {
    return at;
  }
  return QuoteLength(text, next) > 0 ? next : at;
}

std::optional<Value> ValueBehind(std::string_view text, const Name& name) {
  const auto separator = SeparatorBehind(text, name);
  if (!separator) return std::nullopt;
  std::size_t at = SkipBlanks(text, separator->end);
  at = SkipWrapping(text, at);
  if (QuoteLength(text, at) > 0) return QuotedValue(text, at);
  if (separator->needs_quotes) return std::nullopt;
  return BareValue(text, at, separator->spaced);
}

bool HoldsPair(std::string_view value, char open, char close) {
  const std::size_t at = value.find(open);
  return at != std::string_view::npos && value.find(close, at + 1) != std::string_view::npos;
}

// Detects a pattern, a template, a URL, an escape or cut text, which have a special syntax.
bool IsStructured(std::string_view value) {
  constexpr std::string_view kMarks[] = {"${", "#{", "{{",  "$(",  "%(",  "<%", "{%",
                                         "\\", "::", "://", "...", "../", "->"};
  for (const std::string_view mark : kMarks) {
    if (value.find(mark) != std::string_view::npos) return true;
  }
  if (HoldsPair(value, '(', ')') || HoldsPair(value, '[', ']') || HoldsPair(value, '{', '}') ||
      HoldsPair(value, '<', '>')) {
    return true;
  }
  const char first = value.front();
  const auto in_capitals = [](char c) { return IsUpperOrDigit(c) || c == '_'; };
  if (first == '@' && std::ranges::all_of(value.substr(1), in_capitals)) return true;  // @TOKEN
  if (first == '%') return !IsHexDigit(At(value, 1)) || !IsHexDigit(At(value, 2));
  return first == '$' || first == '<' || first == '{' || first == '[' || first == '(';
}

// Base64 of random bytes may contain '/' anywhere, but also letters of both cases and digits.
bool IsPath(std::string_view value, int bits) {
  constexpr int kCertain = 40;
  constexpr std::uint8_t kAll = CharacterSet::kLower | CharacterSet::kUpper | CharacterSet::kDigit;
  const bool drawn = bits >= kCertain && CharactersOf(value).has(kAll);
  return value.front() == '/' && value.find('/', 1) != std::string_view::npos && !drawn;
}

// 1.3.6.1, -0x3f87, 2026-01-02
bool IsNumber(std::string_view value) {
  if (value.starts_with('-') || value.starts_with('+')) value.remove_prefix(1);
  if (value.starts_with("0x") || value.starts_with("0X")) {
    return std::ranges::all_of(value.substr(2), [](char c) { return IsHexDigit(c) || c == '_'; });
  }
  return std::ranges::none_of(value, IsLetter);
}

bool IsAscii(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c > ' ' && c <= '~'; });
}

// Detects base64 of non-secrets: of text, which is as random as the text itself ("user:password":
// as the password), and of a public key or certificate, which begins as ASN.1.
bool IsEncoded(std::string_view value, Weight weight) {
  constexpr std::size_t kShortest = 9;  // bytes: one in 7,000 random values would be text
  const std::string bytes = FromBase64(value);
  if (bytes.size() < kShortest) return false;
  if (weight == Weight::kWeak && bytes[0] == '0') {
    const auto length = static_cast<unsigned char>(bytes[1]);
    return length == bytes.size() - 2 || length == 0x81 || length == 0x82;
  }
  if (!IsAscii(bytes)) {
    return std::ranges::all_of(bytes, [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; });
  }
  const std::size_t colon = bytes.find(':');
  return !IsMadePassword(
      std::string_view(bytes).substr(colon == std::string::npos ? 0 : colon + 1));
}

// Returns true if at least a third of it is words, or it contains a longer word: "GoogleCloudV1",
// "service+8fK2…". Random letters of both cases contain no run that reads like a word.
bool HoldsWords(std::string_view value, int long_bits) {
  constexpr std::size_t kShortest = 4, kLong = 7;
  std::size_t read = 0;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = RunEnd(value, at + (IsUpper(value[at]) ? 1 : 0), IsLower);
    const int bits = BitsOfChance(value.substr(at, end - at));
    if (end - at >= kLong && bits < long_bits) return true;
    if (end - at >= kShortest && bits < 0) read += end - at;
    at = std::max(end, at + 1);
  }
  return read * 3 >= value.size();
}

// xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, or such a one behind a prefix and a dash
bool IsUuid(std::string_view value) {
  constexpr std::size_t kLength = 36;
  if (value.size() > kLength + 1 && value[value.size() - kLength - 1] == '-') {
    value.remove_prefix(value.size() - kLength);
  }
  if (value.size() != kLength) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? value[i] != '-' : !IsHexDigit(value[i])) return false;
  }
  return true;
}

// Returns true if it cannot be code: an unquoted call or operation is no secret.
bool IsBareSecret(std::string_view value, Form form, int bits) {
  constexpr int kCertain = 40;
  const bool operates = value.find_first_of("([{$*!") != std::string_view::npos;
  if (operates && (form != Form::kLine || bits < kCertain)) return false;
  return form != Form::kSpaced || std::ranges::all_of(value, IsBase64);
}

// Names have letters of one case, or of both but no digits: they need more evidence.
bool IsMixed(std::string_view value, int bits) {
  constexpr int kTwoCases = 20, kOneCase = 36;
  const CharacterSet set = CharactersOf(value);
  const bool lower = set.has(CharacterSet::kLower), upper = set.has(CharacterSet::kUpper);
  if (set.has(CharacterSet::kDigit) && (lower || upper)) return true;
  return bits >= (lower && upper ? kTwoCases : kOneCase);
}

// password1, token_2: the name of a field
bool IsNumberedName(std::string_view value) {
  const auto name = NameAt(value, 0);
  return name && name->end == value.size();
}

// Detects a password that a person invented: letters and digits in one, such as hunter2.
bool IsThoughtOf(std::string_view value) {
  constexpr std::size_t kShortest = 7, kLongest = 16;
  constexpr int kBits = -8;
  const CharacterSet set = CharactersOf(value);
  return value.size() >= kShortest && set.has(CharacterSet::kDigit) && !IsNumberedName(value) &&
         (set.has(CharacterSet::kLower) || set.has(CharacterSet::kUpper)) &&
         value.size() <= kLongest && !set.has(CharacterSet::kOther) &&
         BitsOfChance(value) >= kBits && !IsPlaceholder(value);
}

// Returns the bits of a value with a telling name. A key may have a readable prefix or a number
// beside its random part, which has its own alphabet: sk_live_0a1b…
int BitsOfNamed(std::string_view value) {
  constexpr std::size_t kShortestPart = 16;
  int bits = BitsOfChance(value);
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = RunEnd(value, at, IsAlnum);
    if (end - at >= kShortestPart) bits = std::max(bits, BitsOfChance(value.substr(at, end - at)));
    at = std::max(end, at + 1);
  }
  return bits;
}

std::size_t CountDifferent(std::string_view value) {
  std::bitset<256> seen;
  for (const char c : value) seen.set(static_cast<unsigned char>(c));
  return seen.count();
}

// Detects a generated value of all printable characters, including brackets, as salts are: of 64
// drawn from 94, about 46 are different. Code has words, and repeats few signs.
bool IsDrawnOfAll(std::string_view value, int bits) {
  constexpr int kBits = 40;
  constexpr std::size_t kDifferent = 36;
  return bits >= kBits && CountDifferent(value) >= kDifferent && !HoldsWords(value, 0);
}

// Decides how random and how long a value must be, by its form and its name.
bool IsSecret(std::string_view value, Form form, Weight weight) {
  struct Demand {
    std::size_t shortest;
    int bits;
  };
  constexpr Demand kStrong[] = {{8, 8}, {8, 8}, {12, 20}, {16, 28}};
  constexpr Demand kWeak[] = {{16, 40}, {16, 40}};
  const auto index = static_cast<std::size_t>(form);
  if (weight == Weight::kWeak && index >= std::size(kWeak)) return false;
  const Demand demand = weight == Weight::kStrong ? kStrong[index] : kWeak[index];
  if (value.size() < demand.shortest || value.size() > kLongestValue || !IsAscii(value))
    return false;
  const int bits = weight == Weight::kStrong ? BitsOfNamed(value) : BitsOfChance(value);
  const bool uuid = IsUuid(value) && weight == Weight::kStrong && form != Form::kSpaced;
  // Both cases and digits together are unusual for a name: less evidence is needed.
  constexpr std::uint8_t kAll = CharacterSet::kLower | CharacterSet::kUpper | CharacterSet::kDigit;
  constexpr std::size_t kLong = 12;
  constexpr int kAllBits = -2, kAllPartBits = 4;
  const bool all = value.size() >= kLong && CharactersOf(value).has(kAll);
  const bool eased = all && weight == Weight::kStrong && form != Form::kSpaced;
  const int least = !eased ? demand.bits : form == Form::kPart ? kAllPartBits : kAllBits;
  if (bits < least && !uuid) return false;
  const bool salt = weight == Weight::kStrong && IsDrawnOfAll(value, bits);
  if (!salt && IsStructured(value)) return false;
  if (IsPath(value, bits) || IsNumber(value) || IsPlaceholder(value)) return false;
  if (uuid) return true;
  if (!IsMixed(value, bits) || (form != Form::kQuoted && !IsBareSecret(value, form, bits)))
    return false;
  if (IsEncoded(value, weight)) return false;
  const CharacterSet set = CharactersOf(value);
  // A checksum looks like this.
  if (set.is_hex() && (weight == Weight::kWeak || form == Form::kSpaced)) return false;
  if (weight == Weight::kStrong) return true;
  // Parts of a path are no random base64, which has both cases.
  const bool path = value.find('/') != std::string_view::npos &&
                    !set.has(CharacterSet::kLower | CharacterSet::kUpper);
  return !path && !HoldsWords(value, 0);
}

bool IsSecretOf(const Name& name, std::string_view value, Form form) {
  const bool password = name.kind == "password" && name.weight == Weight::kStrong;
  return (password && form == Form::kQuoted && IsThoughtOf(value)) ||
         IsSecret(value, form, name.weight);
}

// The value of an integrity attribute is public.
bool IsChecksum(std::string_view value) {
  return value.starts_with("sha256-") || value.starts_with("sha384-") ||
         value.starts_with("sha512-");
}

constexpr std::size_t kLongestLone = 100;

// Without a name, only the characters of tokens count: padding, '+' and '/' belong to encoded data.
bool IsLoneSecret(std::string_view value) {
  constexpr int kBits = 28, kWithoutDigits = 60;
  constexpr int kLongWordBits = -4;  // there are many such values, some word-like by chance
  constexpr std::ptrdiff_t kOfEachCase = 3;
  constexpr std::size_t kDifferent = 12;  // 24 drawn from 62 have about 20
  if (std::ranges::count_if(value, IsLower) < kOfEachCase ||
      std::ranges::count_if(value, IsUpper) < kOfEachCase) {
    return false;
  }
  const bool digits = CharactersOf(value).has(CharacterSet::kDigit);
  return BitsOfChance(value) >= (digits ? kBits : kWithoutDigits) && !IsChecksum(value) &&
         !IsPlaceholder(value) && CountDifferent(value) >= kDifferent &&
         !HoldsWords(value, kLongWordBits) && !IsEncoded(value, Weight::kWeak);
}

// Returns true if the literal with quotes at `begin - 1` and `end` continues in the next one.
bool IsPieceOfText(std::string_view text, std::size_t begin, std::size_t end) {
  const auto in_space = [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
  };
  const std::string_view near = text.substr(0, std::min(text.size(), end + 64));
  std::size_t behind = RunEnd(near, end + 1, in_space);
  if (IsLetter(At(near, behind)) && IsQuote(At(near, behind + 1))) ++behind;  // b"…" b"…"
  const char next = At(near, behind);
  const std::size_t before = RunStart(text, RunStart(text, begin - 1, 2, IsLetter), 64, in_space);
  const char previous = before > 0 ? text[before - 1] : '\0';
  return next == '+' || IsQuote(next) || previous == '+' || IsQuote(previous);
}

// Detects Mailchimp's and Twilio's keys: checksums except for two letters.
std::string_view KindOfMarkedHex(std::string_view run) {
  const bool twilio = run.size() == 34 && run.starts_with("SK");
  if (twilio) run.remove_prefix(2);
  const bool mailchimp = run.size() > 35 && run.substr(32, 3) == "-us";
  if (mailchimp ? !std::ranges::all_of(run.substr(35), IsDigit) : !twilio) return {};
  const std::string_view digits = run.substr(0, 32);
  if (!std::ranges::all_of(digits, IsHex) || IsPlaceholder(digits)) return {};
  return mailchimp ? "mailchimp_key" : "twilio_key";
}

// Returns the end of a Discord key: the base64 of a number, six characters, and at least 27.
std::size_t DiscordEnd(std::string_view text, std::size_t begin, std::size_t end) {
  if (end - begin > 28 || text[begin] < 'M' || text[begin] > 'O') return 0;
  if (At(text, end) != '.' || !std::ranges::all_of(text.substr(begin, end - begin), IsAlnum)) {
    return 0;
  }
  const std::size_t middle = RunEnd(text, end + 1, IsUrlSafe);
  if (middle - end - 1 != 6 || At(text, middle) != '.') return 0;
  const std::size_t last = RunEnd(text, middle + 1, IsUrlSafe);
  const std::size_t length = last - middle - 1;
  return length >= 27 && length <= 40 && !IsPlaceholder(text.substr(middle, length)) ? last : 0;
}

// Returns true if [begin, end) is all that a line assigns: NAME=value, name: value.
bool IsAssignedLine(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t separator = begin;
  while (separator > 0 && IsBlank(text[separator - 1])) --separator;
  if (separator < 2) return false;
  const char c = text[separator - 1];
  if ((c != '=' && (c != ':' || separator == begin)) || !IsUrlSafeOrDot(text[separator - 2])) {
    if (c != '=' || !IsBlank(text[separator - 2])) return false;
  }
  const std::size_t behind = SkipBlanks(text, end);
  const char stop = At(text, behind);
  return behind >= text.size() || stop == '\n' || stop == '\r' || stop == '#';
}

// Judges the run [begin, end) of text without a telling name.
Match LoneMatch(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view run = text.substr(begin, end - begin);
  if (const auto kind = KindOfMarkedHex(run); !kind.empty()) return {begin, run.size(), kind};
  if (const std::size_t last = DiscordEnd(text, begin, end)) {
    return {begin, last - begin, "discord_token"};
  }
  if (end - begin > kLongestLone || begin == 0) return {};
  const char quote = text[begin - 1];
  const bool escaped = begin > 1 && text[begin - 2] == '\\';
  const bool quoted =
      IsQuote(quote) &&
      (escaped ? At(text, end) == '\\' && At(text, end + 1) == quote : At(text, end) == quote);
  if (quoted ? IsPieceOfText(text, begin, end) : !IsAssignedLine(text, begin, end)) return {};
  if (!IsLoneSecret(text.substr(begin, end - begin))) return {};
  return {begin, end - begin, "high_entropy"};
}

}  // namespace

Match FindNamedValue(std::string_view text, std::size_t at) {
  const auto name = NameAt(text, at);
  if (!name) return {};
  const auto value = ValueBehind(text, *name);
  if (!value || value->end <= value->begin) return {};
  const std::string_view found = text.substr(value->begin, value->end - value->begin);
  if (value->form != Form::kQuoted) {
    const char behind = At(text, SkipBlanks(text, value->end));
    if (behind == '(' || behind == '[' || behind == '{') return {};
  }
  const Match token = FindToken(text, value->begin);
  if (token.length == found.size()) return token;
  if (!IsSecretOf(*name, found, value->form)) return {};
  return {value->begin, found.size(), name->kind};
}

std::string_view KindOfNamed(std::string_view name, std::string_view value) {
  constexpr std::size_t kLongestName = 256;
  if (name.size() > kLongestName || value.empty()) return {};
  if (std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) <= ' '; })) {
    return {};
  }
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto found = NameAt(name, at);
    if (!found || found->end != name.size()) continue;
    // In data the field's name tells what the value is; in a text the name may be part of code.
    const bool password = found->kind == "password" && found->weight == Weight::kStrong;
    const bool secret = password ? !IsPlaceholder(value) : IsSecretOf(*found, value, Form::kQuoted);
    return secret ? found->kind : std::string_view();
  }
  return {};
}

void LoneValues::LookAt(std::size_t place) {
  if (place < done_ || !IsUrlSafe(text_[place])) return;
  const std::size_t begin = RunStart(text_, place, place - done_, IsUrlSafe);
  const std::size_t end = RunEnd(text_, place, IsUrlSafe);
  done_ = end;
  if (end - begin < kShortest) return;
  if (const Match match = LoneMatch(text_, begin, end); match.length > 0) found_.push_back(match);
}

}  // namespace dossier::secrets
