// A run: an idea goes in, programs, figures, a report and a paper come out.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunOutcome outcome, Run(order, cancel));
//   if (outcome.end == RunEnd::kFailed) Say(outcome.reason);
//
// Thread-safety: blocks its caller; one process at a time works on a run folder (its lock).

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
  std::string folder;  // of the run, absolute; made by the caller
  std::string idea;    // text of the file; of a resume: that of the folder
  RunConfig config;
  std::string resources;  // text of the file; "": none
  enum class Mode : std::uint8_t { kStart, kResume } mode = Mode::kStart;
  enum class Retry : std::uint8_t { kNo, kFailed } retry = Retry::kNo;  // --retry-failed
  std::vector<int> stages = {1, 2, 3, 4};
  std::optional<Step> until;
  enum class Skip : std::uint8_t { kPlots, kCitations, kWriteup, kReview };
  std::vector<Skip> skip;

  driver::OpenModel open_model;
  JsonObject connection;  // how the caller reaches models: kept for a resume, and not looked at
  BackendFactory backend;
  assembly::AssetFolders assets;
  driver::SectionMakers makers;  // of sections that a user's layouts add
  std::shared_ptr<const Clock> clock;
  std::string memory_store;              // --memory; "": memory/memory.sqlite of the folder
  std::string resources_path;            // of the file, for messages and relative paths
  std::vector<std::string> environment;  // of this process, "NAME=value"; secrets are filtered out
  std::string probe_cache;               // folder that keeps probes for a day; "": none
  std::string journal_folder;            // of the user's journal, which lists the run; "": none
  // Called before a file that says what a run may do is written: its name in the folder and its
  // text. Empty: nobody remembers them (own_run.h).
  std::function<Status(std::string_view name, std::string_view text)> approve;
  // One GET of a search for literature; empty: there is none.
  std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> fetch;
  std::function<void(std::string_view)> progress;  // one line for a person; may be empty
  std::function<void(const store::Event&)> watch;  // may be empty
};

// kStopped: --until; a resume goes on.
enum class RunEnd : std::uint8_t { kDone, kFailed, kLimited, kStopped };
std::string_view RunEndName(RunEnd end);  // "done"

struct RunOutcome {
  RunEnd end = RunEnd::kDone;
  std::string reason;       // "no_working_implementation", "phase1: …", the limit
  std::string best_node;    // id; "": none
  std::string report_path;  // "": none
  std::vector<std::string> warnings;
};

// The first prompt of the run with its report; nothing is asked. `order.folder` is a folder for
// this alone: what a run writes before its first question is in it afterwards.
Result<JsonObject> PreviewRun(const RunOrder& order, const CancelToken& cancel);

// Errors: those of Caller::Call but kLimit; kLocked (another process, named); kConfig (a changed
// key on resume); kInvalidArgument (idea, resources: all faults in one message).
Result<RunOutcome> Run(const RunOrder& order, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_H_
