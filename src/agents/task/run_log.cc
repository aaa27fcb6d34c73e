#include "agents/task/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agents/task/log_line.h"
#include "base/files/append_file.h"
#include "base/random.h"
#include "base/text/ascii.h"
#include "store/event_data.h"
#include "store/journal.h"

namespace dossier::agents {
namespace {

constexpr std::string_view kSynced[] = {"run.started",  "patch.taken", "approval.accepted",
                                        "merge.intent", "merge.done",  "task.finished"};
constexpr int kIdAttempts = 8;
constexpr unsigned kLogMode = 0600;
constexpr std::size_t kMaxLineDepth = store::kMaxEventDepth + 1;

bool IsSynced(std::string_view event) {
  return std::find(std::begin(kSynced), std::end(kSynced), event) != std::end(kSynced);
}

// Makes "run-20260117-100000-3fa2c1" from "2026-01-17T10:00:00.123Z".
std::string MakeRunId(std::string_view time) {
  std::string digits;
  for (const char c : time.substr(0, 19)) {
    if (c == 'T') digits += '-';
    if (IsDigit(c)) digits += c;
  }
  return fmt::format("run-{}-{}", digits, RandomHex(6));
}

std::string LogPath(const std::string& folder, std::string_view run) {
  return fmt::format("{}/{}.jsonl", folder, run);
}

// Hides the given secrets in every string of `value`.
void HideIn(const SecretValues& secrets, Json* value) {
  if (auto* text = value->if_string()) {
    *text = secrets.Hide({text->data(), text->size()});
  } else if (auto* list = value->if_array()) {
    for (Json& one : *list) HideIn(secrets, &one);
  } else if (auto* object = value->if_object()) {
    for (auto& entry : *object) HideIn(secrets, &entry.value());
  }
}

}  // namespace

class AgentLog::StampClock final : public Clock {
 public:
  Steady Now() const override { return SystemClock()->Now(); }
  Wall WallNow() const override { return now_; }
  void Set(Wall now) { now_ = now; }

 private:
  Wall now_{};
};

Result<std::unique_ptr<AgentLog>> AgentLog::Start(RunLogPlaces places, JsonObject data) {
  auto stamp = std::make_shared<StampClock>();
  std::unique_ptr<AgentLog> log(new AgentLog(std::move(places), stamp));
  const std::string& folder = log->places_.runs_folder;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  stamp->Set(log->places_.clock->WallNow());
  const std::string time = FormatTime(stamp->WallNow());
  // Creating the file reserves the id: runs may begin in the same second, on several machines.
  for (int attempt = 0; !log->file_.valid(); ++attempt) {
    log->run_ = MakeRunId(time);
    log->path_ = LogPath(folder, log->run_);
    log->file_ = UniqueFd(
        open(log->path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, kLogMode));
    if (!log->file_.valid() && (errno != EEXIST || attempt == kIdAttempts)) {
      return MakeErrnoError(errno, log->path_);
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(
      auto journal,
      store::Journal::Open(log->places_.journal_folder,
                           {.clock = stamp, .make_id = [run = log->run_] { return run; }}));
  log->Open(std::move(journal));
  DOSSIER_RETURN_IF_ERROR(log->log_->Start(log->WithoutSecrets(std::move(data))));
  return log;
}

Result<std::unique_ptr<AgentLog>> AgentLog::Reopen(RunLogPlaces places, std::string_view run,
                                                   std::vector<store::Event>* events) {
  auto stamp = std::make_shared<StampClock>();
  std::unique_ptr<AgentLog> log(new AgentLog(std::move(places), stamp));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(log->places_.runs_folder, 0700));
  DOSSIER_ASSIGN_OR_RETURN(auto journal,
                           store::Journal::Open(log->places_.journal_folder, {.clock = stamp}));
  log->Open(std::move(journal));
  log->run_ = run;
  log->path_ = LogPath(log->places_.runs_folder, run);
  DOSSIER_RETURN_IF_ERROR(RepairLog(*log->journal_, run, log->path_));
  DOSSIER_ASSIGN_OR_RETURN(*events, log->journal_->Events(run));
  log->log_->Resume(log->run_, events->back().seq);
  DOSSIER_ASSIGN_OR_RETURN(log->file_, OpenForAppend(log->path_, kLogMode));
  return log;
}

// The line is written after the event is in the journal, in the journal's form.
void AgentLog::Open(std::unique_ptr<store::Journal> journal) {
  journal_ = std::move(journal);
  log_.emplace(
      driver::RunLogSetting{.journal = journal_,
                            .clock = stamp_,
                            .watch = [this](const store::Event& event) { return WriteLine(event); },
                            .failure = driver::RunLogSetting::Failure::kEnds,
                            .seen = driver::RunLogSetting::Seen::kAsKept});
}

JsonObject AgentLog::WithoutSecrets(JsonObject data) const {
  for (auto& entry : data) HideIn(places_.secrets, &entry.value());
  return data;
}

Status AgentLog::Add(std::string_view event, std::string_view task, JsonObject data) {
  JsonObject whole;
  if (!task.empty()) whole["task-id"] = task;
  for (auto& [key, value] : data) whole.emplace(key, std::move(value));
  whole = WithoutSecrets(std::move(whole));
  const std::lock_guard lock(mutex_);
  stamp_->Set(places_.clock->WallNow());
  return log_->Add(event, std::move(whole));
}

Status AgentLog::WriteLine(const store::Event& event) {
  const bool synced = IsSynced(event.type);
  if (synced) DOSSIER_RETURN_IF_ERROR(store::SyncJournal(places_.journal_folder));
  // Uses the form that the journal returns: numbers may lose their last digit there.
  store::Event read = event;
  DOSSIER_ASSIGN_OR_RETURN(Json data, ParseJson(ToJson(Json(event.data)), kMaxLineDepth));
  read.data = std::move(data.get_object());
  const std::string line = LogLine(read);
  if (Status written = WriteAll(file_.get(), line); !written) {
    return MakeError(written.error().code, "{} bytes of {} are missing in {}: {}", line.size(),
                     event.type, path_, written.error().message);
  }
  if (synced && fdatasync(file_.get()) != 0) return MakeErrnoError(errno, "sync " + path_);
  if (places_.watch) places_.watch(event);
  return {};
}

Result<bool> RepairLog(store::Journal& journal, std::string_view run, const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal.Events(run));
  std::string text;
  for (const store::Event& event : events) text += LogLine(event);
  if (const auto there = ReadFile(path); there && *there == text) return false;
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, text, kLogMode));
  return true;
}

}  // namespace dossier::agents
