#include "sources/repository/path_globs.h"

#include <algorithm>

#include "base/text/text.h"

namespace dossier::sources {

PathGlobs::PathGlobs(const std::vector<std::string>& patterns) {
  for (const std::string& given : patterns) {
    std::vector<std::string> all = ExpandBraces(given);
    if (all.size() > 1) all.push_back(given);  // a name may hold braces itself
    for (std::string_view pattern : all) {
      if (pattern.starts_with("./")) pattern.remove_prefix(2);
      const bool anchored = pattern.starts_with('/');
      if (anchored) pattern.remove_prefix(1);
      while (pattern.ends_with('/')) pattern.remove_suffix(1);
      if (pattern.empty()) continue;
      const bool whole = anchored || pattern.find('/') != std::string_view::npos;
      patterns_.push_back({std::string(pattern), Glob(pattern), whole});
    }
  }
}

bool PathGlobs::Matches(std::string_view path) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    if (pattern.whole_path) {
      const bool below =
          path.starts_with(pattern.literal) &&
          (path.size() == pattern.literal.size() || path[pattern.literal.size()] == '/');
      return below || pattern.glob.Matches(path);
    }
    const std::vector<std::string_view> names = Split(path, '/');
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return name == pattern.literal || pattern.glob.Matches(name);
    });
  });
}

}  // namespace dossier::sources
