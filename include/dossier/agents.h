// Runs coding tasks of a repository. An engineer agent works on each task in its own Git worktree,
// a reviewer agent checks it, and the result is merged under the repository's policy.
//
// [example]
//   dossier::AgentsOptions options{.repository = "/src/project", .only = {"fix-parser"}};
//   options.trust = dossier::AgentsOptions::Trust::kRepository;  // its files may run engines
//   auto plan = dossier::PlanAgents(options);  // what would be done; starts nothing
//   if (!plan) return dossier::ExitCode(plan.error().code);
//   auto run = dossier::RunAgents(options);
//   if (!run) return dossier::ExitCode(run.error().code);
//   for (const auto& task : run->tasks) std::cout << task.id << " " << task.status << "\n";
// [/example]
//
// A task that fails is a result, not an error. Errors: kConfig (configuration, tasks, policy),
// kNotFound (task, engine, branch; no repository), kRefused (the repository's files are not
// trusted), kUnavailable (no confinement), kFailed (git), kIo, kLocked, kInvalidArgument (an
// option). Units: seconds, tokens, US dollars. Ownership: plain values. Thread-safety: the
// functions block; several runs may be active at once. Callbacks come from the run's threads, one
// event at a time; warnings may come at the same time. Callbacks must not block or throw.

#ifndef DOSSIER_AGENTS_H_
#define DOSSIER_AGENTS_H_

#include <dossier/cancel.h>
#include <dossier/model.h>
#include <dossier/result.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct AgentsOptions {
  std::string repository = ".";    // any path inside the repository
  Model model;                     // for built-in engines; none: the one that each engine names
  std::vector<std::string> tasks;  // task files; empty: those the repository configures
  std::vector<std::string> only;   // task ids; empty: all
  std::string target;              // target branch; empty: the current one
  std::string engineer, reviewer;  // engine names; empty: those the repository configures
  std::int64_t workers = 1, attempts = 2;
  std::optional<double> max_usd, max_seconds;
  std::optional<std::int64_t> max_tokens;
  enum class Merging { kMerge, kPatchOnly } merging = Merging::kMerge;
  // kNone: engines and checks can read and change everything that the caller can. `degraded`: names
  // of jail layers that may be missing, for machines that cannot build all of them.
  enum class Confinement { kJail, kNone } confinement = Confinement::kJail;
  std::vector<std::string> degraded;
  // kApproved: files of the repository that can start programs are used only if a person has
  // approved them (`dossier trust`). kRepository: the caller vouches for them.
  enum class Trust { kApproved, kRepository } trust = Trust::kApproved;
  std::function<void(const RunEvent& event)> on_event;
  std::function<void(std::string_view sentence)> on_warning;
  CancelToken cancel;
};

struct AgentsTask {
  std::string id, summary;
  std::string status;  // "merged", "skipped", "policy-violation", …
  std::string reason;  // a sentence that explains `status`
  std::string commit;  // merge commit; empty: none
  std::string patch;   // path of the patch file; empty: none
  std::int64_t attempts = 0;
};

struct AgentsRun {
  std::string run, log;  // run id; path of the log file
  std::vector<AgentsTask> tasks;
  std::vector<std::string> not_started;  // ids of tasks that were not started
};

struct AgentsStep {
  std::string task, summary;
  std::int64_t prompt_tokens = 0;
  std::string blocked;  // why the task would not start; empty if it would
};

struct AgentsPlan {
  std::string base, branch, engineer, reviewer;
  std::vector<AgentsStep> steps;
  std::vector<std::string> problems;  // why RunAgents would not start, one sentence each
};

// Returns what RunAgents would do; starts nothing.
Result<AgentsPlan> PlanAgents(const AgentsOptions& options);
Result<AgentsRun> RunAgents(const AgentsOptions& options);
// Continues an interrupted run. `run` is its id or a prefix of it; "" means the newest run.
Result<AgentsRun> ResumeAgents(std::string_view run, const AgentsOptions& options);

}  // namespace dossier

#endif  // DOSSIER_AGENTS_H_
