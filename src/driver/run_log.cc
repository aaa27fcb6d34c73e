#include "driver/run_log.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/utf8.h"
#include "store/event_data.h"

namespace dossier::driver {

Status RunLog::Start(JsonObject data) {
  return Record("run.started", std::move(data), 0, [this](const JsonObject& kept) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(run_, setting_.journal->StartRun(kept));
    return {};
  });
}

void RunLog::Resume(std::string run, std::int64_t events) {
  std::lock_guard lock(mutex_);
  run_ = std::move(run);
  seq_ = events;
}

Status RunLog::Add(std::string_view type, JsonObject data, std::int64_t call) {
  return Record(type, std::move(data), call, [this, type, call](const JsonObject& kept) {
    return setting_.journal->Append(run_, call, type, kept);
  });
}

Status RunLog::Record(std::string_view type, JsonObject data, std::int64_t call,
                      const std::function<Status(const JsonObject& data)>& write) {
  std::lock_guard lock(mutex_);
  const bool ends = setting_.failure == RunLogSetting::Failure::kEnds;
  const auto keep = [&]() -> Status {
    if (setting_.seen == RunLogSetting::Seen::kAsKept) {
      DOSSIER_RETURN_IF_ERROR(
          store::CleanEventData(data, store::Journal::kInlineLimit, setting_.journal->content()));
    }
    return write(data);
  };
  if (keeps()) {
    if (const Status kept = keep(); !kept) failure_ = kept.error();
  }
  // If a body cannot be stored, such a run ends with the next event.
  if (ends && failure_) return tl::unexpected(*failure_);
  ++seq_;
  if (!setting_.watch) return {};
  return setting_.watch({.run = run_,
                         .seq = seq_,
                         .time = FormatTime(setting_.clock->WallNow()),
                         .call = call,
                         .type = std::string(type),
                         .data = std::move(data)});
}

Json RunLog::Body(std::string_view text) {
  if (setting_.bodies == RunLogSetting::Bodies::kLeftOut) {
    return JsonObject{{"sha256", Sha256Hex(text)}, {"bytes", text.size()}, {"left_out", true}};
  }
  std::lock_guard lock(mutex_);
  if (keeps()) {
    auto body = setting_.journal->Body(text);
    if (body) return std::move(*body);
    failure_ = body.error();
  }
  // Without a store the event holds the start: enough for a watcher.
  const std::size_t most = std::min(text.size(), store::Journal::kInlineLimit);
  return JsonObject{{"text", text.substr(0, utf8::FloorBoundary(text, most))},
                    {"bytes", text.size()}};
}

std::string RunLog::run() const {
  std::lock_guard lock(mutex_);
  return run_;
}

std::optional<Error> RunLog::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace dossier::driver
