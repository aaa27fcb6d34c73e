// From a folder to its header: everything is read, once, and kept for who needs more than the
// header.
//
//   HeaderSource source(".", agents);
//   DOSSIER_ASSIGN_OR_RETURN(const CollectedHeader state, source.Collect({.now =
//   clock->WallNow()})); Print(ToYaml(state.header));
//
// One source serves many headers of a run: over an unmoved HEAD git is started once. Thread-safety:
// Collect may be called from many threads.

#ifndef DOSSIER_SOURCES_HEADER_HEADER_SOURCE_H_
#define DOSSIER_SOURCES_HEADER_HEADER_SOURCE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "sources/header/agent_header.h"
#include "sources/header/agents_config.h"
#include "sources/header/note.h"
#include "sources/header/task.h"
#include "sources/repository/repo_facts.h"

namespace dossier::sources {

struct HeaderRequest {
  std::optional<std::string> task_id;               // whose targets are shown
  std::optional<std::vector<std::string>> targets;  // instead of those of a task
  AgentMode mode = AgentMode::kPropose;
  std::optional<Millis> window, age_step;        // unset: of the configuration
  std::optional<std::vector<std::string>> with;  // names of kHeaderExtras; unset: as configured
  std::optional<AgentEngine::Output> output;     // unset: that of the configured engineer
  Clock::Wall now{};
};

struct CollectedHeader {
  Header header;
  TaskList tasks;
  std::optional<Task> task;  // the one that was asked for
  ChangePolicy policy;
  NoteScan notes;
  RepoFacts repo;
  Clock::Wall now{};                  // what its ages are counted to
  std::vector<std::string> warnings;  // of all of them
};

class HeaderSource {
 public:
  // `folder` is anywhere in the work tree. `done`: empty if nobody knows; called by Collect.
  HeaderSource(const std::string& folder, AgentsConfig agents, CancelToken cancel = {},
               DoneTasks done = {})
      : agents_(std::move(agents)), done_(std::move(done)), watch_(folder, std::move(cancel)) {}

  // Errors: kNotFound for an unknown task, with the nearest ids; kConfig for a broken task or
  // policy file. A missing repository is a warning.
  Result<CollectedHeader> Collect(const HeaderRequest& request);

  const std::string& root() const { return watch_.root(); }
  const AgentsConfig& agents() const { return agents_; }
  std::size_t git_starts() const { return watch_.git_starts(); }

 private:
  const AgentsConfig agents_;
  const DoneTasks done_;
  RepoWatch watch_;
};

// The task of that id. Errors: kNotFound with the nearest ids.
Result<Task> FindTask(std::span<const Task> tasks, std::string_view id);

// Names of kHeaderExtras, from "dirty,commits". Errors: kUsage, naming `flag` and the names.
Result<std::vector<std::string>> ParseExtras(std::string_view flag, std::string_view list);

// What the section of a layout says: {task, mode, window, age_step, with}, all optional.
// Errors: kConfig, naming the key.
Result<HeaderRequest> ReadHeaderRequest(const Json& with, Clock::Wall now);

// What `--with environment` says of this machine.
HeaderEnvironment ProbeEnvironment();

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_HEADER_SOURCE_H_
