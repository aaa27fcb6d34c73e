#include "base/text/secret_detection.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <string>

namespace dossier::secrets {
namespace {

// A prefix is strong evidence; the rest only must not be a name. A tail of known length, or one
// after a long prefix, needs even less: random capitals and digits may look like a number.
constexpr int kTailBits = 0, kFixedTailBits = -16;
constexpr std::size_t kCertainPrefix = 5;  // bytes

static_assert(std::ranges::is_sorted(kTokenShapes, {},
                                     [](const TokenShape& shape) { return shape.prefix[0]; }));

// The range of kTokenShapes whose prefix begins with a certain byte.
struct Range {
  std::uint8_t begin = 0, end = 0;
};

constexpr std::array<Range, 128> MakeRanges() {
  std::array<Range, 128> ranges{};
  for (std::size_t i = 0; i < std::size(kTokenShapes); ++i) {
    Range& range = ranges[static_cast<std::size_t>(kTokenShapes[i].prefix[0])];
    if (range.end == 0) range.begin = static_cast<std::uint8_t>(i);
    range.end = static_cast<std::uint8_t>(i + 1);
  }
  return ranges;
}
constexpr std::array<Range, 128> kRanges = MakeRanges();

bool LooksDrawn(std::string_view value, int bits) {
  return !IsPlaceholder(value) && BitsOfChance(value) >= bits;
}

// Keys of several parts contain numbers and signs: one random part suffices.
bool TailLooksDrawn(std::string_view tail, int bits) {
  constexpr std::size_t kShortestPart = 16;
  if (IsPlaceholder(tail)) return false;
  if (BitsOfChance(tail) >= bits) return true;
  for (std::size_t at = 0; at < tail.size();) {
    const std::size_t end = RunEnd(tail, at, IsAlnum);
    if (end - at >= kShortestPart && LooksDrawn(tail.substr(at, end - at), bits)) return true;
    at = std::max(end, at + 1);
  }
  return false;
}

// Finds Braintree's keys: access_token$production$ID$SECRET.
Match FindBraintree(std::string_view text, std::size_t at) {
  constexpr std::string_view kBeginnings[] = {"access_token$production$", "access_token$sandbox$"};
  for (const std::string_view beginning : kBeginnings) {
    if (!text.substr(at).starts_with(beginning)) continue;
    const std::size_t id = RunEnd(text, at + beginning.size(), IsAlnum);
    if (At(text, id) != '$') return {};
    const std::size_t end = RunEnd(text, id + 1, IsHex);
    if (end - id - 1 == 32) return {at, end - at, "braintree_token"};
  }
  return {};
}

bool IsBase64Url(std::string_view text, std::size_t* at, std::size_t shortest) {
  const std::size_t end = RunEnd(text, *at, IsUrlSafe);
  const bool fits = end - *at >= shortest;
  *at = end;
  return fits;
}

// Returns true for bytes of the body of a PEM private key: lines of base64, plain or as parts of a
// string in a program, and the headers of an encrypted key.
bool IsPemBody(char c) {
  return IsToken68(c) || c == '\n' || c == '\r' || c == ' ' || c == '\t' || c == '\\' || c == ':' ||
         c == ',' || c == '"' || c == '\'' || c == '>' || c == '#' || c == '*';
}

}  // namespace

Match FindToken(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first >= kRanges.size()) return {};
  for (std::size_t i = kRanges[first].begin; i < kRanges[first].end; ++i) {
    const TokenShape& shape = kTokenShapes[i];
    if (!text.substr(at).starts_with(shape.prefix)) continue;
    // Letters alone may begin so inside base64.
    const char before = at > 0 ? text[at - 1] : ' ';
    if ((before == '/' || before == '+') && std::ranges::all_of(shape.prefix, IsAlnum)) continue;
    const std::size_t tail = at + shape.prefix.size();
    std::size_t end = RunEnd(text.substr(0, tail + shape.max_tail + 1), tail, shape.in_tail);
    // A full stop after it ends a sentence.
    while (end > tail && text[end - 1] == '.') --end;
    if (end - tail < shape.min_tail || end - tail > shape.max_tail || IsWord(At(text, end)))
      continue;
    const bool certain = shape.min_tail == shape.max_tail || shape.prefix.size() >= kCertainPrefix;
    const int bits = certain ? kFixedTailBits : kTailBits;
    if (TailLooksDrawn(text.substr(tail, end - tail), bits)) return {at, end - at, shape.kind};
  }
  return FindBraintree(text, at);
}

Match FindJwt(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestJwt = 8 << 10;
  if (!text.substr(at).starts_with("eyJ")) return {};
  // header.payload.signature; the shortest header is {"alg":"HS256"}, the shortest signature has
  // 256 bits.
  text = text.substr(0, at + kLongestJwt);
  std::size_t end = at;
  if (!IsBase64Url(text, &end, 16) || At(text, end++) != '.') return {};
  if (!IsBase64Url(text, &end, 4) || At(text, end++) != '.') return {};
  if (!IsBase64Url(text, &end, 40) || end == at + kLongestJwt) return {};
  return {at, end - at, "jwt"};
}

Match FindAuthorization(std::string_view text, std::size_t at) {
  constexpr std::string_view kBearer = "bearer ", kBasic = "basic ";
  constexpr std::size_t kShortest = 16, kLongest = 8 << 10;
  constexpr int kBits = 20;
  const bool bearer = StartsWithNoCase(text, at, kBearer);
  if (!bearer && !StartsWithNoCase(text, at, kBasic)) return {};
  const std::size_t start = at + (bearer ? kBearer.size() : kBasic.size());
  std::size_t end = RunEnd(text.substr(0, start + kLongest), start, IsToken68);
  while (end > start && text[end - 1] == '.') --end;
  const std::string_view value = text.substr(start, end - start);
  if (bearer) {
    if (value.size() < kShortest || !LooksDrawn(value, kBits)) return {};
    return {start, value.size(), "bearer"};
  }
  const std::string user = FromBase64(value);
  const std::size_t colon = user.find(':');
  if (colon == std::string::npos || !IsMadePassword(std::string_view(user).substr(colon + 1))) {
    return {};
  }
  // A word in a sentence may happen to be base64 of bytes with a colon.
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (colon == 0 || !std::ranges::all_of(user.substr(0, colon), printable)) return {};
  return {start, value.size(), "basic"};
}

Match FindWebhook(std::string_view text, std::size_t at) {
  constexpr std::string_view kDiscord = "webhooks/", kSlack = "hooks.slack.com/";
  constexpr int kBits = 12;
  std::size_t start = 0, shortest = 0;
  std::string_view kind;
  if (text.substr(at).starts_with(kDiscord)) {
    const std::size_t id = at + kDiscord.size();
    start = RunEnd(text, id, IsDigit);
    if (start - id < 15) return {};
    shortest = 60, kind = "discord_webhook";
  } else if (text.substr(at).starts_with(kSlack)) {
    // /services/TEAM/BOT/SECRET, /workflows/TEAM/FLOW/NUMBER/SECRET
    start = RunEnd(text.substr(0, at + 200), at,
                   [](char c) { return IsAlnum(c) || c == '/' || c == '.'; });
    start = text.substr(0, start).rfind('/');
    shortest = 20, kind = "slack_webhook";
  } else {
    return {};
  }
  if (At(text, start) != '/') return {};
  const std::size_t end = RunEnd(text, ++start, IsUrlSafe);
  if (end - start < shortest || !LooksDrawn(text.substr(start, end - start), kBits)) return {};
  return {start, end - start, kind};
}

Match FindPrivateKey(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
  constexpr std::size_t kLongest = 32 << 10, kLongestLabel = 48;
  constexpr std::ptrdiff_t kShortest = 40;  // characters of base64: 30 bytes; every key is longer
  if (!text.substr(at).starts_with(kBegin)) return {};
  const std::string_view label = text.substr(at + kBegin.size(), kLongestLabel);
  const std::size_t close = label.find(kDashes);
  if (close == std::string_view::npos) return {};
  const std::string_view name = label.substr(0, close);
  if (!name.ends_with("PRIVATE KEY") && name != "PGP PRIVATE KEY BLOCK") return {};
  const std::size_t body = at + kBegin.size() + close + kDashes.size();
  const std::size_t most = std::min(text.size(), body + kLongest);
  std::size_t end = body;
  while (end < most && IsPemBody(text[end]) && !text.substr(end).starts_with(kDashes)) ++end;
  // The name of the format in a program is not followed by a key.
  const std::string_view inside = text.substr(body, end - body);
  if (std::ranges::count_if(inside, IsAlnum) < kShortest || BitsOfChance(inside) < kShortest) {
    return {};
  }
  if (text.substr(end).starts_with(kEnd)) {
    const std::size_t last =
        text.substr(end + kEnd.size(), kLongestLabel + kDashes.size()).find(kDashes);
    if (last != std::string_view::npos) end += kEnd.size() + last + kDashes.size();
  } else {
    // Without an end mark it extends as far as base64 does.
    while (!IsBase64(text[end - 1])) --end;
  }
  return {at, end - at, "private_key"};
}

Match FindEncodedKey(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "LS0tLS1CRUdJTi";  // "-----BEGIN "
  constexpr std::size_t kFirstLine = 64, kShortest = 100, kLongest = 32 << 10;
  if (!text.substr(at).starts_with(kBegin)) return {};
  const std::size_t end = RunEnd(text.substr(0, at + kLongest), at, IsBase64);
  if (end - at < kShortest) return {};
  const std::string head = FromBase64(text.substr(at, kFirstLine));
  if (head.find("PRIVATE KEY") == std::string::npos) return {};
  return {at, end - at, "private_key"};
}

Match FindUserOption(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 128;
  std::size_t user = at + 2;  // -u ann:…
  if (text.substr(at).starts_with("-user")) user = at + 5;
  if (user == at + 2 && !text.substr(at).starts_with("-u ")) return {};
  if (At(text, user) != ' ' && At(text, user) != '=') return {};
  if (IsQuote(At(text, ++user))) ++user;
  const std::size_t colon = RunEnd(text.substr(0, user + kLongest), user,
                                   [](char c) { return IsUrlSafeOrDot(c) || c == '@'; });
  const std::size_t end = RunEnd(text.substr(0, colon + kLongest), colon + 1,
                                 [](char c) { return c > ' ' && c < 0x7F && !IsQuote(c); });
  if (colon == user || At(text, colon) != ':' || end <= colon + 1) return {};
  if (!IsMadePassword(text.substr(colon + 1, end - colon - 1))) return {};
  return {colon + 1, end - colon - 1, "password"};
}

Match FindUrlPassword(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 256;
  constexpr int kTokenBits = 30;
  if (!text.substr(at).starts_with("://")) return {};
  const auto in_user_info = [](char c) {
    return c > ' ' && c < 0x7F && c != '/' && c != '@' && !IsQuote(c) && c != '<' && c != '[';
  };
  const std::size_t user = at + 3;
  std::size_t colon = std::string_view::npos, end = user;
  for (; end < text.size() && end - user < kLongest && in_user_info(text[end]); ++end) {
    if (text[end] == ':' && colon == std::string_view::npos) colon = end;
  }
  if (At(text, end) != '@' || end == user) return {};
  if (colon == std::string_view::npos) {
    const std::string_view value = text.substr(user, end - user);
    if (value.size() < 20 || !std::ranges::all_of(value, IsUrlSafe)) return {};
    if (!LooksDrawn(value, kTokenBits)) return {};
    return {user, value.size(), "url_token"};
  }
  if (!IsMadePassword(text.substr(colon + 1, end - colon - 1))) return {};
  return {colon + 1, end - colon - 1, "url_password"};
}

Match FindMarkedToken(std::string_view text, std::size_t at) {
  struct Marked {
    std::string_view mark;
    std::size_t min_head, max_head;
    bool (*in_head)(char);
    std::size_t min_tail, max_tail;
    std::string_view kind;
  };
  constexpr Marked kMarked[] = {
      {":AA", 8, 10, IsDigit, 33, 33, "telegram_token"},
      {"8Q~", 3, 3, IsAlnum, 34, 34, "azure_secret"},
      {".atlasv1.", 14, 14, IsAlnum, 60, 70, "terraform_token"},
  };
  for (const Marked& marked : kMarked) {
    if (!text.substr(at).starts_with(marked.mark)) continue;
    const std::size_t start = RunStart(text, at, marked.max_head + 1, marked.in_head);
    const std::size_t tail = at + marked.mark.size();
    const std::size_t end = RunEnd(text.substr(0, tail + marked.max_tail + 1), tail,
                                   [](char c) { return IsUrlSafeOrDot(c) || c == '~'; });
    if (at - start < marked.min_head || at - start > marked.max_head) continue;
    if (end - tail < marked.min_tail || end - tail > marked.max_tail) continue;
    if (LooksDrawn(text.substr(tail, end - tail), kTailBits))
      return {start, end - start, marked.kind};
  }
  return {};
}

std::string FromBase64(std::string_view value) {
  // A piece of a longer text may end inside a group.
  if (value.size() % 4 == 1) value.remove_suffix(1);
  std::string bytes;
  return AppendBase64(value, &bytes) ? bytes : std::string();
}

bool IsMadePassword(std::string_view value) {
  constexpr std::size_t kShortest = 6, kLong = 12;
  constexpr int kDrawnBits = 8, kThoughtOfBits = -8;
  if (value.find_first_of("${}<>[]*()\\ ") != std::string_view::npos) return false;
  std::string decoded;
  for (std::size_t at = 0; at < value.size(); ++at) {
    decoded += value[at];
    if (value[at] != '%') continue;
    const auto in_hex = [](char c) { return IsHexDigit(c); };
    if (!in_hex(At(value, at + 1)) || !in_hex(At(value, at + 2))) return false;  // a format
    decoded.back() = '%';
    at += 2;
  }
  if (decoded.size() < kShortest || IsPlaceholder(decoded)) return false;
  // People combine letters and digits: hunter2.
  const CharacterSet set = CharactersOf(decoded);
  const bool mixed = set.has(CharacterSet::kDigit) &&
                     (set.has(CharacterSet::kLower) || set.has(CharacterSet::kUpper));
  const bool both = decoded.size() >= kLong && set.has(CharacterSet::kLower | CharacterSet::kUpper);
  return BitsOfChance(decoded) >= (mixed || both ? kThoughtOfBits : kDrawnBits);
}

}  // namespace dossier::secrets

namespace dossier {
namespace {

// The cost of a step in quarters of a bit, from scripts/letter_pairs.py.
constexpr int kQuarters = 4;

// A letter after another one of its word, or first in a word; '@' + cost.
constexpr std::size_t kWordStart = 26;
constexpr std::string_view kLetterCosts[] = {
    "XROPYXTbVgYMQNkPkLPKW[_\\Zf",    // a
    "KRPRLR`fPUdL\\^P\\pST\\MgklTa",  // b
    "LVSUMVhMUfPRZdI[hRWNUedk\\u",    // c
    "MTUQFT_^J`eTa_P`gVT[TcehZs",     // d
    "RYQOUTYc_mePTMVVXJMPbY\\OYj",    // e
    "KQRSML`cIlfSb_MbnSXUTjjnZr",     // f
    "S^[^GaUQPmmTRQS\\tIPWSbch_\\",   // g
    "Hed^HgedMkbWW_L[sUYNVcedYh",     // h
    "UTPPUVSndp`OTHNTgSONjWoYkW",     // i
    "Ia\\VJZNcP]U_^_MXcaL\\OeVici",   // j
    "N^WZD`RWM__W`XV]oXPYUbUo]o",     // k
    "N]`THO^kJkbOabN\\n_RST\\hlTj",   // l
    "HS`YGdbkOm_SS]NMecT_UeniZn",     // m
    "N`QMMULaRaY[^YP\\ibMJUVfj^i",    // n
    "WWSPb[QeYbVQPIUQjKSSQXU]fe",     // o
    "Je\\[KbcOSlZN]dOQnLXOUbehQr",    // p
    "Y^Y_b_ee]iiNZ^_aYXS^BZViei",     // q
    "L^UWH^VhMqZUTVM\\jSMQV]dsUu",    // r
    "TbQ`H`aRMk\\W[`QR^^OIR`]hWr",    // s
    "MbW]IZeOKobYZbOYqMQUUf_`Qi",     // t
    "PRVXOTWgPkcNPL[PpLOLdim^jp",     // u
    "H^ZdDd_eMpp`Z_TXp^Padjelbp",     // v
    "KZaWMdbNIe[X`PMcnNR\\efTenn",    // w
    "X\\PYH^f`Qpp]Tc\\LceTF_ghWWe",   // x
    "Q[X^S_NhTggNRRVGkYMN`_Uh_]",     // y
    "M`_bDXdXIhhTXbV[hZ[\\_h[hY]",    // z
    "OOMNNMXYS^]TUVWRcTOSPXZYeb",     //
};

// A character of a class (column) after one of another (row): the start of a value, a lower case
// letter, an upper case letter, a digit, anything else.
enum Class : std::uint8_t { kStart, kLower, kUpper, kDigit, kOther };
constexpr std::uint8_t kClassCosts[5][5] = {
    {66, 6, 9, 5, 66},    // start
    {74, 1, 24, 21, 15},  // lower
    {66, 11, 3, 8, 19},   // upper
    {69, 18, 9, 2, 23},   // digit
    {60, 2, 11, 12, 60},  // other
};
constexpr int kDigitCost = 13;  // one of ten
constexpr int kOtherCost = 8;   // most are one of four

Class ClassOf(char c) {
  if (c >= 'a' && c <= 'z') return kLower;
  if (c >= 'A' && c <= 'Z') return kUpper;
  if (c >= '0' && c <= '9') return kDigit;
  return kOther;
}

// The cost of a random character, by the alphabet that `set` needs.
int CostOfChance(CharacterSet set) {
  const bool lower = set.has(CharacterSet::kLower), upper = set.has(CharacterSet::kUpper);
  const bool digit = set.has(CharacterSet::kDigit);
  const int other = set.has(CharacterSet::kOther) ? 1 : 0;
  if (set.is_hex()) return lower || upper ? 16 : 13;
  if (lower && upper) return (digit ? 24 : 23) + other;
  if (lower || upper) return (digit ? 21 : 19) + other;
  return 13 + 4 * other;
}

// Returns true if `value` repeats a piece of at most half its length.
bool IsRepeated(std::string_view value) {
  for (std::size_t period = 1; period <= std::min<std::size_t>(value.size() / 2, 32); ++period) {
    if (value.substr(period) == value.substr(0, value.size() - period)) return true;
  }
  return false;
}

bool HoldsExample(std::string_view value) {
  constexpr std::string_view kExample = "example";
  return !std::ranges::search(value, kExample, [](char a, char b) {
            return (a | 0x20) == b;
          }).empty();
}

}  // namespace

CharacterSet CharactersOf(std::string_view value) {
  CharacterSet set;
  for (const char c : value) {
    const Class kind = ClassOf(c);
    set.bits |= static_cast<std::uint8_t>(1 << (kind - kLower));
    if ((kind == kLower || kind == kUpper) && (c | 0x20) > 'f') set.bits |= CharacterSet::kPastHex;
  }
  return set;
}

int BitsOfChance(std::string_view value) {
  int written = 0;
  Class before = kStart;
  std::size_t letter = kWordStart;
  for (const char c : value) {
    const Class now = ClassOf(c);
    written += kClassCosts[before][now];
    if (now == kLower || now == kUpper) {
      const bool first =
          (before != kLower && before != kUpper) || (before == kLower && now == kUpper);
      const auto next = static_cast<std::size_t>((c | 0x20) - 'a');
      written += kLetterCosts[first ? kWordStart : letter][next] - '@';
      letter = next;
    } else {
      written += now == kDigit ? kDigitCost : kOtherCost;
    }
    before = now;
  }
  const int drawn = CostOfChance(CharactersOf(value)) * static_cast<int>(value.size());
  return (written - drawn) / kQuarters;
}

bool IsPlaceholder(std::string_view value) {
  constexpr std::size_t kFewest = 6;  // different characters; 8 drawn from 16 have fewer once in 40
  std::bitset<256> seen;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    seen.set(static_cast<unsigned char>(value[i]));
    const int step = i > 0 ? value[i] - value[i - 1] : 9;
    if (step >= -1 && step <= 1) ++rows;
  }
  return seen.count() < std::min(kFewest, value.size() / 2 + 1) || rows * 2 >= value.size() ||
         IsRepeated(value) || HoldsExample(value);
}

}  // namespace dossier
