#include "ask/run/recorded_run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/json/json.h"

namespace dossier::ask {
namespace {

bool IsAbout(const store::Event& event) {
  return event.type == "run.forked" || event.type == "run.resumed" || event.type == "run.finished";
}

// Reads a text, which is stored as a body if it is long.
Result<std::string> TextOf(store::Journal& journal, const Json& data, std::string_view name) {
  const Json* value = Find(data, name);
  if (!value) return std::string();
  return value->is_string() ? std::string(value->get_string()) : journal.ReadBody(*value);
}

// Returns the data of the events of one type. Others, which may be many and long, are not parsed.
Result<std::vector<Json>> DataOf(store::Journal& journal, const std::string& run,
                                 std::string_view type) {
  std::vector<Json> found;
  DOSSIER_RETURN_IF_ERROR(journal.ForEachEvent(run, [&](const store::StoredEvent& event) -> Status {
    if (event.type != type) return {};
    DOSSIER_ASSIGN_OR_RETURN(Json data, ParseJson(event.data));
    found.push_back(std::move(data));
    return {};
  }));
  return found;
}

Result<ForkEdits> EditsIn(store::Journal& journal, const Json* newest_fork) {
  ForkEdits edits;
  if (!newest_fork) return edits;
  const Json& data = *newest_fork;
  DOSSIER_ASSIGN_OR_RETURN(edits.question, TextOf(journal, data, "question"));
  DOSSIER_ASSIGN_OR_RETURN(edits.code, TextOf(journal, data, "code"));
  edits.model = TextAt(data, "model");
  edits.from = TextAt(data, "from");
  return edits;
}

// Returns the position after the last event of a turn of the root call.
Result<std::size_t> EndOfTurn(const std::vector<store::Event>& events, const std::string& run,
                              std::int64_t turn) {
  std::int64_t newest = 0;
  const auto end = std::find_if(events.begin(), events.end(), [&](const store::Event& event) {
    if (event.type != "turn.started" || event.call != 0) return false;
    newest = FindInt(Json(event.data), "turn").value_or(newest);
    return newest == turn + 1;
  });
  if (turn < 0 || (end == events.end() && newest < turn)) {
    return MakeError(ErrorCode::kNotFound, "run {} has no turn {}; it has {}", run, turn, newest);
  }
  return static_cast<std::size_t>(end - events.begin());
}

}  // namespace

Result<store::Event> StartToTakeUp(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(store::Event started, journal.EventAt(run, 1));
  const Json data(started.data);
  const std::string kind(FindString(data, "kind").value_or("ask"));
  if (kind == "agents" || kind == "research") {
    return MakeError(ErrorCode::kUsage, "`dossier {} resume {}` goes on with this run", kind,
                     kind == "agents" ? run : TextAt(data, "folder"));
  }
  if (kind == "serve") {
    return MakeError(ErrorCode::kUsage,
                     "{} is one request that `dossier serve` passed to a model, so it has no turns "
                     "to go on from; send the request again",
                     run);
  }
  if (kind != "ask") {
    return MakeError(ErrorCode::kUsage,
                     "{} is a run of {}; only those of ask can be taken up again", run, kind);
  }
  if (Find(data, "deleted")) {
    return MakeError(ErrorCode::kNotFound,
                     "the texts of {} were deleted, so it cannot go on; ask again", run);
  }
  if (Find(data, "imported")) {
    return MakeError(ErrorCode::kNotFound,
                     "{} was imported: its context is not here, so it cannot go on; "
                     "`dossier runs show {}` shows what was done",
                     run, run);
  }
  const Json* line = Find(data, "argv");
  if (!line || !line->is_array() || line->get_array().empty()) {
    return MakeError(ErrorCode::kUsage,
                     "{} was begun by a program (`dossier rpc`, Python or the library), which "
                     "alone knows its settings and tools: ask again from that program; "
                     "`dossier runs show {}` shows what was done",
                     run, run);
  }
  return started;
}

Status CheckUnfinished(store::Journal& journal, const std::string& run) {
  constexpr Millis kMoment{500}, kLookAgain{20};
  DOSSIER_ASSIGN_OR_RETURN(std::string status, journal.StatusOf(run));
  // A program that a killed run was just starting holds the run's lock until its exec.
  for (Millis waited{0}; status == "running" && waited < kMoment; waited += kLookAgain) {
    (void)WaitUnlessCancelled(kLookAgain, {});
    DOSSIER_ASSIGN_OR_RETURN(status, journal.StatusOf(run));
  }
  if (status == "interrupted" || status == "failed") return {};
  if (status == "running") {
    return MakeError(ErrorCode::kLocked, "{} is still running, in another process", run);
  }
  return MakeError(ErrorCode::kNotFound,
                   "{} is finished ({}); `dossier runs fork {} --at TURN` goes on from one of its "
                   "turns",
                   run, status, run);
}

Result<std::vector<ContextSource>> RecordedSources(store::Journal& journal, const std::string& run,
                                                   const std::set<std::string>& changed) {
  DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal.EventAt(run, 1));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Json> copies, DataOf(journal, run, "context.stored"));
  std::map<std::string, std::string> stored;
  for (const Json& data : copies) stored[TextAt(data, "name")] = TextAt(data, "sha256");
  const Json* contexts = Find(started.data, "contexts");
  std::vector<ContextSource> sources;
  for (const Json& one : contexts && contexts->is_array() ? contexts->get_array() : JsonArray()) {
    ContextSource source{.path = TextAt(one, "path"), .name = TextAt(one, "name")};
    source.notes = StringsOf(Find(one, "notes"));
    const auto copy = stored.find(source.name);
    const std::string sha256 = copy != stored.end() ? copy->second : TextAt(one, "sha256");
    const bool has_copy = !sha256.empty() && journal.content().Has(sha256);
    const bool is_there = !source.path.empty() && Exists(source.path);
    if (!is_there || (has_copy && changed.contains(source.name))) {
      if (!has_copy) {
        return MakeError(ErrorCode::kNotFound,
                         "the context {} of run {} is not there any more, and no copy of it was "
                         "kept",
                         source.path.empty() ? source.name : source.path, run);
      }
      DOSSIER_ASSIGN_OR_RETURN(source.text, journal.content().Get(sha256));
      source.path.clear();
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<ForkEdits> EditsOf(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Json> forks, DataOf(journal, run, "run.forked"));
  return EditsIn(journal, forks.empty() ? nullptr : &forks.back());
}

Status CheckForkTurn(store::Journal& journal, const std::string& run, std::int64_t turn) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal.Events(run));
  return EndOfTurn(events, run, turn).map([](std::size_t) {});
}

Result<std::string> ForkRun(store::Journal& journal, const std::string& run, std::int64_t turn,
                            const ForkEdits& edits, ForkHeld held) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<store::Event> events, journal.Events(run));
  DOSSIER_ASSIGN_OR_RETURN(const ForkEdits inherited, EditsOf(journal, run));
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t end, EndOfTurn(events, run, turn));
  events.erase(events.begin() + static_cast<std::ptrdiff_t>(end), events.end());
  // The event that ended the run is not part of its last turn.
  std::erase_if(events, [&](const store::Event& event) {
    return IsAbout(event) || (event.type == "answer.accepted" && event.call == 0);
  });
  JsonObject forked{{"from", run}, {"turn", turn}};
  const auto note = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) forked[name] = value;
  };
  note("question", edits.question.empty() ? inherited.question : edits.question);
  note("model", edits.model.empty() ? inherited.model : edits.model);
  note("code", edits.code);
  // Everything that shows or repeats a run takes its question from there.
  if (!edits.question.empty()) events.front().data["question"] = edits.question;
  if (held == ForkHeld::kByNobody) {
    events.push_back({.time = FormatTime(SystemClock()->WallNow()),
                      .type = "run.forked",
                      .data = std::move(forked)});
    return journal.AddRun(events);
  }
  DOSSIER_ASSIGN_OR_RETURN(std::string fork, journal.AddRun(events));
  // Appended separately: the process that appends it holds the run from now on.
  DOSSIER_RETURN_IF_ERROR(journal.Append(fork, 0, "run.forked", std::move(forked)));
  return fork;
}

Result<Requirement> RecordedCheck(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal.Events(run));
  // The command's verdicts in order; an empty one means that it accepted what the citation check
  // after it refused.
  auto verdicts = std::make_shared<std::deque<std::string>>();
  for (const store::Event& event : events) {
    if (event.type != "answer.refused" || event.call != 0) continue;
    const Json data(event.data);
    std::string reason = TextAt(data, "reason");
    if (TextAt(data, "gate") == kCitationsGate) {
      verdicts->emplace_back();
    } else if (TextAt(data, "gate") == kFormGate && reason.starts_with(kCheckSays)) {
      verdicts->push_back(std::move(reason));
    }
  }
  return Requirement{.told = std::string(kToldOfCheck),
                     .complaint = [verdicts](FoundAnswer*, const CancelToken&) {
                       std::string verdict;
                       if (!verdicts->empty()) verdict = std::move(verdicts->front());
                       if (!verdicts->empty()) verdicts->pop_front();
                       return Result<std::string>(std::move(verdict));
                     }};
}

}  // namespace dossier::ask
