#include "inspect/text/encoding.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "base/text/utf8_kernels.h"
#include "inspect/text/legacy_encoding.h"

namespace dossier::inspect {
namespace {

struct Bom {
  EncodingKind kind;
  std::string_view bytes;
};

// In test order: the mark of UTF-32LE begins with that of UTF-16LE.
constexpr Bom kBoms[] = {
    {EncodingKind::kUtf32Le, std::string_view("\xFF\xFE\0\0", 4)},
    {EncodingKind::kUtf32Be, std::string_view("\0\0\xFE\xFF", 4)},
    {EncodingKind::kUtf16Le, "\xFF\xFE"},
    {EncodingKind::kUtf16Be, "\xFE\xFF"},
    {EncodingKind::kUtf8, "\xEF\xBB\xBF"},
};

// ASCII text in a wide encoding has NUL bytes at fixed places.
EncodingKind KindByNuls(std::string_view head) {
  head = head.substr(0, 4096);
  std::size_t nuls[4] = {};
  for (std::size_t i = 0; i < head.size(); ++i) nuls[i % 4] += head[i] == '\0' ? 1 : 0;
  const std::size_t quads = head.size() / 4;
  if (quads > 0) {
    const auto most = [&](std::size_t place) { return nuls[place] * 10 >= quads * 9; };
    if (most(1) && most(2) && most(3) && nuls[0] == 0) return EncodingKind::kUtf32Le;
    if (most(0) && most(1) && most(2) && nuls[3] == 0) return EncodingKind::kUtf32Be;
  }
  const std::size_t even = nuls[0] + nuls[2], odd = nuls[1] + nuls[3];
  const std::size_t pairs = head.size() / 2;
  if (pairs > 0 && even == 0 && odd * 10 >= pairs * 3) return EncodingKind::kUtf16Le;
  if (pairs > 0 && odd == 0 && even * 10 >= pairs * 3) return EncodingKind::kUtf16Be;
  return EncodingKind::kUtf8;
}

bool LooksBinary(std::string_view head) {
  constexpr char kRecordSeparator = '\x1E';  // starts a JSON text sequence
  const bool separated = head.starts_with(kRecordSeparator);
  std::size_t controls = 0;
  for (const char c : head) {
    if (c == '\0') return true;
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' &&
        c != '\x1B' && !(separated && c == kRecordSeparator)) {
      ++controls;
    }
  }
  return controls * 10 > head.size();
}

struct Wide {
  std::size_t unit_bytes;
  bool big_endian;

  std::uint32_t At(std::string_view bytes, std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < unit_bytes; ++i) {
      const std::size_t place = big_endian ? i : unit_bytes - 1 - i;
      value = value << 8 | static_cast<unsigned char>(bytes[at + place]);
    }
    return value;
  }
};

bool IsHighSurrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

struct WideUnit {
  std::size_t length = 0;  // bytes; 0: more bytes are needed
  char32_t code_point = 0xFFFD;
  bool valid = false;
};

WideUnit ReadWide(const Wide& wide, std::string_view bytes, std::size_t at, LastBytes last) {
  const std::size_t left = bytes.size() - at;
  if (left < wide.unit_bytes) return {last == LastBytes::kYes ? left : 0};
  const std::uint32_t unit = wide.At(bytes, at);
  if (wide.unit_bytes == 4) {
    const bool valid = unit <= 0x10FFFF && (unit < 0xD800 || unit > 0xDFFF);
    return {4, valid ? static_cast<char32_t>(unit) : U'\uFFFD', valid};
  }
  if (!IsHighSurrogate(unit)) {
    const bool valid = !IsLowSurrogate(unit);
    return {2, valid ? static_cast<char32_t>(unit) : U'\uFFFD', valid};
  }
  if (left < 4) return last == LastBytes::kYes ? WideUnit{2} : WideUnit{};
  const std::uint32_t low = wide.At(bytes, at + 2);
  if (!IsLowSurrogate(low)) return {2};
  return {4, static_cast<char32_t>(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), true};
}

Wide WideOf(EncodingKind kind) {
  const bool four = kind == EncodingKind::kUtf32Le || kind == EncodingKind::kUtf32Be;
  const bool big = kind == EncodingKind::kUtf16Be || kind == EncodingKind::kUtf32Be;
  return {four ? std::size_t{4} : std::size_t{2}, big};
}

// Reads one code point, or one invalid part, of any encoding.
WideUnit ReadUnit(EncodingKind kind, std::string_view bytes, std::size_t at, LastBytes last) {
  if (IsLegacy(kind)) {
    const LegacyUnit unit = LegacyTableOf(kind).Read(bytes, at, last);
    return {unit.length, unit.code_point, unit.valid};
  }
  switch (kind) {
    case EncodingKind::kUtf8: {
      const utf8::internal::CodeUnit unit = utf8::internal::UnitAt(bytes, at);
      const bool cut = !unit.valid && at + unit.length == bytes.size() &&
                       static_cast<unsigned char>(bytes[at]) >= 0xC2;
      if (cut && last == LastBytes::kNo) return {};
      std::size_t next = at;
      return {unit.length, utf8::Next(bytes, &next), unit.valid};
    }
    case EncodingKind::kUnknown8Bit:
    case EncodingKind::kBinary:
      return {1, static_cast<unsigned char>(bytes[at]), true};
    default:
      return ReadWide(WideOf(kind), bytes, at, last);
  }
}

}  // namespace

EncodingGuess GuessEncoding(std::string_view head) {
  head = head.substr(0, 65536);
  for (const Bom& bom : kBoms) {
    if (head.starts_with(bom.bytes)) return {bom.kind, bom.bytes.size()};
  }
  const EncodingKind kind = KindByNuls(head);
  if (kind != EncodingKind::kUtf8) return {kind, 0};
  return {LooksBinary(head) ? EncodingKind::kBinary : EncodingKind::kUtf8, 0};
}

std::size_t BomBytes(EncodingKind kind, std::string_view head) {
  for (const Bom& bom : kBoms) {
    if (bom.kind == kind && head.starts_with(bom.bytes)) return bom.bytes.size();
  }
  return 0;
}

DecodeStats Decode(EncodingKind kind, std::string_view bytes, LastBytes last, std::string* utf8) {
  DecodeStats stats;
  while (stats.consumed < bytes.size()) {
    const WideUnit unit = ReadUnit(kind, bytes, stats.consumed, last);
    if (unit.length == 0) break;
    if (!unit.valid && stats.invalid++ == 0) stats.first_invalid = stats.consumed;
    utf8::Append(unit.code_point, utf8);
    stats.consumed += unit.length;
  }
  return stats;
}

std::size_t StoredLength(EncodingKind kind, std::string_view bytes, std::size_t utf8_length) {
  std::size_t at = 0;
  std::string decoded;
  while (at < bytes.size()) {
    const WideUnit unit = ReadUnit(kind, bytes, at, LastBytes::kYes);
    decoded.clear();
    utf8::Append(unit.code_point, &decoded);
    if (decoded.size() > utf8_length) break;
    utf8_length -= decoded.size();
    at += unit.length;
  }
  return at;
}

}  // namespace dossier::inspect
