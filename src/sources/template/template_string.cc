#include "sources/template/template_string.h"

#include <charconv>
#include <optional>

#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

// The single letters behind a backslash, and what they mean.
constexpr std::string_view kLetters = "\n\\'\"abfnrtv";
constexpr std::string_view kMeanings{"\0\\'\"\a\b\f\n\r\t\v", 11};  // an escaped line end: nothing

std::size_t HexDigits(char letter) {
  switch (letter) {
    case 'x':
      return 2;
    case 'u':
      return 4;
    case 'U':
      return 8;
    default:
      return 0;
  }
}

// Exactly `digits` of base 16 at the start of `text`.
std::optional<std::uint32_t> ReadHex(std::string_view text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t number = 0;
  const char* end = text.data() + digits;
  const auto parsed = std::from_chars(text.data(), end, number, 16);
  return parsed.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<std::string> UnescapeString(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
      continue;
    }
    const char letter = text[at + 1];
    const std::size_t known = kLetters.find(letter);
    if (known != std::string_view::npos) {
      if (known > 0) out += kMeanings[known];
      at += 2;
    } else if (const std::size_t digits = HexDigits(letter); digits > 0) {
      const auto code_point = ReadHex(text.substr(at + 2), digits);
      if (!code_point || *code_point > 0x10FFFF ||
          (*code_point >= 0xD800 && *code_point <= 0xDFFF)) {
        return MakeError(ErrorCode::kConfig,
                         "a string holds an escape \\{} without {} hex digits "
                         "of a code point",
                         letter, digits);
      }
      utf8::Append(*code_point, &out);
      at += 2 + digits;
    } else if (letter >= '0' && letter <= '7') {
      std::uint32_t number = 0;
      const char* start = text.data() + at + 1;
      const char* limit = text.data() + std::min(text.size(), at + 4);
      at = static_cast<std::size_t>(std::from_chars(start, limit, number, 8).ptr - text.data());
      utf8::Append(number, &out);
    } else if (letter == 'N') {
      return MakeError(ErrorCode::kConfig, "a string holds \\N, which is not supported");
    } else {
      out += '\\';
      ++at;
    }
  }
  return out;
}

}  // namespace dossier::sources
