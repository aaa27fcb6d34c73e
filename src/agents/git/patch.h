// Takes the patch: an engine's changes, as found in its worktree.
//
//   const PatchOptions options{.run = run, .task = "fact-001", .attempt = 1, .folder = folder,
//                              .guard = guard.get()};
//   DOSSIER_ASSIGN_OR_RETURN(const Patch patch, TakePatch(worktree, git, options));
//   if (patch.changes.empty()) Report("missing-patch");
//   const PolicyReport report = CheckPolicy(policy, targets, patch, control_files);
//
// The candidate's tree is the worktree as it is, whatever was staged or committed there. What an
// engine says it changed is a claim: it is compared, never trusted.
//
// Attributes of the work tree are ignored when a patch is written: with them an engine could mark a
// text as binary and hide its lines from the limits. For a repository in place of a submodule only
// the commit is read: its configuration, which the engine wrote, can name programs.
//
// Thread-safety: functions; many patches may be taken concurrently.

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
// Maximum bytes of tracked files that an engine wrote to. Even for a small patch git must read all
// of them, at about 30 MB a second.
inline constexpr std::uint64_t kMaxModifiedBytes = 1 << 30;

// One path that differs, as in `git diff-tree --raw --no-renames`: a rename gives two.
struct PathChange {
  std::string path;
  std::string old_path;                 // original path of a file renamed to `path`; else empty
  unsigned old_mode = 0, new_mode = 0;  // 0100644 and so on; 0: absent
  std::string old_blob, new_blob;       // in hex; for a submodule the commit
  bool binary = false;
  std::uint64_t added = 0, deleted = 0;  // lines; for a rename at the new path
  std::string link_target;               // of a new or changed link
  std::string link_way_out;              // of such a link: TreeLinks::WayOut

  bool operator==(const PathChange&) const = default;
};

// With rename detection: a file that was only moved counts as one file and no lines.
struct PatchStat {
  std::uint64_t files = 0, added = 0, deleted = 0;

  bool operator==(const PatchStat&) const = default;
};

enum class PatchSource : std::uint8_t { kWorktree, kPatchFile };

struct Patch {
  std::string base, tree;           // ids of a commit and of a tree
  std::string candidate;            // the commit of `tree` on `base`; empty if nothing changed
  std::vector<PathChange> changes;  // in path order
  PatchStat stat;
  std::string sha256;       // of the patch text
  std::uint64_t bytes = 0;  // of the patch text
  std::string file;         // its path; empty if it is over the limit, or not requested

  PatchSource source = PatchSource::kWorktree;
  std::uint64_t ignored_files = 0;    // left out because git ignores them
  std::vector<Violation> violations;  // found while taking; if not empty, there is no tree
  std::string apply_problem;          // why `.agent/patch.diff` could not be applied; else empty
  std::vector<std::string> warnings;  // "meta-mismatch: …"
};

enum class EngineOutput : std::uint8_t { kWorktree, kPatchFile };

struct PatchOptions {
  std::string run, task;  // as used in file and ref names
  int attempt = 1;
  std::string folder;  // for `patch.diff`
  std::uint64_t max_patch_bytes = 8 << 20;
  EngineOutput output = EngineOutput::kWorktree;
  GitDirGuard* guard = nullptr;           // writes the candidate's ref; not owned
  const SecretValues* secrets = nullptr;  // values that no file may contain; not owned
};

// Errors: kFailed (git), kIo, kCancelled. The engine's faults are no errors, but in the patch.
Result<Patch> TakePatch(const Worktree& worktree, const Git& git, const PatchOptions& options,
                        const CancelToken& cancel = {});

// Makes the patch from one commit (or tree) to another. `file`: path for the text; empty: not
// written. Errors: as TakePatch.
struct DiffOptions {
  std::uint64_t max_patch_bytes = 8 << 20;
  std::string file;
};
Result<Patch> DiffTrees(const Git& git, const std::string& from, const std::string& to,
                        const DiffOptions& options, const CancelToken& cancel = {});

// Makes the candidate's commit, of `tree` on `parent`; it never enters a branch.
Result<std::string> CommitCandidate(const Git& git, const std::string& tree,
                                    const std::string& parent, const std::string& message,
                                    const CancelToken& cancel = {});

// Returns "refs/dossier/RUN/TASK/ATTEMPT".
std::string CandidateRef(std::string_view run, std::string_view task, int attempt);

// Finds the paths in the headers of a diff that a program wrote.
//
//   for (const std::string_view path : DiffHeaderPaths(text)) …   // "a/src/x.cc", "/dev/null"
//
// Paths are returned as written, with a prefix, quoted or not; hunk lines that look like headers
// are skipped. `git apply` strips a leading slash, so an absolute path shows only here.
//
// Thread-safety: a pure function.

// Returns the text after `--- `, `+++ `, `rename from `/`to `, `copy from `/`to `, up to a tab.
std::vector<std::string_view> DiffHeaderPaths(std::string_view text);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_PATCH_H_
