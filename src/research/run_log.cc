#include "research/run_log.h"

#include "base/file.h"
#include "base/hash.h"
#include "store/event_data.h"

namespace dossier::research {
namespace {

constexpr std::string_view kPlace = "place";

std::string MapKey(std::string_view type, std::string_view key) {
  return fmt::format("{} {}", type, key);
}

Result<std::unique_ptr<store::Journal>> OpenJournal(const std::string& folder,
                                                    std::shared_ptr<const Clock> clock) {
  return store::Journal::Open(folder,
                              {.clock = std::move(clock), .file = std::string(RunLog::kFile)});
}

// {"sha256": …, "bytes": …} and nothing else: what the journal puts in the place of a long text.
bool IsBody(const Json& value) {
  const auto* object = value.if_object();
  if (!object || object->size() != 2 || !FindInt(value, "bytes")) return false;
  return IsSha256Hex(FindString(value, "sha256").value_or(""));
}

// A body that is not there stays as it is: whoever reads the text then says what is wrong.
void PutTextsBack(Json& value, store::Journal& journal) {
  if (IsBody(value)) {
    if (auto text = journal.ReadBody(value)) value = *text;
  } else if (auto* object = value.if_object()) {
    for (auto&& member : *object) PutTextsBack(member.value(), journal);
  } else if (auto* array = value.if_array()) {
    for (Json& element : *array) PutTextsBack(element, journal);
  }
}

}  // namespace

RunLog::RunLog(std::string folder, std::unique_ptr<store::Journal> journal,
               std::shared_ptr<const Clock> clock, Watch watch)
    : folder_(std::move(folder)),
      journal_(std::move(journal)),
      clock_(std::move(clock)),
      watch_(std::move(watch)) {}

Result<std::unique_ptr<RunLog>> RunLog::Start(const std::string& folder, JsonObject started,
                                              std::shared_ptr<const Clock> clock, Watch watch) {
  if (!clock) clock = SystemClock();
  DOSSIER_ASSIGN_OR_RETURN(auto journal, OpenJournal(folder, clock));
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal->List({}, 1));
  if (!runs.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} holds the run {} already; `dossier research resume` goes on with it",
                     folder, runs.front().run);
  }
  std::unique_ptr<RunLog> log(new RunLog(folder, std::move(journal), clock, std::move(watch)));
  DOSSIER_RETURN_IF_ERROR(
      store::CleanEventData(started, store::Journal::kInlineLimit, log->journal_->content()));
  DOSSIER_ASSIGN_OR_RETURN(log->run_, log->journal_->StartRun(started));
  store::Event event{.run = log->run_,
                     .seq = 1,
                     .time = FormatTime(clock->WallNow()),
                     .type = "run.started",
                     .data = std::move(started)};
  if (log->watch_) log->watch_(event);
  log->Keep(std::move(event));
  return log;
}

Result<std::unique_ptr<RunLog>> RunLog::Reopen(const std::string& folder,
                                               std::shared_ptr<const Clock> clock, Watch watch) {
  if (!clock) clock = SystemClock();
  const std::string path = fmt::format("{}/{}", folder, kFile);
  if (!Exists(path))
    return MakeError(ErrorCode::kNotFound, "no run in {}: {} is not there", folder, path);
  DOSSIER_ASSIGN_OR_RETURN(auto journal, OpenJournal(folder, clock));
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal->List({}, 1));
  if (runs.empty()) return MakeError(ErrorCode::kNotFound, "{} holds no run", path);
  std::unique_ptr<RunLog> log(new RunLog(folder, std::move(journal), clock, std::move(watch)));
  log->run_ = runs.front().run;
  DOSSIER_ASSIGN_OR_RETURN(auto events, log->journal_->Events(log->run_));
  for (store::Event& event : events) log->Keep(std::move(event));
  return log;
}

// Called with the mutex held, or before anybody else has the log.
void RunLog::Keep(store::Event event) {
  auto kept = std::make_unique<Kept>(Kept{.event = std::move(event)});
  const Json* place = Find(kept->event.data, kPlace);
  if (place && place->is_string()) {
    const auto& key = place->get_string();
    by_key_.try_emplace(MapKey(kept->event.type, {key.data(), key.size()}), kept.get());
  }
  events_.push_back(std::move(kept));
}

const store::Event* RunLog::Recorded(std::string_view type, std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(MapKey(type, key));
  if (found == by_key_.end()) return nullptr;
  Kept& kept = *found->second;
  if (kept.texts == Kept::Texts::kBodies) {
    kept.event.data = Whole(kept.event.data);
    kept.texts = Kept::Texts::kWhole;
  }
  return &kept.event;
}

Status RunLog::Add(std::string_view type, std::string_view key, JsonObject data) {
  if (!key.empty()) data[kPlace] = key;
  DOSSIER_RETURN_IF_ERROR(
      store::CleanEventData(data, store::Journal::kInlineLimit, journal_->content()));
  store::Event event{.run = run_, .type = std::string(type)};
  {
    const std::lock_guard lock(mutex_);
    DOSSIER_RETURN_IF_ERROR(journal_->Append(run_, /*call=*/0, type, data));
    event.seq = static_cast<std::int64_t>(events_.size()) + 1;
    event.time = FormatTime(clock_->WallNow());
    event.data = std::move(data);
    if (!watch_) {
      Keep(std::move(event));
      return {};
    }
    Keep(event);
  }
  watch_(event);
  return {};
}

std::vector<store::Event> RunLog::Events() const {
  const std::lock_guard lock(mutex_);
  std::vector<store::Event> events;
  events.reserve(events_.size());
  for (const auto& kept : events_) events.push_back(kept->event);
  return events;
}

JsonObject RunLog::Whole(const JsonObject& data) const {
  Json value(data);
  PutTextsBack(value, *journal_);
  return std::move(value.get_object());
}

}  // namespace dossier::research
