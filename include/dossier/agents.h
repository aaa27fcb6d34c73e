// Tasks of a repository, worked on by an engineer and checked by a reviewer, each in a worktree of
// its own, merged under the repository's policy.
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
// A task that fails is a result. Errors: kConfig (configuration, tasks, policy), kNotFound (task,
// engine, branch; no repository), kRefused (the repository's files are not trusted), kUnavailable
// (no confinement), kFailed (git), kIo, kLocked, kInvalidArgument (an option). Units: seconds,
// tokens, US dollars. Ownership: plain values. Thread-safety: functions that block; several runs
// may go on at once. Callbacks come from the run's threads, one event at a time; warnings may come
// beside them. They must not block and must not throw.

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
  std::string repository = ".";    // anywhere in it
  Model model;                     // of built-in engines; none: the one that each names
  std::vector<std::string> tasks;  // task files; empty: as the repository says
  std::vector<std::string> only;   // ids; empty: all
  std::string target;              // branch; empty: the current one
  std::string engineer, reviewer;  // engines; empty: as the repository says
  std::int64_t workers = 1, attempts = 2;
  std::optional<double> max_usd, max_seconds;
  std::optional<std::int64_t> max_tokens;
  enum class Merging { kMerge, kPatchOnly } merging = Merging::kMerge;
  // kNone: engines and checks see and change all that the caller can. `degraded`: layers of the
  // jail that may be missing, by name; for machines that cannot build all of them.
  enum class Confinement { kJail, kNone } confinement = Confinement::kJail;
  std::vector<std::string> degraded;
  // kApproved: files of the repository that can start programs count only if a person has approved
  // them (`dossier trust`). kRepository: the caller vouches for them.
  enum class Trust { kApproved, kRepository } trust = Trust::kApproved;
  std::function<void(const RunEvent& event)> on_event;
  std::function<void(std::string_view sentence)> on_warning;
  CancelToken cancel;
};

struct AgentsTask {
  std::string id, summary;
  std::string status;  // "merged", "skipped", "policy-violation", …
  std::string reason;  // in words
  std::string commit;  // of the merge; empty: none
  std::string patch;   // file; empty: none
  std::int64_t attempts = 0;
};

struct AgentsRun {
  std::string run, log;  // id; file
  std::vector<AgentsTask> tasks;
  std::vector<std::string> not_started;  // ids
};

struct AgentsStep {
  std::string task, summary;
  std::int64_t prompt_tokens = 0;
  std::string blocked;  // why it would not start; else empty
};

struct AgentsPlan {
  std::string base, branch, engineer, reviewer;
  std::vector<AgentsStep> steps;
  std::vector<std::string> problems;  // why RunAgents would not start, a sentence each
};

// What RunAgents would do.
Result<AgentsPlan> PlanAgents(const AgentsOptions& options);
Result<AgentsRun> RunAgents(const AgentsOptions& options);
// Goes on with a run that was interrupted; `run`: its id or the start of one, "": the newest.
Result<AgentsRun> ResumeAgents(std::string_view run, const AgentsOptions& options);

}  // namespace dossier

#endif  // DOSSIER_AGENTS_H_
