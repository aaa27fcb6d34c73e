#include "inspect/description/json_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text/utf8.h"

namespace dossier::inspect {
namespace {

std::optional<char32_t> HexUnit(std::string_view raw, std::size_t at) {
  const std::string_view digits = raw.substr(std::min(at, raw.size()), 4);
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) return std::nullopt;
  return static_cast<char32_t>(value);
}

// Appends the code point of `\uXXXX` at `*at` (after the u), with its second surrogate if any.
void AppendHexEscape(std::string_view raw, std::size_t* at, std::string* out) {
  const auto unit = HexUnit(raw, *at);
  if (!unit) {
    *at = raw.size();
    return;
  }
  *at += 4;
  char32_t code_point = *unit;
  if (code_point >= 0xD800 && code_point < 0xDC00 && raw.substr(*at, 2) == "\\u") {
    const auto low = HexUnit(raw, *at + 2);
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      code_point = 0x10000 + ((code_point - 0xD800) << 10) + (*low - 0xDC00);
      *at += 6;
    }
  }
  utf8::Append(code_point, out);
}

}  // namespace

std::string UnescapeJson(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const char c = raw[at++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at == raw.size()) break;
    const char escape = raw[at++];
    switch (escape) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        AppendHexEscape(raw, &at, &out);
        break;
      default:
        out += escape;
    }
  }
  return out;
}

std::string CompactJson(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    out += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && at + 1 < text.size()) out += text[++at];
  }
  return out;
}

std::string QuoteJson(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
             : c == '\r' ? "\\r"
                         : fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace dossier::inspect
