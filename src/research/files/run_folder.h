// The run folder: its name, the paths of the files in it, its lock.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string folder,
//                            MakeRunFolder({.out = out, .name = name, .time = clock->WallNow()}));
//   DOSSIER_ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(folder, *clock));
//   WriteFileAtomic(folder + "/" + std::string(run_files::kReport), text);
//
// All names of files and folders of a run are defined here. Thread-safety: functions over files; a
// lock has one owner.

#ifndef DOSSIER_RESEARCH_FILES_RUN_FOLDER_H_
#define DOSSIER_RESEARCH_FILES_RUN_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

// Resolves against the current folder, without `.`, `..` and a final slash; links stay.
std::string AbsolutePath(const std::string& path);

// Paths relative to the run folder. journal.sqlite and objects/ belong to the journal (run_log.h).
namespace run_files {
inline constexpr std::string_view kRun = "run.json";
inline constexpr std::string_view kIdea = "idea.md";
inline constexpr std::string_view kIdeaJson = "idea.json";
inline constexpr std::string_view kConfig = "config.yaml";
inline constexpr std::string_view kResourceFile = "resources.yaml";
inline constexpr std::string_view kLock = "lock";
inline constexpr std::string_view kSteering = "steering.jsonl";  // search/steering.h
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kResources = "resources";
inline constexpr std::string_view kMemory = "memory/memory.sqlite";
inline constexpr std::string_view kResourceSnapshot = "memory/resource_snapshot.json";
inline constexpr std::string_view kMemoryFolder = "memory";
inline constexpr std::string_view kLogs = "logs";
inline constexpr std::string_view kPromptLogs = "logs/prompt_logs";
inline constexpr std::string_view kTreePage = "logs/unified_tree_viz.html";
inline constexpr std::string_view kMemoryPage = "logs/memory_database.html";
inline constexpr std::string_view kWaiting = "logs/waiting.json";
inline constexpr std::string_view kSystem = "workers/system";  // system_layers.h
inline constexpr std::string_view kFigures = "figures";
inline constexpr std::string_view kAggregator = "auto_plot_aggregator.py";
inline constexpr std::string_view kReport = "report.md";
inline constexpr std::string_view kTokenTracker = "token_tracker.json";
inline constexpr std::string_view kPaper = "paper";

// "workers/worker-0/plans"; the sandbox and phase1_*.jsonl are below "workers/worker-0" too.
std::string Worker(std::string_view worker);
std::string Plans(std::string_view worker);
// "nodes/ID", with node.json, workspace/, plots/ and, for the local sandbox, system/.
std::string Node(std::string_view node);
std::string NodeJson(std::string_view node);
std::string Workspace(std::string_view node);
std::string Plots(std::string_view node);
std::string StageBest(std::string_view stage);
// "logs/stage_NAME", with journal.json, tree_data.json, tree_plot.html, best_node_id.txt, notes/.
std::string StageLogs(std::string_view stage);
// "logs/phase_logs/node_ID", with download.log, coding.log, compile.log, run.log.
std::string PhaseLogs(std::string_view node);
// For the calls of a node; "" means the run itself.
std::string PromptLogs(std::string_view node);
}  // namespace run_files

// Writes a file of a run through a temporary file: completely or not at all, even if the process is
// killed. Not synced to disk: what a power failure loses can be rebuilt from the journal. Errors:
// kIo, kPermission.
Status WriteRunFile(const std::string& path, std::string_view content);

struct RunFolderOrder {
  std::string out = "experiments";
  std::string name;  // any text: a title
  std::int64_t attempt = 0;
  Clock::Wall time;
};

// Keeps letters, digits, `_` and `-` of a text, replaces runs of others by one `_`, at most 60
// characters; "run" if nothing is left. "Matrix Opt!" -> "Matrix_Opt".
std::string RunNameOf(std::string_view text);
// Returns "2026-01-28_17-46-11_matrix_attempt_3", in UTC.
std::string RunFolderName(std::string_view name, std::int64_t attempt, Clock::Wall time);
// Makes the folder of a new run, with an absolute path, named after the first second from `time` on
// that no other run's folder has. Errors: kIo, kPermission.
Result<std::string> MakeRunFolder(const RunFolderOrder& order);

struct RunFolderParts {
  std::string name;
  std::int64_t attempt = 0;
};
// Parses the name of a run folder; nothing if it has another form.
std::optional<RunFolderParts> ParseRunFolderName(std::string_view folder_name);
// Returns the run beside `folder` with the same name and the highest lower attempt, the latest of
// equals; "": none.
std::string PreviousAttempt(const std::string& folder);

// Finds the folder that a person names: a path, or a prefix of a folder name or run id under `out`;
// "": the latest. Errors: kNotFound with the candidates.
Result<std::string> FindRun(const std::string& out, std::string_view word);
// Returns the run folders under `out`, the latest last.
std::vector<std::string> ListRuns(const std::string& out);

// A lock held while a process works on the run; the kernel releases it however the process ends.
class RunLock {
 public:
  // Errors: kLocked with the holder's process, machine, start time, and the remedy.
  static Result<RunLock> Take(const std::string& folder, const Clock& clock);

  struct Holder {
    std::int64_t pid = 0;
    std::string host, since;
  };
  // Returns the current holder; nothing if there is none.
  static std::optional<Holder> HolderOf(const std::string& folder);

 private:
  explicit RunLock(FileLock lock) : lock_(std::move(lock)) {}
  FileLock lock_;
};

// Resolves paths that must stay below a folder, whatever links a program or repository put into it.
//
//   const auto place = PlaceInside(root, "docs/README.md");
//   if (!place) return Refuse("a link leads out of " + root.string());
//
// Nothing else may write to the folder meanwhile: what is checked here is opened later.
// Thread-safety: functions over files.

// Returns true if `path` is `root` or below it, judged by the names alone.
bool IsInside(const std::filesystem::path& root, const std::filesystem::path& path);

// Returns the real path of `relative`, with its existing links resolved; none if it is not inside.
// `root` is canonical.
std::optional<std::filesystem::path> PlaceInside(const std::filesystem::path& root,
                                                 const std::filesystem::path& relative);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_RUN_FOLDER_H_
