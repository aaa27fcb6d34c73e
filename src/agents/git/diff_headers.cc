#include "agents/git/diff_headers.h"

#include <charconv>
#include <cstdint>

#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr std::string_view kHeaders[] = {"--- ",       "+++ ",       "rename from ",
                                         "rename to ", "copy from ", "copy to "};

// The count in "-12,3" or "+12": 3, 1.
std::uint64_t LinesOf(std::string_view range) {
  const std::size_t comma = range.find(',');
  if (comma == std::string_view::npos) return 1;
  std::uint64_t count = 0;
  std::from_chars(range.data() + comma + 1, range.data() + range.size(), count);
  return count;
}

}  // namespace

std::vector<std::string_view> DiffHeaderPaths(std::string_view text) {
  std::vector<std::string_view> paths;
  std::uint64_t old_lines = 0, new_lines = 0;  // of the hunk, to come
  for (const std::string_view line : Split(text, '\n')) {
    if (old_lines > 0 || new_lines > 0) {
      const char kind = line.empty() ? ' ' : line[0];
      if (kind != '+' && old_lines > 0 && kind != '\\') --old_lines;
      if (kind != '-' && new_lines > 0 && kind != '\\') --new_lines;
      continue;
    }
    if (line.starts_with("@@ -")) {
      const auto fields = Split(line, ' ');
      if (fields.size() < 3) continue;
      old_lines = LinesOf(fields[1]);
      new_lines = LinesOf(fields[2]);
      continue;
    }
    for (const std::string_view header : kHeaders) {
      if (line.starts_with(header)) {
        const std::string_view rest = line.substr(header.size());
        paths.push_back(rest.substr(0, rest.find('\t')));
      }
    }
  }
  return paths;
}

}  // namespace dossier::agents
