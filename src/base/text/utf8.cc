#include "base/text/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/utf8_kernels.h"

namespace dossier::utf8 {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Direction marks, invisible characters, tags and line separators: they make a text look different
// from what it is. The joiners of scripts and emoji (U+200C, U+200D) stay.
bool HidesText(char32_t code_point) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x061C, 0x061C}, {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F},  {0x2028, 0x202E},
      {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  return std::ranges::any_of(kRanges, [code_point](const auto& range) {
    return code_point >= range.first && code_point <= range.second;
  });
}

}  // namespace

Census Count(std::string_view text) {
  return internal::HasAvx2() ? internal::CountAvx2(text) : internal::CountScalar(text);
}

std::uint64_t CodePoints(std::string_view text) { return Count(text).code_points; }

bool IsValid(std::string_view text) { return Count(text).invalid == 0; }

std::size_t FirstInvalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const internal::CodeUnit unit = internal::UnitAt(text, at);
    if (!unit.valid) return at;
    at += unit.length;
  }
  return text.size();
}

std::string Sanitize(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const internal::CodeUnit unit = internal::UnitAt(text, at);
    if (unit.valid) {
      out.append(text, at, unit.length);
    } else {
      Append(kReplacement, &out);
    }
    at += unit.length;
  }
  return out;
}

std::string_view Prefix(std::string_view text, std::uint64_t code_points) {
  std::size_t at = 0;
  for (; code_points > 0 && at < text.size(); --code_points)
    at += internal::UnitAt(text, at).length;
  return text.substr(0, at);
}

std::string_view Suffix(std::string_view text, std::uint64_t code_points) {
  std::size_t start = text.size();
  for (; code_points > 0 && start > 0; --code_points) start = FloorBoundary(text, start - 1);
  return text.substr(start);
}

std::size_t FloorBoundary(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return text.size();
  if (!IsContinuation(text[offset])) return offset;
  // A unit has at most four bytes, so its start is at most three back.
  for (std::size_t back = 1; back <= 3 && back <= offset; ++back) {
    const std::size_t start = offset - back;
    if (IsContinuation(text[start])) continue;
    return internal::UnitAt(text, start).length > back ? start : offset;
  }
  return offset;
}

char32_t Next(std::string_view text, std::size_t* offset) {
  const internal::CodeUnit unit = internal::UnitAt(text, *offset);
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[*offset + i]));
  };
  char32_t code_point = kReplacement;
  if (unit.valid) {
    switch (unit.length) {
      case 1:
        code_point = byte(0);
        break;
      case 2:
        code_point = (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
        break;
      case 3:
        code_point = (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
        break;
      default:
        code_point = (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
                     (byte(3) & 0x3F);
    }
  }
  *offset += unit.length;
  return code_point;
}

void Append(char32_t code_point, std::string* out) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
    code_point = kReplacement;
  }
  const auto put = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

std::string CleanForTerminal(std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const char32_t code_point = Next(text, &at);
    if (code_point == '\n' || code_point == '\t') {
      out.push_back(static_cast<char>(code_point));
    } else if (code_point < 0x20) {
      out.push_back('^');
      out.push_back(static_cast<char>(code_point + 0x40));
    } else if ((code_point >= 0x7F && code_point < 0xA0) || HidesText(code_point)) {
      out += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(code_point));
    } else {
      Append(code_point, &out);
    }
  }
  return out;
}

}  // namespace dossier::utf8

namespace dossier::utf8::internal {
namespace {

// What may follow a lead byte: the range of the second byte is narrower for E0, ED, F0 and F4
// (Unicode 15, table 3-7), which excludes overlong forms, surrogates and values above U+10FFFF.
struct Lead {
  unsigned char length = 0;  // 0: no lead byte
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

constexpr Lead LeadOf(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

}  // namespace

CodeUnit UnitAt(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(at) < 0x80) return {1, true};
  const Lead lead = LeadOf(byte(at));
  if (lead.length == 0) return {1, false};
  std::size_t length = 1;
  for (; length < lead.length && at + length < text.size(); ++length) {
    const unsigned char min = length == 1 ? lead.second_min : 0x80;
    const unsigned char max = length == 1 ? lead.second_max : 0xBF;
    if (byte(at + length) < min || byte(at + length) > max) break;
  }
  return {length, length == lead.length};
}

bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("popcnt");
  return has;
}

Census CountScalar(std::string_view text) {
  Census census;
  census.bytes = text.size();
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++census.ascii_bytes;
      ++at;
      continue;
    }
    const CodeUnit unit = UnitAt(text, at);
    ++census.wide_code_points;
    if (!unit.valid) ++census.invalid;
    if (unit.valid && unit.length == 4) ++census.utf16_units;
    at += unit.length;
  }
  census.code_points = census.ascii_bytes + census.wide_code_points;
  census.utf16_units += census.code_points;
  return census;
}

}  // namespace dossier::utf8::internal
