// Reads, judges, redacts, renders and counts one file of a pack. A step of Pack.

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

// The globs of `--include '*.{cc,h}'`, `--exclude build`, `--priority a/b=1`. A pattern without a
// slash is matched against every name in the path, one with a slash against the whole path; `/x` is
// x at the root. A pattern equal to the path, or to a folder above it, matches, too, so that names
// with brackets can be given as they are. Immutable.
class PathGlobs {
 public:
  explicit PathGlobs(const std::vector<std::string>& patterns);
  bool empty() const { return patterns_.empty(); }
  bool Matches(std::string_view path) const;

 private:
  struct Pattern {
    std::string literal;  // without slashes at either end
    Glob glob;
    bool whole_path;
  };
  std::vector<Pattern> patterns_;
};

// Selects the files to pack. A step of Pack.

struct SelectedFile {
  std::string full;    // absolute path
  std::string path;    // from the root of the pack; the path that is shown
  bool named = false;  // given explicitly: no rule excludes it
};

struct Selection {
  std::string root;  // the repository's root, or the deepest folder above all named paths
  std::vector<SelectedFile> files;  // by bytes of `path`, no duplicates
  std::optional<GitFacts> git;      // if the root is that of a work tree
  std::vector<std::string> warnings;
};

// Errors: as Pack. Thread-safety: a function over its arguments.
Result<Selection> SelectFiles(const PackOptions& options, const CancelToken& cancel);

// Facts that later steps need besides the file itself.
struct ReadFileFacts {
  bool unchanged = false;  // as in HEAD
  bool sanitized = false;  // NUL or invalid UTF-8 was replaced by U+FFFD
  TaskWordCounts ranked;   // with a task
};

// Never fails: an unreadable file is marked as such. Thread-safety: may run for many files at once,
// each with its own `counts`.
PackedFile PackOneFile(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
                       const TaskRanking* ranking, tokens::CountCache* counts,
                       ReadFileFacts* facts);

// Returns `path` on one line, quoted and escaped if it contains anything but plain text.
std::string PathForText(std::string_view path);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_FILE_H_
