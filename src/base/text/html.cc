#include "base/text/html.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier {

std::string HashSource(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(HexValue(hex[i]) << 4 | HexValue(hex[i + 1]));
  }
  return fmt::format("'sha256-{}'", Base64(bytes));
}

std::string EscapeHtml(std::string_view text) {
  const std::string valid = utf8::Sanitize(text);
  std::string html;
  html.reserve(valid.size());
  for (const char c : valid) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default: {
        const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
        html += control ? std::string("\xEF\xBF\xBD") : std::string(1, c);
      }
    }
  }
  return html;
}

std::string EscapeForScript(std::string_view json) {
  return ReplaceAll(ReplaceAll(ReplaceAll(json, "<", "\\u003c"), ">", "\\u003e"), "&", "\\u0026");
}

}  // namespace dossier
