// The data shared by all parts of a run: repository, rules, engines, record.
//
// Made once by run.cc before any worker starts, and constant afterwards except for thread-safe
// parts. Everything it points to outlives the workers.
//
// Thread-safety: the parts that change are thread-safe; the rest is constant once workers run.

#ifndef DOSSIER_AGENTS_TASK_WORK_H_
#define DOSSIER_AGENTS_TASK_WORK_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/git/git.h"
#include "agents/git/git_dir_guard.h"
#include "agents/git/state_folder.h"
#include "agents/git/worktree.h"
#include "agents/policy/approval.h"
#include "agents/policy/policy_check.h"
#include "agents/task/claims.h"
#include "agents/task/run_budget.h"
#include "agents/task/run_log.h"
#include "agents/task/run_options.h"
#include "agents/task/run_records.h"
#include "agents/task/work_prompt.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "sources/header/agents_config.h"

namespace dossier::agents {

// An engine, ready to run.
struct RoleEngine {
  const sources::AgentEngine* config = nullptr;
  const Engine* engine = nullptr;

  sources::AgentPromptInput::Engine prompt_kind() const {
    using Kind = sources::AgentPromptInput::Engine;
    if (config->builtin) return Kind::kBuiltin;
    const bool patch = config->output == sources::AgentEngine::Output::kPatchFile;
    return patch ? Kind::kPatchFile : Kind::kWorktree;
  }
};

// Makes a configured path absolute: "~/x" is in the home of `environment`, others are below `root`.
std::string WholePath(const std::string& path, const std::string& root,
                      const std::vector<std::string>& environment);

// Records changes that engines made in the git folder. A change counts against all engines that ran
// while it happened, since the one that made it is unknown.
class GuardWatch {
 public:
  explicit GuardWatch(GitDirGuard& guard) : guard_(guard) {}

  std::uint64_t Begin() const { return foreign_count_; }
  struct Seen {
    std::vector<ForeignChange> foreign;
    std::vector<std::string> moved_branches;
  };
  // Returns what became foreign since `begin`. Errors: as GitDirGuard::Check.
  Result<Seen> End(std::uint64_t begin);
  GitDirGuard& guard() { return guard_; }

 private:
  GitDirGuard& guard_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> foreign_count_ = 0;
  std::vector<ForeignChange> foreign_;  // all that was found, in order
};

struct Work {
  const RunOptions& options;
  const sources::AgentsConfig& agents;
  const sources::ChangePolicy& policy;
  const SteeringFiles& control;
  const Git& git;
  const StateFolder& state;
  const PromptSetting& prompts;
  RoleEngine engineer, reviewer;
  std::string engineer_name, reviewer_name;
  AgentLog& log;
  RunBudget& budget;
  GuardWatch& guard;
  const ApprovalKey& approvals;
  const Claims& claims;
  RunRecords& records;  // guarded by records_mutex
  std::mutex& records_mutex;
  std::vector<std::string> environment;  // the process's environment
  SecretValues secrets;                  // of all engines
  std::string root;                      // the root of the checkout
  std::string walls;                     // as results show it: "jail"
  std::string ref;                       // "refs/heads/main"
  std::shared_ptr<const Clock> clock;
  CancelToken stop;  // the user's

  const std::string& run() const { return log.run(); }
  // Makes a path of the configuration absolute: see WholePath.
  std::string Whole(const std::string& path) const { return WholePath(path, root, environment); }
  std::int64_t NowMillis() const {
    return std::chrono::duration_cast<Millis>(clock->WallNow().time_since_epoch()).count();
  }
};

// Returns what an engine in `worktree` may see besides it. No program of a run sees the run records
// or another worktree.
ProcessPlaces PlacesBeside(const Work& work, const Worktree& worktree);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_WORK_H_
