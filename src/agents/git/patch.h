// The patch: what an engine changed, as found in its worktree.
//
//   const PatchOptions options{.run = run, .task = "fact-001", .attempt = 1, .folder = folder,
//                              .guard = guard.get()};
//   DOSSIER_ASSIGN_OR_RETURN(const Patch patch, TakePatch(worktree, git, options));
//   if (patch.changes.empty()) Report("missing-patch");
//   const PolicyReport report = CheckPolicy(policy, targets, patch, control_files);
//
// The tree of the candidate is the worktree as it is, whatever was staged or committed there. What
// an engine says that it changed is a claim, compared and never believed.
//
// Attributes of the work tree do not count when a patch is written: an engine could call a text
// binary by them, and so hide its lines from the limits. A repository in place of a submodule is
// asked for its commit alone: its configuration, which the engine wrote, can name programs.
//
// Thread-safety: functions; many patches may be taken at the same time.

#ifndef DOSSIER_AGENTS_GIT_PATCH_H_
#define DOSSIER_AGENTS_GIT_PATCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/git.h"
#include "agents/git/git_dir_guard.h"
#include "agents/git/path_rules.h"
#include "agents/git/secret_values.h"
#include "agents/git/worktree.h"

namespace dossier::agents {

inline constexpr unsigned kModeLink = 0120000, kModeSubmodule = 0160000;
inline constexpr std::size_t kMaxUntrackedFiles = 5'000;
inline constexpr std::uint64_t kMaxUntrackedBytes = 64 << 20;
// Most bytes of tracked files that an engine wrote to. Even for a small patch git must read all of
// them, at about 30 MB a second.
inline constexpr std::uint64_t kMaxModifiedBytes = 1 << 30;

// One path that differs, as of `git diff-tree --raw --no-renames`: a rename is two of them.
struct PathChange {
  std::string path;
  std::string old_path;                 // of a file that was renamed to `path`; else empty
  unsigned old_mode = 0, new_mode = 0;  // 0100644 and so on; 0: not there
  std::string old_blob, new_blob;       // in hex; of a submodule the commit
  bool binary = false;
  std::uint64_t added = 0, deleted = 0;  // lines; of a rename those of the new path
  std::string link_target;               // of a new or changed link
  std::string link_way_out;              // of such a link: TreeLinks::WayOut

  bool operator==(const PathChange&) const = default;
};

// With rename detection: a file that only moved is one file and no line.
struct PatchStat {
  std::uint64_t files = 0, added = 0, deleted = 0;

  bool operator==(const PatchStat&) const = default;
};

enum class PatchSource : std::uint8_t { kWorktree, kPatchFile };

struct Patch {
  std::string base, tree;           // names of a commit and of a tree
  std::string candidate;            // the commit of `tree` on `base`; empty if nothing changed
  std::vector<PathChange> changes;  // in the order of paths
  PatchStat stat;
  std::string sha256;       // of the patch's text
  std::uint64_t bytes = 0;  // of it
  std::string file;         // that holds it; empty if it is over the limit, or not asked for

  PatchSource source = PatchSource::kWorktree;
  std::uint64_t ignored_files = 0;    // left out, because git ignores them
  std::vector<Violation> violations;  // found while taking; with some, there is no tree
  std::string apply_problem;          // why `.agent/patch.diff` could not be applied; else empty
  std::vector<std::string> warnings;  // "meta-mismatch: …"
};

enum class EngineOutput : std::uint8_t { kWorktree, kPatchFile };

struct PatchOptions {
  std::string run, task;  // names for files and refs
  int attempt = 1;
  std::string folder;  // where `patch.diff` goes
  std::uint64_t max_patch_bytes = 8 << 20;
  EngineOutput output = EngineOutput::kWorktree;
  GitDirGuard* guard = nullptr;           // writes the candidate's ref; not owned
  const SecretValues* secrets = nullptr;  // that no file may hold; not owned
};

// Errors: kFailed (git), kIo, kCancelled. What the engine did wrong is no error but in the patch.
Result<Patch> TakePatch(const Worktree& worktree, const Git& git, const PatchOptions& options,
                        const CancelToken& cancel = {});

// The patch from one commit (or tree) to another. `file`: where the text goes; empty: nowhere.
// Errors: as TakePatch.
struct DiffOptions {
  std::uint64_t max_patch_bytes = 8 << 20;
  std::string file;
};
Result<Patch> DiffTrees(const Git& git, const std::string& from, const std::string& to,
                        const DiffOptions& options, const CancelToken& cancel = {});

// Makes the commit of `tree` on `parent` that stands for a candidate; it never enters a branch.
Result<std::string> CommitCandidate(const Git& git, const std::string& tree,
                                    const std::string& parent, const std::string& message,
                                    const CancelToken& cancel = {});

// "refs/dossier/RUN/TASK/ATTEMPT".
std::string CandidateRef(std::string_view run, std::string_view task, int attempt);

// The paths in the headers of a diff that a program wrote.
//
//   for (const std::string_view path : DiffHeaderPaths(text)) …   // "a/src/x.cc", "/dev/null"
//
// As they stand, with a prefix, quoted or not; lines of hunks that look like headers are not. `git
// apply` strips a leading slash, so an absolute path shows only here.
//
// Thread-safety: a pure function.

// What follows `--- `, `+++ `, `rename from ` and `to `, `copy from ` and `to `, up to a tab.
std::vector<std::string_view> DiffHeaderPaths(std::string_view text);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_PATCH_H_
