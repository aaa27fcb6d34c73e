// Walks a folder the way git sees it: byte order of paths, hidden and git-ignored files left out.
//
//   DOSSIER_ASSIGN_OR_RETURN(WalkResult found, WalkFolder("data", {}));
//   for (const std::string& path : found.files) Use(path);        // "data/a.csv", "data/sub/b.csv"
//
// The first ignore rule that matches decides, in this order: the `extra_ignore_files` of the
// folders, the last named first; `.gitignore` files, the deepest first, of the folder, its parents
// up to the repository's root, and the folders below; `.git/info/exclude`; the user's global file.
// Thread-safety: functions over their arguments only.

#ifndef DOSSIER_BASE_FILES_WALK_H_
#define DOSSIER_BASE_FILES_WALK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/files/glob.h"
#include "base/result.h"

namespace dossier {

// The rules of one ignore file, as git reads them.
//
//   const IgnoreFile rules("*.o\n!keep.o\n");
//   rules.Match("deep/a.o", IgnoreFile::PathKind::kFile);      // kIgnored
//
// Thread-safety: immutable after construction.

class IgnoreFile {
 public:
  // `letters`: git's core.ignorecase.
  explicit IgnoreFile(std::string_view content,
                      CaseSensitivity letters = CaseSensitivity::kSensitive);

  enum class Verdict : std::uint8_t { kNone, kIgnored, kKept };
  enum class PathKind : std::uint8_t { kFile, kFolder };
  // `path` is relative to the folder of the file, with '/' between names. The last matching rule
  // decides; kKept is a negation.
  Verdict Match(std::string_view path, PathKind kind) const;

 private:
  struct Rule {
    std::string literal;       // the pattern up to its first special character
    std::optional<Glob> rest;  // unset: the pattern is the literal
    bool negated = false, folder_only = false;
    bool anchored = false;  // matched against the whole path instead of the last name
    bool suffix = false;    // "*literal", the most frequent form: `literal` ends the name
  };
  static bool Matches(const Rule& rule, std::string_view text);
  void Add(std::string_view line);

  CaseSensitivity letters_;
  std::vector<Rule> rules_;
};

enum class HiddenFiles : std::uint8_t { kSkip, kInclude };
enum class IgnoreRules : std::uint8_t { kApply, kDisregard };
enum class SymbolicLinks : std::uint8_t { kSkip, kFollowOnce };  // each target folder is seen once
enum class NestedRepositories : std::uint8_t { kSkip, kInclude };

struct WalkOptions {
  HiddenFiles hidden = HiddenFiles::kSkip;
  IgnoreRules ignore = IgnoreRules::kApply;
  SymbolicLinks links = SymbolicLinks::kSkip;
  NestedRepositories nested = NestedRepositories::kInclude;
  std::size_t max_files = 10000;
  // Further ignore files by name (".ignore"); their rules precede git's, and also apply to tracked
  // files.
  std::vector<std::string> extra_ignore_files;
  // git's core.excludesFile; unset: $XDG_CONFIG_HOME/git/ignore or ~/.config/git/ignore.
  std::optional<std::string> global_ignore_file;
  CaseSensitivity letters = CaseSensitivity::kSensitive;  // of ignore rules: git's core.ignorecase
  // Files in git's index, to which its ignore rules do not apply: paths from the root of the
  // repository, in byte order.
  std::vector<std::string> tracked;
};

struct SkippedPath {
  std::string path;
  std::string reason;  // "socket", "fifo", "device", "permission denied", "a repository of its own"
};

struct WalkResult {
  std::vector<std::string> files;    // regular files, in byte order of their paths
  std::vector<SkippedPath> skipped;  // neither files nor folders, or not readable; same order
  bool stopped = false;              // max_files was reached; the first of them are in `files`
};

// Errors: kNotFound, kPermission (the folder itself), kCancelled.
Result<WalkResult> WalkFolder(const std::string& folder, const WalkOptions& options,
                              const CancelToken& cancel = {});

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_WALK_H_
