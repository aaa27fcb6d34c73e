// The rules that a change must keep, from config/policy.edn.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ChangePolicy policy, LoadChangePolicy(root, ""));
//   if (policy.max_files && changed > *policy.max_files) Refuse();
//
// This only reads them; the room `agents` judges patches. Thread-safety: plain data, functions over
// files that are only read.

#ifndef DOSSIER_SOURCES_HEADER_CHANGE_POLICY_H_
#define DOSSIER_SOURCES_HEADER_CHANGE_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace dossier::sources {

struct ChangePolicy {
  std::vector<std::string> allow, deny;  // globs over whole paths; no `allow`: every path
  std::optional<std::uint64_t> max_lines_added, max_lines_deleted, max_files;  // unset: unlimited
  std::uint64_t max_patch_bytes = 8 << 20;
  bool allow_binary = true, allow_symlinks = false, allow_submodules = false;
  bool allow_control_files = false;
  Millis propose_timeout{300'000}, review_timeout{600'000};
  std::string file;    // relative to the root; empty if there is none
  std::string sha256;  // of the file's bytes
  std::vector<std::string> warnings;
};

// `file` is relative to `root`; empty: the one of config/policy.edn, .yaml, .yml, .json that is
// there. No file: allow src, scripts, docs and config, with a warning.
// Errors: kConfig, naming file and key: an unknown key with the nearest one, a value of another
// type, a malformed glob with its column, two default files, a named file that is missing.
Result<ChangePolicy> LoadChangePolicy(const std::string& root, const std::string& file);

// Of the bytes of `file`, without touching the disk.
Result<ChangePolicy> ParseChangePolicy(std::string text, const std::string& file);

// Of one pattern: more than anybody writes, and little enough to compile.
inline constexpr std::size_t kMaxGlobBytes = 4096;
inline constexpr std::size_t kMaxGlobDepth = 32;  // braces inside each other

// Errors: kConfig, "PATTERN:COLUMN: WHAT" for a pattern that cannot be read: empty, an open
// `[` or `{`, an empty class, a range that runs backwards, `\` at the end, a leading `/`, a part
// that is `..`; and for one that is too long or too deep.
Status CheckGlob(std::string_view pattern);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_CHANGE_POLICY_H_
