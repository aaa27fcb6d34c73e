// Reads and checks everything before a run starts: repository, tasks, policy, engines.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto setup, RunSetup::Make(options, ports));
//   setup->tasks();
//
// Thread-safety: made by one thread, constant afterwards.

#ifndef DOSSIER_AGENTS_RUN_RUN_SETUP_H_
#define DOSSIER_AGENTS_RUN_RUN_SETUP_H_

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agents/git/git.h"
#include "agents/git/state_folder.h"
#include "agents/policy/policy_check.h"
#include "agents/run/progress.h"
#include "agents/run/run.h"
#include "agents/task/run_records.h"
#include "agents/task/work.h"
#include "base/result.h"
#include "sources/header/header_source.h"

namespace dossier::agents {

// The repository that contains a start folder.
struct RunGround {
  Git git;
  StateFolder state;
  std::string root;  // of the checkout; empty in a bare repository

  // Errors: kNotFound outside a repository; kFailed (git).
  static Result<RunGround> Find(const RunPorts& ports);
};

// As MergedTasks, for `ref` and with logs that were read already.
std::set<std::string> MergedInto(const std::string& ref, std::span<const sources::Task> tasks,
                                 const RunRecords& records, const Git& git);

class RunSetup {
 public:
  // Errors: as RunTasks.
  static Result<std::unique_ptr<RunSetup>> Make(const RunOptions& options, const RunPorts& ports,
                                                RunGround ground);
  // As Make, but keeps faults in the files and names that the user gave, so that they are reported
  // together.
  static Result<std::unique_ptr<RunSetup>> Read(const RunOptions& options, const RunPorts& ports,
                                                RunGround ground);
  // Faults of policy, tasks and prompts: with them not even a plan can be made.
  const std::vector<Error>& faults() const { return faults_; }
  // Roles without an engine, or with one that does not exist.
  const std::vector<Error>& lacking_engines() const { return lacking_engines_; }

  const RunGround& ground() const { return ground_; }
  const std::vector<sources::Task>& tasks() const { return tasks_; }
  const sources::ChangePolicy& policy() const { return policy_; }
  // The files that steer agent runs: those with fixed names, and those named by the configuration.
  const SteeringFiles& control() const { return control_; }
  const PromptSetting& prompts() const { return prompts_; }
  const std::string& ref() const { return ref_; }  // "refs/heads/main"
  const std::string& base() const { return base_; }
  const std::string& walls() const { return walls_; }  // as results show it
  // Ids of tasks excluded by --only.
  const std::set<std::string>& left_out() const { return left_out_; }
  // Ids of tasks that recorded runs merged into the branch.
  const std::set<std::string>& merged() const { return merged_; }
  const std::string& engineer_name() const { return engineer_name_; }
  const std::string& reviewer_name() const { return reviewer_name_; }
  RunRecords& records() { return records_; }
  // Marks tasks of a resumed run that have left the queue as known, and merged ones as merged.
  void AddFinished(const RunProgress& progress);

  // Returns the command line of a program engine, with paths to its own files made absolute.
  std::vector<std::string> ArgvOf(const sources::AgentEngine& engine) const;

  // Connects models but starts nothing. Errors: kConfig, and those of models.
  Status MakeEngines(RunBudget& budget);
  RoleEngine engineer() const { return engineer_; }
  RoleEngine reviewer() const { return reviewer_; }
  // Returns the secrets of both engines.
  SecretValues secrets() const;

 private:
  RunSetup(const RunOptions& options, const RunPorts& ports, RunGround ground,
           const std::string& runs_folder);

  Status ReadTasks();
  Status ReadPolicy();
  Status FindTarget();
  void NameEngines();
  Status FindMerged();
  Status PreparePrompts();
  Result<RoleEngine> MakeEngine(const std::string& name, RunBudget& budget);

  const RunOptions& options_;
  const RunPorts& ports_;
  RunGround ground_;
  RunRecords records_;
  std::vector<sources::Task> tasks_;
  std::set<std::string> left_out_, merged_, completed_, done_;
  sources::ChangePolicy policy_;
  SteeringFiles control_;
  std::unique_ptr<sources::HeaderSource> source_;
  PromptSetting prompts_;
  std::string ref_, base_, walls_, engineer_name_, reviewer_name_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<Error> faults_, lacking_engines_;
  RoleEngine engineer_, reviewer_;
};

// Returns all that is recorded when a run starts, for a resume.
JsonObject StartedEvent(const RunSetup& setup, const RunOptions& options);

// Returns "refs/heads/main", from the option or HEAD. Errors: kNotFound (no such branch, with the
// nearest; detached HEAD without --target; a branch without a commit).
Result<std::string> TargetRef(const Git& git, const std::string& target);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_RUN_SETUP_H_
