#include "inspect/formats/markdown_sections.h"

#include <algorithm>

#include "base/text/text.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

// The level of a heading; 0: the line is none.
std::size_t HeadingLevel(std::string_view line) {
  const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  const bool ends = hashes == line.size() || line[hashes] == ' ' || line[hashes] == '\t';
  return hashes <= 6 && ends ? hashes : 0;
}

// The character of a line that opens or closes fenced code; 0: it does neither.
char FenceOf(std::string_view line) {
  line = TrimSpace(line);
  return line.starts_with("```") || line.starts_with("~~~") ? line.front() : '\0';
}

}  // namespace

std::vector<ByteRange> FindSections(std::string_view text) {
  std::vector<ByteRange> sections;
  char fence = '\0';
  for (std::size_t at = 0; at < text.size();) {
    const Line line = NextLine(text, at);
    if (const char mark = FenceOf(line.text); mark != '\0' && (fence == '\0' || fence == mark)) {
      fence = fence == '\0' ? mark : '\0';
    } else if (fence == '\0' && HeadingLevel(line.text) > 0) {
      if (!sections.empty()) sections.back().end = at;
      sections.push_back({at, text.size()});
    }
    at = line.next;
  }
  return sections;
}

TextRecord ReadSection(std::string_view section) {
  const Line heading = NextLine(section, 0);
  const std::size_t level = HeadingLevel(heading.text);
  std::string_view title = TrimSpace(heading.text.substr(level));
  // `## Title ##`
  const std::size_t end = title.find_last_not_of('#');
  if (end == std::string_view::npos || (end + 1 < title.size() && title[end] == ' ')) {
    title = TrimSpace(title.substr(0, end == std::string_view::npos ? 0 : end));
  }
  const std::string_view below =
      section.substr(std::min<std::size_t>(heading.next, section.size()));
  return {{"level", std::to_string(level)},
          {"title", std::string(title)},
          {"text", std::string(TrimSpace(below))}};
}

}  // namespace dossier::inspect
