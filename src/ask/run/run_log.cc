#include "ask/run/run_log.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/utf8.h"

namespace dossier::ask {

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

Json RunLog::Messages(const assembly::Messages& messages) {
  JsonArray list;
  const auto add = [&](std::string_view role, const std::string& text) {
    const std::string hash = Sha256Hex(fmt::format("{}\n{}", role, text));
    std::int64_t number = 0;
    bool known = false;
    {
      std::lock_guard lock(mutex_);
      const auto next = static_cast<std::int64_t>(told_.size()) + 1;
      const auto [place, added] = told_.emplace(hash, next);
      number = place->second;
      known = !added;
    }
    if (known) {
      list.push_back(Json(number));
    } else {
      list.push_back(JsonObject{{"n", number}, {"role", role}, {"body", Body(text)}});
    }
  };
  if (!messages.system.empty()) add("system", messages.SystemText());
  for (const assembly::Turn& turn : messages.turns) {
    add(assembly::RoleName(turn.role), turn.Text());
  }
  return list;
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

}  // namespace dossier::ask
