// A research run: takes an idea and produces programs, figures, a report and a paper.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunOutcome outcome, Run(order, cancel));
//   if (outcome.end == RunEnd::kFailed) Say(outcome.reason);
//
// Thread-safety: blocks the caller; only one process at a time works on a run folder (by its lock).

#ifndef DOSSIER_RESEARCH_RUN_H_
#define DOSSIER_RESEARCH_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "research/call/caller.h"
#include "research/exec/exec_backend.h"
#include "research/setup/config.h"

namespace dossier::research {

enum class Step : std::uint8_t {
  kPhase0,
  kPhase1,
  kStage1,
  kStage2,
  kStage3,
  kStage4,
  kPlots,
  kPaper,
  kReview
};

struct RunOrder {
  std::string folder;    // the run folder, absolute; created by the caller
  std::string previous;  // folder of the attempt before; "": the one beside `folder`, if any
  std::string idea;      // text of the idea file; on a resume, that in the folder
  RunConfig config;
  std::string resources;  // text of the resources file; "": none
  enum class Mode : std::uint8_t { kStart, kResume } mode = Mode::kStart;
  enum class Retry : std::uint8_t { kNo, kFailed } retry = Retry::kNo;  // --retry-failed
  std::vector<int> stages = {1, 2, 3, 4};
  std::optional<Step> until;
  enum class Skip : std::uint8_t { kPlots, kCitations, kWriteup, kReview };
  std::vector<Skip> skip;

  driver::OpenModel open_model;
  JsonObject connection;  // how the caller reaches models: stored for a resume, not interpreted
  BackendFactory backend;
  assembly::AssetFolders assets;
  driver::SectionMakers makers;  // for the sections that a user's layouts add
  std::shared_ptr<const Clock> clock;
  std::string memory_store;              // --memory; "": memory/memory.sqlite in the folder
  std::string resources_path;            // path of that file, for messages and relative paths
  std::vector<std::string> environment;  // this process's, "NAME=value"; secrets are filtered out
  std::string probe_cache;               // folder that caches probes for a day; "": none
  std::string user_data;                 // the user's data folder, which has embedding models
  std::string journal_folder;            // of the user's journal, which lists the run; "": none
  // Called with name and text before a file in the folder that says what the run may do is written.
  // Empty: approvals are not remembered (own_run.h).
  std::function<Status(std::string_view name, std::string_view text)> approve;
  // Performs one GET for literature search; empty: no search.
  std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> fetch;
  std::function<void(std::string_view)> progress;  // one line for a person; may be empty
  std::function<void(const store::Event&)> watch;  // may be empty
};

// kStopped: ended by --until; a resume continues it.
enum class RunEnd : std::uint8_t { kDone, kFailed, kLimited, kStopped };
std::string_view RunEndName(RunEnd end);  // "done"

struct RunOutcome {
  RunEnd end = RunEnd::kDone;
  std::string reason;       // "no_working_implementation", "phase1: …", the limit
  std::string best_node;    // id; "": none
  std::string report_path;  // "": none
  std::vector<std::string> warnings;
};

// Returns the run's first prompt with its report; no model is asked. `order.folder` must be a
// folder used for this only: afterwards it contains what a run writes before its first question.
Result<JsonObject> PreviewRun(const RunOrder& order, const CancelToken& cancel);

// Errors: those of RoleCaller::Call except kLimit; kLocked (names the other process); kConfig (a
// key changed on resume); kInvalidArgument (idea, resources: all faults in one message).
Result<RunOutcome> Run(const RunOrder& order, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_H_
