#include "recursion/run_log.h"

#include <algorithm>

#include "base/utf8.h"

namespace dossier::recursion {

void RunLog::Start(JsonObject data) {
  std::lock_guard lock(mutex_);
  if (journal_) {
    if (auto run = journal_->StartRun(data)) {
      run_ = *run;
    } else {
      Failed(run.error());
    }
  }
  sink_.OnEvent({run_, ++seq_, FormatTime(clock_->WallNow()), 0, "run.started", std::move(data)});
}

void RunLog::Add(std::int64_t call, std::string_view type, JsonObject data) {
  std::lock_guard lock(mutex_);
  if (journal_ && !broken_) {
    if (Status written = journal_->Append(run_, call, type, data); !written) {
      Failed(written.error());
    }
  }
  sink_.OnEvent(
      {run_, ++seq_, FormatTime(clock_->WallNow()), call, std::string(type), std::move(data)});
}

Json RunLog::Body(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (journal_ && !broken_) {
    if (auto body = journal_->Body(text)) return std::move(*body);
  }
  // Without a store the event keeps the start: enough for whoever watches.
  return JsonObject{
      {"text", text.substr(0, utf8::FloorBoundary(
                                  text, std::min(text.size(), store::Journal::kInlineLimit)))},
      {"bytes", text.size()}};
}

void RunLog::Warn(std::int64_t call, std::string_view code, Json data) {
  {
    std::lock_guard lock(mutex_);
    warnings_.push_back({std::string(code), data});
  }
  Add(call, "warning", {{"code", code}, {"data", std::move(data)}});
}

std::vector<Warning> RunLog::warnings() const {
  std::lock_guard lock(mutex_);
  return warnings_;
}

// Called with the mutex held.
void RunLog::Failed(const Error& error) {
  if (broken_) return;
  broken_ = true;
  warnings_.push_back({"journal_failed", Json(error.message)});
}

}  // namespace dossier::recursion
