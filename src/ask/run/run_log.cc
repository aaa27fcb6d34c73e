#include "ask/run/run_log.h"

#include "base/hash.h"

namespace dossier::ask {

// The watch never fails, and a journal that does is told of by `warnings`.
RunLog::RunLog(std::shared_ptr<store::Journal> journal, EventSink& sink,
               std::shared_ptr<const Clock> clock)
    : sink_(sink),
      log_({.journal = std::move(journal),
            .clock = std::move(clock),
            .watch = [&sink](const store::Event& event) {
              sink.OnEvent(event);
              return Status();
            }}) {}

void RunLog::Start(JsonObject data) { static_cast<void>(log_.Start(std::move(data))); }

void RunLog::Add(std::int64_t call, std::string_view type, JsonObject data) {
  static_cast<void>(log_.Add(type, std::move(data), call));
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
  if (call == 0) {
    std::lock_guard lock(mutex_);
    warnings_.push_back({std::string(code), data});
  }
  Add(call, "warning", {{"code", code}, {"data", std::move(data)}});
}

std::vector<Warning> RunLog::warnings() const {
  std::lock_guard lock(mutex_);
  std::vector<Warning> all = warnings_;
  if (const auto failure = log_.failure()) {
    all.push_back({"journal_failed", Json(failure->message)});
  }
  return all;
}

}  // namespace dossier::ask
