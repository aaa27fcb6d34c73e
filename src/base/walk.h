// Walks a folder the way git sees it: byte order of paths, hidden and git-ignored files left out.
//
//   DOSSIER_ASSIGN_OR_RETURN(WalkResult found, WalkFolder("data", {}));
//   for (const std::string& path : found.files) Use(path);        // "data/a.csv", "data/sub/b.csv"
//
// Ignore rules: `.gitignore` files of the folder, of its parents up to the repository's root, and of
// the folders below, with negation, anchors, `**` and folder-only patterns; `.git/info/exclude`.
// Thread-safety: functions over their arguments only.

#ifndef DOSSIER_BASE_WALK_H_
#define DOSSIER_BASE_WALK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier {

enum class HiddenFiles : std::uint8_t { kSkip, kInclude };
enum class IgnoreRules : std::uint8_t { kApply, kDisregard };
enum class SymbolicLinks : std::uint8_t { kSkip, kFollowOnce };  // each target folder is seen once

struct WalkOptions {
  HiddenFiles hidden = HiddenFiles::kSkip;
  IgnoreRules ignore = IgnoreRules::kApply;
  SymbolicLinks links = SymbolicLinks::kSkip;
  std::size_t max_files = 10000;
};

struct SkippedPath {
  std::string path;
  std::string reason;  // "socket", "fifo", "device", "symbolic link", "permission denied"
};

struct WalkResult {
  std::vector<std::string> files;    // regular files, in byte order of their paths
  std::vector<SkippedPath> skipped;  // neither files nor folders, or not readable; same order
  bool stopped = false;              // max_files was reached; the first of them are in `files`
};

// Errors: kNotFound, kPermission (the folder itself), kCancelled.
Result<WalkResult> WalkFolder(const std::string& folder, const WalkOptions& options,
                              const CancelToken& cancel = {});

// The rules of one ignore file. `Match` is for the paths below the folder that holds the file.
class IgnoreFile {
 public:
  explicit IgnoreFile(std::string_view content);

  enum class Verdict : std::uint8_t { kNone, kIgnored, kKept };
  enum class PathKind : std::uint8_t { kFile, kFolder };
  // `path` is relative to the folder of the file, with '/' between names. The last matching rule
  // decides; kKept is a negation.
  Verdict Match(std::string_view path, PathKind kind) const;

 private:
  struct Rule {
    std::string pattern;
    bool negated = false, folder_only = false, anchored = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_WALK_H_
