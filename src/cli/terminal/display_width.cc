#include "cli/terminal/display_width.h"

#include <utf8proc.h>

#include <algorithm>
#include <limits>

#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

constexpr char32_t kJoiner = 0x200D;

// The end of the longest start within `columns`, and its width.
struct Measured {
  std::size_t bytes = 0;
  int columns = 0;
};

Measured Measure(std::string_view text, int columns) {
  Measured measured;
  bool joined = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code_point = utf8::Next(text, &at);
    const int width =
        joined ? 0 : std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point)));
    if (width > columns - measured.columns) break;
    measured.columns += width;
    measured.bytes = at;
    joined = code_point == kJoiner;
  }
  return measured;
}

}  // namespace

int DisplayWidth(std::string_view text) {
  return Measure(text, std::numeric_limits<int>::max()).columns;
}

int StyledWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find('\x1b'), text.size());
    width += DisplayWidth(text.substr(0, escape));
    const std::size_t end = text.find('m', escape);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return width;
}

std::string_view DisplayPrefix(std::string_view text, int columns) {
  return text.substr(0, Measure(text, columns).bytes);
}

}  // namespace dossier::cli
