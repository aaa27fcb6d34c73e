#include "inspect/text/record_lines.h"

#include <algorithm>
#include <cstring>

namespace dossier::inspect {
namespace {

// Both line ends are searched window by window: one search for LF over the whole text would make a
// file with CR ends quadratic.
constexpr std::size_t kWindow = 4096;

// Returns the offset of the first LF or CR from `start` on, or text.size().
std::size_t FindLineEnd(std::string_view text, std::size_t start) {
  while (start < text.size()) {
    const std::size_t length = std::min(kWindow, text.size() - start);
    const char* window = text.data() + start;
    const void* lf = std::memchr(window, '\n', length);
    const std::size_t before = lf ? static_cast<const char*>(lf) - window : length;
    const void* cr = std::memchr(window, '\r', before);
    if (cr) return static_cast<const char*>(cr) - text.data();
    if (lf) return start + before;
    start += length;
  }
  return text.size();
}

}  // namespace

Line NextLine(std::string_view text, std::size_t start) {
  const std::size_t end = FindLineEnd(text, start);
  std::size_t next = end;
  if (next < text.size()) {
    const bool crlf = text[next] == '\r' && next + 1 < text.size() && text[next + 1] == '\n';
    next += crlf ? 2 : 1;
  }
  return {text.substr(start, end - start), next};
}

bool IsBlankLine(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

void LineAssembler::Keep(std::string_view part) {
  line_.append(part.substr(0, kMaxJudgedLine - std::min(kMaxJudgedLine, line_.size())));
}

}  // namespace dossier::inspect
