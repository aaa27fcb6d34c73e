// Which paths a user means by a glob: `--include '*.{cc,h}'`, `--exclude build`, `--priority
// a/b=1`.
//
//   const PathGlobs globs({"src/**", "*.md"});
//   globs.Matches("docs/a.md")           // true
//
// A pattern without a slash is matched against every name of the path; with one against the whole
// path; `/x` is x at the root. A pattern that is the path itself, or a folder above it, matches
// too, so that names with brackets can be given as they are. Thread-safety: immutable.

#ifndef DOSSIER_SOURCES_REPOSITORY_PATH_GLOBS_H_
#define DOSSIER_SOURCES_REPOSITORY_PATH_GLOBS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/files/glob.h"

namespace dossier::sources {

class PathGlobs {
 public:
  explicit PathGlobs(const std::vector<std::string>& patterns);
  bool empty() const { return patterns_.empty(); }
  bool Matches(std::string_view path) const;

 private:
  struct Pattern {
    std::string literal;  // without slashes at its ends
    Glob glob;
    bool whole_path;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_PATH_GLOBS_H_
