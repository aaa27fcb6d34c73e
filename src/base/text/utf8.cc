#include "base/text/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/utf8_kernels.h"

namespace dossier::utf8 {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Marks of direction, invisible characters, tags and line separators: with them a text reads
// otherwise than it is. The joiners of scripts and emoji (U+200C, U+200D) stay.
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
    const internal::Unit unit = internal::UnitAt(text, at);
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
    const internal::Unit unit = internal::UnitAt(text, at);
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
  const internal::Unit unit = internal::UnitAt(text, *offset);
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
