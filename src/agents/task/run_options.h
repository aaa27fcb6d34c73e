// The options of a run, given as flags and stored in the journal for a resume.
//
//   RunOptions options{.workers = 4};
//   log.Start({{"options", OptionsToJson(options)}});
//
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_AGENTS_TASK_RUN_OPTIONS_H_
#define DOSSIER_AGENTS_TASK_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/engine/confined_process.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "sources/header/task.h"

namespace dossier::agents {

inline constexpr std::int64_t kMaxWorkers = 64, kMaxAttempts = 10;

struct RunOptions {
  std::int64_t workers = 1;        // 1 to kMaxWorkers
  std::vector<std::string> tasks;  // sources; empty: as configured
  std::vector<std::string> only;   // ids; empty: all
  std::string target;              // branch, without refs/heads/; empty: the current one
  std::string engineer, reviewer;  // engines; empty: as configured
  std::int64_t attempts = 2;       // 1 to kMaxAttempts
  // kBranch: each approved patch becomes its own branch, for people to review.
  enum class Merging { kYes, kDryRun, kBranch } merging = Merging::kYes;
  // The checks before a merge: those made before the approval; repeated on the merged state; or
  // none.
  enum class MergeChecks { kAsApproved, kAgain, kNone } merge_checks = MergeChecks::kAsApproved;
  Walls walls;
  std::optional<double> max_seconds, max_cost;  // for the whole run; USD
  std::optional<std::int64_t> max_tokens;
  enum class Worktrees { kRemoved, kKept } worktrees = Worktrees::kRemoved;
  enum class Notes { kWritten, kNone } notes = Notes::kWritten;
  std::optional<sources::Task> ad_hoc;  // `agents prompt`: only this task

  // For tests: between TERM and KILL.
  Millis grace = kEngineGrace;
};

JsonObject OptionsToJson(const RunOptions& options);
RunOptions OptionsFromJson(const Json& json);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_RUN_OPTIONS_H_
