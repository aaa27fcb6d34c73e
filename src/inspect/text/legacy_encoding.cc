#include "inspect/text/legacy_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace dossier::inspect {
namespace {

constexpr char32_t kInvalid = 0xFFFFFFFF, kLead = 0xFFFFFFFE;

// 0x80 to 0x9F of windows-1252; the rest is ISO-8859-1. The five bytes without a character stay
// control codes as in that encoding, so that nothing is lost.
constexpr char32_t kTypography[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

const char* IconvName(EncodingKind kind) {
  switch (kind) {
    case EncodingKind::kWindows1250:
      return "CP1250";
    case EncodingKind::kWindows1251:
      return "CP1251";
    case EncodingKind::kIso8859Part2:
      return "ISO-8859-2";
    case EncodingKind::kKoi8R:
      return "KOI8-R";
    case EncodingKind::kShiftJis:
      return "CP932";
    case EncodingKind::kEucJp:
      return "EUC-JP";
    case EncodingKind::kGbk:
      return "GBK";
    case EncodingKind::kBig5:
      return "CP950";
    case EncodingKind::kEucKr:
      return "CP949";
    default:
      return nullptr;
  }
}

// Converts one sequence of bytes with iconv.
class Converter {
 public:
  explicit Converter(const char* name) : handle_(iconv_open("UTF-32LE", name)) {}
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() {
    if (usable()) iconv_close(handle_);
  }
  bool usable() const { return handle_ != reinterpret_cast<iconv_t>(-1); }  // NOLINT

  // Returns the code point of all `bytes`; kLead if more must follow; kInvalid.
  char32_t Of(std::string_view bytes) const {
    char in[4] = {};
    std::copy(bytes.begin(), bytes.end(), in);
    std::uint32_t units[4] = {};
    char* from = in;
    char* to = reinterpret_cast<char*>(units);
    std::size_t in_left = bytes.size(), out_left = sizeof units;
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    const bool failed =
        iconv(handle_, &from, &in_left, &to, &out_left) == static_cast<std::size_t>(-1);
    if (failed) return errno == EINVAL && from == in ? kLead : kInvalid;
    // iconv may hold a unit back until it knows that no combining mark follows.
    iconv(handle_, nullptr, nullptr, &to, &out_left);
    return sizeof units - out_left == 4 ? units[0] : kInvalid;
  }

 private:
  iconv_t handle_;
};

constexpr std::size_t Index(unsigned char first, unsigned char second) {
  return static_cast<std::size_t>(first) << 8 | second;
}

template <EncodingKind kKind>
const LegacyTable& TableOf() {
  static const LegacyTable table(kKind);
  return table;
}

}  // namespace

LegacyTable::LegacyTable(EncodingKind kind) {
  if (const char* name = IconvName(kind)) {
    Load(name);
    return;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    ones_[byte] =
        byte >= 0x80 && byte < 0xA0 ? kTypography[byte - 0x80] : static_cast<char32_t>(byte);
  }
  usable_ = true;
}

void LegacyTable::Load(const char* name) {
  const Converter converter(name);
  usable_ = converter.usable();
  if (!usable_) return;
  for (std::size_t first = 0; first < 256; ++first) {
    char bytes[3] = {static_cast<char>(first)};
    ones_[first] = converter.Of({bytes, 1});
    if (first < 0x80 && ones_[first] != first) ones_[first] = static_cast<char32_t>(first);
    if (ones_[first] != kLead) continue;
    pairs_.resize(1u << 16, kInvalid);
    for (std::size_t second = 0x30; second < 256; ++second) {
      bytes[1] = static_cast<char>(second);
      char32_t& pair =
          pairs_[Index(static_cast<unsigned char>(first), static_cast<unsigned char>(second))];
      pair = converter.Of({bytes, 2});
      if (pair != kLead) continue;
      triples_.resize(1u << 16, kInvalid);
      for (std::size_t third = 0xA1; third < 256; ++third) {
        bytes[2] = static_cast<char>(third);
        triples_[Index(static_cast<unsigned char>(second), static_cast<unsigned char>(third))] =
            converter.Of({bytes, 3});
      }
    }
  }
  if (!pairs_.empty()) return;
  for (std::size_t byte = 0x80; byte < 256; ++byte) {  // as windows-1252 does
    if (ones_[byte] == kInvalid) ones_[byte] = static_cast<char32_t>(byte);
  }
}

LegacyUnit LegacyTable::Read(std::string_view bytes, std::size_t at, LastBytes last) const {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
  const std::size_t left = bytes.size() - at;
  const LegacyUnit cut{last == LastBytes::kYes ? left : 0};
  const char32_t one = ones_[byte(0)];
  if (one != kLead) return one == kInvalid ? LegacyUnit{1} : LegacyUnit{1, one, true};
  if (left < 2) return cut;
  const char32_t pair = pairs_[Index(byte(0), byte(1))];
  // A byte that cannot be a second byte begins its own unit: a line end after a stray byte is kept.
  if (pair == kInvalid) return {byte(1) < 0x80 ? std::size_t{1} : std::size_t{2}};
  if (pair != kLead) return {2, pair, true};
  if (left < 3) return cut;
  const char32_t triple = triples_[Index(byte(1), byte(2))];
  const bool known = triple != kInvalid && triple != kLead;
  return known ? LegacyUnit{3, triple, true} : LegacyUnit{2};
}

bool IsLegacy(EncodingKind kind) {
  return kind >= EncodingKind::kWindows1252 && kind < EncodingKind::kUnknown8Bit;
}

const LegacyTable& LegacyTableOf(EncodingKind kind) {
  switch (kind) {
    case EncodingKind::kWindows1250:
      return TableOf<EncodingKind::kWindows1250>();
    case EncodingKind::kWindows1251:
      return TableOf<EncodingKind::kWindows1251>();
    case EncodingKind::kIso8859Part2:
      return TableOf<EncodingKind::kIso8859Part2>();
    case EncodingKind::kKoi8R:
      return TableOf<EncodingKind::kKoi8R>();
    case EncodingKind::kShiftJis:
      return TableOf<EncodingKind::kShiftJis>();
    case EncodingKind::kEucJp:
      return TableOf<EncodingKind::kEucJp>();
    case EncodingKind::kGbk:
      return TableOf<EncodingKind::kGbk>();
    case EncodingKind::kBig5:
      return TableOf<EncodingKind::kBig5>();
    case EncodingKind::kEucKr:
      return TableOf<EncodingKind::kEucKr>();
    default:
      return TableOf<EncodingKind::kWindows1252>();
  }
}

namespace {

struct UnitCounts {
  std::size_t invalid = 0;
  std::size_t wide = 0;  // units of two or more bytes
  std::size_t half = 0;  // katakana of one byte
  std::size_t kana = 0, hangul = 0;
  std::size_t common = 0;  // units whose first byte is in the given range
};

UnitCounts CountUnits(EncodingKind kind, std::string_view bytes, unsigned char common_first,
                      unsigned char common_last, unsigned char common_trail) {
  UnitCounts counts;
  const LegacyTable& table = LegacyTableOf(kind);
  for (std::size_t at = 0; at < bytes.size();) {
    const LegacyUnit unit = table.Read(bytes, at, LastBytes::kNo);
    if (unit.length == 0) break;  // the text may be cut anywhere
    const auto first = static_cast<unsigned char>(bytes[at]);
    counts.invalid += unit.valid ? 0 : 1;
    counts.half += unit.code_point >= 0xFF61 && unit.code_point <= 0xFF9F ? 1 : 0;
    counts.kana += unit.code_point >= 0x3040 && unit.code_point <= 0x30FF ? 1 : 0;
    counts.hangul += unit.code_point >= 0xAC00 && unit.code_point <= 0xD7A3 ? 1 : 0;
    if (unit.length >= 2) {
      ++counts.wide;
      const auto second = static_cast<unsigned char>(bytes[at + 1]);
      counts.common += first >= common_first && first <= common_last && second >= common_trail;
    }
    at += unit.length;
  }
  return counts;
}

// Each language is recognised by what it needs: Japanese has kana, Korean is hangul, and the first
// rows of the Chinese sets contain the characters that make up nearly all of a text.
bool Reads(EncodingKind kind, std::string_view bytes) {
  constexpr std::size_t kFewest = 3;
  if (!LegacyTableOf(kind).usable()) return false;
  const bool big5 = kind == EncodingKind::kBig5;
  const UnitCounts counts =
      big5 ? CountUnits(kind, bytes, 0xA4, 0xC6, 0x40) : CountUnits(kind, bytes, 0xB0, 0xD7, 0xA1);
  if (counts.invalid > 0 || counts.wide < kFewest) return false;
  switch (kind) {
    case EncodingKind::kShiftJis:
    case EncodingKind::kEucJp:
      return counts.kana * 10 >= counts.wide && counts.half * 2 <= counts.wide;
    case EncodingKind::kEucKr:
      return counts.hangul * 10 >= counts.wide * 7;
    default:
      return counts.common * 10 >= counts.wide * 7;
  }
}

// Returns true if western letters are among ASCII ones.
bool ReadsWestern(std::string_view bytes) {
  std::size_t letters = 0, high = 0, undefined = 0, marks = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    letters += (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z' && byte < 0x80 ? 1 : 0;
    if (byte < 0x80) continue;
    ++high;
    undefined += byte < 0xA0 && kTypography[byte - 0x80] == byte ? 1 : 0;
    marks += byte >= 0xA0 && byte < 0xC0 ? 1 : 0;
  }
  return high >= 3 && undefined == 0 && marks * 2 <= high && high * 10 <= (letters + high) * 3;
}

}  // namespace

std::optional<EncodingKind> GuessLegacy(std::string_view bytes) {
  for (const EncodingKind kind : {EncodingKind::kShiftJis, EncodingKind::kEucJp,
                                  EncodingKind::kEucKr, EncodingKind::kGbk, EncodingKind::kBig5}) {
    if (Reads(kind, bytes)) return kind;
  }
  if (ReadsWestern(bytes)) return EncodingKind::kWindows1252;
  return std::nullopt;
}

}  // namespace dossier::inspect
