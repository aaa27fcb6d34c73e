#include "base/text/chance.h"

#include <algorithm>
#include <bitset>

namespace dossier {
namespace {

// What a step costs in quarters of a bit, by scripts/letter_pairs.py.
constexpr int kQuarters = 4;

// A letter behind another one of its word, or first in a word; '@' + cost.
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

// A character of a class (column) behind one of another (row): the start of a value, a lower case
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

// What a character drawn at random costs, by the alphabet that `set` needs.
int CostOfChance(CharacterSet set) {
  const bool lower = set.has(CharacterSet::kLower), upper = set.has(CharacterSet::kUpper);
  const bool digit = set.has(CharacterSet::kDigit);
  const int other = set.has(CharacterSet::kOther) ? 1 : 0;
  if (set.is_hex()) return lower || upper ? 16 : 13;
  if (lower && upper) return (digit ? 24 : 23) + other;
  if (lower || upper) return (digit ? 21 : 19) + other;
  return 13 + 4 * other;
}

// Whether `value` is a piece of at most half its length again and again.
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
  constexpr std::size_t kFewest = 6;  // different characters; 8 drawn of 16 have fewer once in 40
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
