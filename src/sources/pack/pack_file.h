// One file as it stands in a pack: read, judged, redacted, rendered, counted. A step of Pack.

#ifndef DOSSIER_SOURCES_PACK_PACK_FILE_H_
#define DOSSIER_SOURCES_PACK_PACK_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/glob.h"
#include "sources/pack/pack.h"
#include "sources/pack/pack_rank.h"
#include "sources/repository/code_facts.h"
#include "sources/repository/repo_facts.h"
#include "tokens/files/count_cache.h"

namespace dossier::sources {

// Which paths a user means by a glob: `--include '*.{cc,h}'`, `--exclude build`, `--priority
// a/b=1`. A pattern without a slash is matched against every name of the path; with one against the
// whole path; `/x` is x at the root. A pattern that is the path itself, or a folder above it,
// matches too, so that names with brackets can be given as they are. Immutable.
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

// Which files are packed. A step of Pack.

struct SelectedFile {
  std::string full;    // absolute
  std::string path;    // from the root of the pack, by which it is shown
  bool named = false;  // outright: no rule leaves it out
};

struct Selection {
  std::string root;  // the repository's, or the deepest folder above all that was named
  std::vector<SelectedFile> files;  // by bytes of `path`, once each
  std::optional<GitFacts> git;      // if the root is a work tree's
  std::vector<std::string> warnings;
};

// Errors: as Pack's. Thread-safety: a function over its arguments.
Result<Selection> SelectFiles(const PackOptions& options, const CancelToken& cancel);

// What the later steps need to know beside the file itself.
struct ReadFileFacts {
  bool unchanged = false;  // as in HEAD
  bool sanitized = false;  // NUL or invalid UTF-8 became U+FFFD
  TaskWordCounts ranked;   // with a task
};

// Never fails: a file that cannot be read says so. Thread-safety: may run for many files at once,
// each with `counts` of its own.
PackedFile PackOneFile(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
                       const TaskRanking* ranking, tokens::CountCache* counts,
                       ReadFileFacts* facts);

// `path` on one line: with quotes and escapes where it holds something else than text.
std::string PathForText(std::string_view path);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_FILE_H_
