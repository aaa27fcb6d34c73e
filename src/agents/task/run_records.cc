#include "agents/task/run_records.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <tuple>

#include "agents/task/log_line.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr std::string_view kEnding = ".jsonl";

// Statuses of tasks that were not worked on to an end.
constexpr std::string_view kOpen[] = {"skipped", "blocked", "interrupted", "budget"};

TaskRecord TaskRecordOf(const Json& line) {
  TaskRecord record{.status = TextAt(line, "status"), .reason = TextAt(line, "reason")};
  if (const Json* merge = Find(line, "merge")) record.commit = TextAt(*merge, "commit");
  record.digest = TextAt(line, "task-digest");
  record.timestamp = FindInt(line, "timestamp").value_or(0);
  return record;
}

std::int64_t MillisOf(std::string_view time) {
  const auto parsed = ParseTime(time);
  if (!parsed) return 0;
  return std::chrono::duration_cast<Millis>(parsed->time_since_epoch()).count();
}

// Adds one event of a log to its task's record.
void TakeIn(const ParsedEvent& line, LoggedRun* record,
            std::map<std::string, std::string>* digests) {
  const Json value(line.data);
  const std::string task = TextAt(value, "task-id");
  if (line.event == "task.claimed") (*digests)[task] = TextAt(value, "task-digest");
  if (line.event == "merge.done") {
    record->merges.insert_or_assign(task, TaskRecord{.status = "merged",
                                                     .reason = "",
                                                     .commit = TextAt(value, "commit"),
                                                     .digest = (*digests)[task],
                                                     .timestamp = MillisOf(line.time)});
  }
  if (line.event != "task.finished") return;
  const TaskRecord last = TaskRecordOf(value);
  if (last.status == "merged") record->merges.insert_or_assign(task, last);
  record->tasks.insert_or_assign(task, last);
}

// Returns when the run of a log began.
Clock::Wall BeginOf(const std::string& path) {
  std::string line;
  if (std::ifstream log(path); std::getline(log, line)) {
    if (const auto first = ParseLogLine(line)) {
      if (const auto time = ParseTime(first->time)) return *time;
      if (const auto ms = FindInt(Json(first->data), "timestamp")) return Clock::Wall(Millis(*ms));
    }
  }
  struct stat info{};
  static_cast<void>(stat(path.c_str(), &info));
  return Clock::Wall(std::chrono::seconds(info.st_mtim.tv_sec));
}

}  // namespace

std::string NewestRunLog(const std::vector<std::string>& logs) {
  std::string newest;
  Clock::Wall begin{};
  for (const std::string& log : logs) {
    const Clock::Wall its = BeginOf(log);
    if (!newest.empty() && std::tie(its, log) < std::tie(begin, newest)) continue;
    newest = log;
    begin = its;
  }
  return newest;
}

Result<LoggedRun> ReadRunLog(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  LoggedRun record{.file = path.substr(path.rfind('/') + 1)};
  record.run = record.file.substr(0, record.file.size() - kEnding.size());
  std::map<std::string, std::string> digests;  // of the claimed tasks
  for (const std::string_view line : Split(text, '\n')) {
    if (TrimSpace(line).empty()) continue;
    const auto parsed = ParseLogLine(line);
    if (!parsed) {
      ++record.skipped_lines;
      continue;
    }
    record.finished |= parsed->event == "run.finished";
    if (parsed->event == "run.resumed") record.finished = false;
    TakeIn(*parsed, &record, &digests);
  }
  for (const auto& [id, task] : record.tasks) ++record.counts[task.status];
  return record;
}

std::vector<std::string> RunLogFiles(const std::string& folder) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  if (!listing) return paths;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(kEnding) && !name.starts_with('.')) {
      paths.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status RunRecords::Refresh() {
  for (const std::string& path : RunLogFiles(folder_)) {
    struct stat info{};
    if (stat(path.c_str(), &info) != 0) continue;
    Known& known = logs_[path];
    const std::int64_t mtime = NanosSinceEpoch(info.st_mtim);
    if (known.size == info.st_size && known.mtime_ns == mtime) continue;
    DOSSIER_ASSIGN_OR_RETURN(known.record, ReadRunLog(path));
    known.size = info.st_size;
    known.mtime_ns = mtime;
  }
  return {};
}

std::optional<RunRecords::Found> RunRecords::FindMerge(std::string_view task) const {
  std::optional<Found> newest;
  for (const auto& [path, log] : logs_) {
    const auto found = log.record.merges.find(task);
    if (found == log.record.merges.end()) continue;
    if (!newest || newest->record.timestamp <= found->second.timestamp) {
      newest = Found{log.record.run, found->second};
    }
  }
  return newest;
}

std::optional<RunRecords::Found> RunRecords::FindSince(std::string_view task, std::string_view own,
                                                       std::int64_t since) const {
  for (const auto& [path, log] : logs_) {
    if (log.record.run == own) continue;
    const auto found = log.record.tasks.find(task);
    if (found == log.record.tasks.end() || found->second.timestamp < since) continue;
    const bool open =
        std::find(std::begin(kOpen), std::end(kOpen), found->second.status) != std::end(kOpen);
    if (!open) return Found{log.record.run, found->second};
  }
  return std::nullopt;
}

}  // namespace dossier::agents
