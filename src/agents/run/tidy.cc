// The part of run.h that removes what runs left behind.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "agents/git/worktree.h"
#include "agents/run/progress.h"
#include "agents/run/run.h"
#include "agents/run/run_setup.h"
#include "agents/run/task_merge.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "sources/header/task.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecords = ".worktrees";  // in a run's folder, not a task

// Returns the bytes of all files below, as far as they can be read.
std::uint64_t BytesBelow(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const std::uint64_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

std::vector<fs::path> FoldersIn(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone) && !entry->is_symlink(gone)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

class Tidying {
 public:
  Tidying(const TidyOptions& options, const RunGround& ground, store::Journal& journal,
          const RunRecords& records)
      : options_(options), ground_(ground), journal_(journal), records_(records) {}

  Result<TidyReport> Run() {
    for (const fs::path& folder : FoldersIn(ground_.state.path() + "/runs")) {
      DOSSIER_RETURN_IF_ERROR(TidyRun(folder));
    }
    std::sort(report_.removed.begin(), report_.removed.end());
    return std::move(report_);
  }

 private:
  Status TidyRun(const fs::path& folder) {
    const std::string run = folder.filename().string();
    const auto status = journal_.StatusOf(run);
    if (!status && status.error().code != ErrorCode::kNotFound) {
      return tl::unexpected(status.error());
    }
    // A run without a journal entry cannot be resumed.
    if (status && *status == "running") return {};
    if (status) DOSSIER_RETURN_IF_ERROR(DropWorktrees(run));
    if (status && *status == "interrupted") return {};
    DOSSIER_ASSIGN_OR_RETURN(const Past past, PastOf(run, folder));
    if (past.began >= options_.older_than) return {};
    // It may be a live run of another home, so only an old one loses its worktrees.
    if (!status) DOSSIER_RETURN_IF_ERROR(DropWorktrees(run));
    bool kept = false;
    for (const fs::path& task : FoldersIn(folder)) {
      const std::string name = task.filename().string();
      if (name == kRecords) continue;
      if (past.waiting.contains(name)) {
        kept = true;
        continue;
      }
      DOSSIER_RETURN_IF_ERROR(DropRefs(fmt::format("refs/dossier/{}/{}/", run, name)));
      DOSSIER_RETURN_IF_ERROR(DropFolder(task));
    }
    return kept ? Status() : DropFolder(folder);
  }

  struct Past {
    Clock::Wall began;
    std::set<std::string> waiting;  // tasks with an approved patch that was not merged
  };

  Result<Past> PastOf(const std::string& run, const fs::path& folder) {
    Past past;
    const auto events = journal_.Events(run);
    if (!events && events.error().code != ErrorCode::kNotFound) {
      return tl::unexpected(events.error());  // it may contain unmerged patches
    }
    if (!events) {
      std::error_code error;
      const auto changed = fs::last_write_time(folder, error);
      past.began = error ? Clock::Wall()
                         : std::chrono::time_point_cast<Clock::Wall::duration>(
                               std::chrono::file_clock::to_sys(changed));
      return past;
    }
    if (!events->empty()) past.began = ParseTime(events->front().time).value_or(Clock::Wall());
    const auto progress = ReadProgress(*events, journal_);
    if (!progress) return tl::unexpected(progress.error());
    for (const auto& [id, task] : progress->progress) {
      const bool merged = TextAt(Json(task.result), "status") == "merged" ||
                          task.stage == TaskProgress::Stage::kMerged || records_.FindMerge(id);
      if (task.approved && !merged) past.waiting.insert(sources::FileNameOfId(id));
    }
    return past;
  }

  Status DropWorktrees(const std::string& run) {
    const std::string records = fmt::format("{}/runs/{}/{}", ground_.state.path(), run, kRecords);
    std::error_code error;
    if (fs::is_empty(records, error) || error) return {};
    report_.removed.push_back("worktrees of " + run);
    return Removes() ? RemoveRecordedWorktrees(ground_.state, run) : Status();
  }

  Status DropFolder(const fs::path& folder) {
    report_.removed.push_back(folder.string());
    report_.bytes += BytesBelow(folder);
    return Removes() ? RemoveTree(folder.string()) : Status();
  }

  Status DropRefs(const std::string& prefix) {
    const Git& git = ground_.git;
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string listed,
        git.Ask(git.Objects(), {.arguments = {"for-each-ref", "--format=%(refname)", prefix}}));
    std::string orders;
    for (const std::string_view ref : Split(TrimSpace(listed), '\n')) {
      if (ref.empty()) continue;
      report_.removed.emplace_back(ref);
      orders += fmt::format("delete {}\n", ref);
    }
    if (orders.empty() || !Removes()) return {};
    return git
        .Ask(git.Objects(), {.arguments = {"update-ref", "--stdin"}, .input = std::move(orders)})
        .transform([](const std::string&) {});
  }

  bool Removes() const { return options_.doing == TidyOptions::Doing::kRemove; }

  const TidyOptions& options_;
  const RunGround& ground_;
  store::Journal& journal_;
  const RunRecords& records_;
  TidyReport report_;
};

}  // namespace

Result<TidyReport> TidyRuns(const TidyOptions& options, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(const RunGround ground, RunGround::Find(ports));
  if (options.doing == TidyOptions::Doing::kRemove) {
    DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, store::Journal::Open(ports.journal_folder));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  RunRecords records(folder);
  DOSSIER_RETURN_IF_ERROR(records.Refresh());
  return Tidying(options, ground, *journal, records).Run();
}

}  // namespace dossier::agents
