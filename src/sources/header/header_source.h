// Builds the header of a folder: reads everything once and keeps it for callers that need more than
// the header.
//
//   HeaderSource source(".", agents);
//   DOSSIER_ASSIGN_OR_RETURN(const CollectedHeader state, source.Collect({.now = now}));
//   Print(ToYaml(state.header));
//
// One source serves many headers of a run: while HEAD does not move, git runs only once.
// Thread-safety: Collect may be called from many threads.

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
  std::optional<std::string> task_id;               // the task whose targets are shown
  std::optional<std::vector<std::string>> targets;  // replaces the targets of a task
  AgentMode mode = AgentMode::kPropose;
  std::optional<Millis> window, age_step;        // unset: from the configuration
  std::optional<std::vector<std::string>> with;  // names in kHeaderExtras; unset: as configured
  std::optional<AgentEngine::Output> output;     // unset: as the configured engineer
  Clock::Wall now{};
};

struct CollectedHeader {
  Header header;
  TaskList tasks;
  std::optional<Task> task;  // the requested task
  ChangePolicy policy;
  NoteScan notes;
  RepoFacts repo;
  Clock::Wall now{};                  // the time that ages refer to
  std::vector<std::string> warnings;  // from all steps
};

class HeaderSource {
 public:
  // `folder` is anywhere in the work tree. Collect calls `done`; it is empty if nobody knows.
  HeaderSource(const std::string& folder, AgentsConfig agents, CancelToken cancel = {},
               DoneTasks done = {})
      : agents_(std::move(agents)), done_(std::move(done)), watch_(folder, std::move(cancel)) {}

  // Errors: kNotFound for an unknown task, with the nearest ids; kConfig for a broken task or
  // policy file. A missing repository only gives a warning.
  Result<CollectedHeader> Collect(const HeaderRequest& request);

  const std::string& root() const { return watch_.root(); }
  const AgentsConfig& agents() const { return agents_; }
  std::size_t git_starts() const { return watch_.git_starts(); }

 private:
  const AgentsConfig agents_;
  const DoneTasks done_;
  RepoWatch watch_;
};

// Returns the task with that id. Errors: kNotFound with the nearest ids.
Result<Task> FindTask(std::span<const Task> tasks, std::string_view id);

// Parses names of kHeaderExtras: "dirty,commits". Errors: kUsage, naming `flag` and the names.
Result<std::vector<std::string>> ParseExtras(std::string_view flag, std::string_view list);

// Reads a section of a layout: {task, mode, window, age_step, with}, all optional. Errors: kConfig,
// naming the key.
Result<HeaderRequest> ReadHeaderRequest(const Json& with, Clock::Wall now);

// Returns the facts about this machine for `--with environment`.
HeaderEnvironment ProbeEnvironment();

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_HEADER_SOURCE_H_
