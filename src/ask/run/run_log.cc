#include "ask/run/run_log.h"

#include "base/hash.h"

namespace dossier::ask {

// The observer never fails; a journal failure is reported in `warnings`.
AskLog::AskLog(std::shared_ptr<store::Journal> journal, EventSink& sink,
               std::shared_ptr<const Clock> clock, std::shared_ptr<Replay> replay, Writes writes)
    : sink_(sink),
      journal_(std::move(journal)),
      log_({.journal = journal_,
            .clock = std::move(clock),
            .watch =
                [&sink](const store::Event& event) {
                  sink.OnEvent(event);
                  return Status();
                }}),
      replay_(std::move(replay)),
      writes_(writes) {
  if (!replay_) return;
  log_.Resume(replay_->started().run, replay_->last_seq());
  told_ = replay_->messages();
  for (const auto& [hash, number] : told_) last_told_ = std::max(last_told_, number);
}

void AskLog::Start(JsonObject data) {
  if (!replay_) static_cast<void>(log_.Start(std::move(data)));
}

void AskLog::Continue(std::string_view type, JsonObject data) { Write(0, type, std::move(data)); }

void AskLog::Add(std::int64_t call, std::string_view type, JsonObject data) {
  using Kind = Replay::Taken::Kind;
  const Replay::Taken taken = replay_ ? replay_->Take(call, type, data) : Replay::Taken();
  if (taken.kind == Kind::kRecorded) return NoteUntold(data);
  if (taken.kind == Kind::kDiverged) {
    const JsonObject how{{"at", taken.at}, {"expected", taken.expected}, {"got", taken.got}};
    Write(call, "replay.diverged", how);
    Warn(call, "replay_diverged",
         Json(fmt::format("event {} came out otherwise ({} was expected, {} came); the run is live "
                          "from there",
                          taken.at, taken.expected, taken.got)));
  }
  Write(call, type, std::move(data));
}

// A fork's question, or another version's prompt, is in no recorded event.
void AskLog::NoteUntold(const JsonObject& data) {
  for (const char* field : {"messages", "system"}) {
    const Json* list = Find(data, field);
    for (const Json& one : list && list->is_array() ? list->get_array() : JsonArray()) {
      const auto number = FindInt(one, "n");
      std::lock_guard lock(mutex_);
      if (number) untold_.insert(*number);
    }
  }
}

void AskLog::Write(std::int64_t call, std::string_view type, JsonObject data) {
  if (writes_ == Writes::kAll) static_cast<void>(log_.Add(type, std::move(data), call));
}

std::optional<JsonObject> AskLog::Reuse(std::int64_t call, std::string_view type,
                                        std::string_view of) {
  return replay_ ? replay_->Reuse(call, type, of) : std::nullopt;
}

Result<std::string> AskLog::ReadBody(const Json* body) const {
  if (!journal_ || !body) return MakeError(ErrorCode::kNotFound, "no such text in the journal");
  return journal_->ReadBody(*body);
}

void AskLog::AddSent(std::int64_t call, JsonObject data, std::string_view key,
                     const assembly::Messages& messages) {
  std::lock_guard lock(telling_);
  data[key] = Messages(messages);
  Add(call, "request.sent", std::move(data));
}

Json AskLog::Listed(const assembly::Messages& messages, Telling telling) {
  JsonArray list;
  const auto add = [&](std::string_view role, const std::string& text) {
    const std::string hash = Sha256Hex(fmt::format("{}\n{}", role, text));
    std::int64_t number = 0;
    bool known = false;
    {
      std::lock_guard lock(mutex_);
      const auto earlier = told_.find(hash);
      const bool added = earlier == told_.end();
      if (!added) number = earlier->second;
      if (telling == Telling::kNames) {
        known = !added && !untold_.contains(number);
      } else {
        if (added) told_[hash] = number = ++last_told_;
        known = !added && untold_.erase(number) == 0;
      }
    }
    if (known) {
      list.push_back(Json(number));
    } else if (telling == Telling::kNames) {
      list.push_back(JsonObject{{"role", role}, {"body", Body(text)}});
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

void AskLog::Warn(std::int64_t call, std::string_view code, Json data) {
  if (call == 0) {
    std::lock_guard lock(mutex_);
    warnings_.push_back({std::string(code), data});
  }
  Add(call, "warning", {{"code", code}, {"data", std::move(data)}});
}

std::vector<Warning> AskLog::warnings() const {
  std::lock_guard lock(mutex_);
  std::vector<Warning> all = warnings_;
  if (const auto failure = log_.failure()) {
    all.push_back({"journal_failed", Json(failure->message)});
  }
  return all;
}

}  // namespace dossier::ask
