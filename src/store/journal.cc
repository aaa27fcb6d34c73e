#include "store/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "store/event_data.h"
#include "store/journal_file.h"
#include "store/sqlite.h"

namespace dossier::store {
namespace {

constexpr std::uint64_t kAnswerPreview = 200;  // code points (RunSummary)
constexpr std::string_view kRunning = "running", kInterrupted = "interrupted";
constexpr std::size_t kCandidates = 5;
constexpr int kIdAttempts = 8;
// A log up to this size is left to the next start, which reads it in about a millisecond.
constexpr off_t kLogKept = 1 << 20;  // bytes

// The part of a text that a list of runs shows.
std::string Preview(std::string_view text) {
  return std::string(utf8::Prefix(FirstLine(text), kAnswerPreview));
}

// The statement that stores the event also takes its number: with SQLite's single writer, numbers
// have no gaps however many processes append.
constexpr std::string_view kInsertEvent =
    "INSERT INTO events(run_id, seq, time, call, type, data) "
    "SELECT id, COALESCE((SELECT MAX(seq) FROM events WHERE run_id = runs.id), 0) + 1, ?, ?, ?, ? "
    "FROM runs WHERE run = ?";
constexpr std::string_view kInsertRun =
    "INSERT INTO runs(run, started, status, question, model, answer) "
    "VALUES(?, ?, 'running', ?, ?, '') ON CONFLICT(run) DO NOTHING";
// ?2: one event; NULL: all.
constexpr std::string_view kReadEvents =
    "SELECT seq, time, call, type, data FROM events "
    "WHERE run_id = (SELECT id FROM runs WHERE run = ?1) "
    "AND seq BETWEEN coalesce(?2, 1) AND coalesce(?2, 9223372036854775807) ORDER BY seq";
constexpr std::string_view kUpdateRun = "UPDATE runs SET status = ?, answer = ? WHERE run = ?";

// "20261121-233643-7f3a2c": ids sort by the second in which their runs started.
std::string MakeRunId(const Clock& clock) {
  const std::string time = FormatTime(clock.WallNow());
  std::string digits;
  for (const char c : std::string_view(time).substr(0, 19)) {
    if (c == 'T') digits += '-';
    if (IsDigit(c)) digits += c;
  }
  return fmt::format("{}-{}", digits, RandomHex(6));
}

// The run's main model: "model", or "root" of "models", or its first name.
std::string ModelOf(const JsonObject& data) {
  const Json* model = Find(data, "model");
  if (const Json* models = Find(data, "models"); !model && models) {
    model = Find(*models, "root");
    if (const auto* object = models->if_object(); !model && object && !object->empty()) {
      model = &object->begin()->value();
    }
    if (models->is_string()) model = models;
  }
  if (!model || !model->is_string()) return {};
  return std::string(model->get_string().data(), model->get_string().size());
}

class SqliteJournal final : public Journal {
 public:
  SqliteJournal(std::string path, JournalOptions options, std::unique_ptr<ContentStore> content,
                LiveRuns live, Database writer)
      : path_(std::move(path)),
        options_(std::move(options)),
        content_(std::move(content)),
        live_(std::move(live)),
        writer_(std::move(writer)) {}

  ~SqliteJournal() override {
    struct stat log{};
    if (stat((path_ + "-wal").c_str(), &log) == 0 && log.st_size > kLogKept) {
      static_cast<void>(
          writer_.EmptyLog(Database::LogInUse::kLeaveIt));  // on failure the next close does it
    }
  }

  Status Prepare() {
    const std::pair<std::optional<Statement>*, std::string_view> statements[] = {
        {&insert_event_, kInsertEvent}, {&insert_run_, kInsertRun}, {&update_run_, kUpdateRun}};
    for (const auto& [statement, sql] : statements) {
      DOSSIER_ASSIGN_OR_RETURN(*statement, writer_.Prepare(sql));
    }
    return {};
  }

  Result<std::string> StartRun(JsonObject data) override {
    DOSSIER_RETURN_IF_ERROR(CleanEventData(data, kInlineLimit, *content_));
    const std::string question = Preview(TextOf(Find(data, "question")));
    const std::string model = ModelOf(data);
    const std::string json = ToJson(Json(std::move(data)));

    const std::lock_guard lock(write_mutex_);
    const std::string time = FormatTime(options_.clock->WallNow());
    auto stored = [&]() -> Result<std::string> {
      DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(writer_));
      DOSSIER_ASSIGN_OR_RETURN(std::string run, InsertRun(time, question, model));
      DOSSIER_RETURN_IF_ERROR(InsertEvent(run, time, 0, "run.started", json));
      live_.Hold(run);  // before anybody can see the run
      DOSSIER_RETURN_IF_ERROR(transaction.Commit());
      return run;
    }();
    if (!stored) return NotWritten(stored.error(), "run.started", json.size());
    return stored;
  }

  Result<std::string> AddRun(std::span<const Event> events) override {
    if (events.empty() || events.front().type != "run.started") {
      return MakeError(ErrorCode::kInvalidArgument, "a run begins with run.started");
    }
    std::vector<std::string> rows;
    RunState state{.status = std::string(kRunning)};
    std::string question, model;
    for (const Event& event : events) {
      JsonObject data = event.data;
      DOSSIER_RETURN_IF_ERROR(CleanEventData(data, kInlineLimit, *content_));
      if (auto after = StateAfter(event.type, data)) state = std::move(*after);
      if (rows.empty()) {  // after the redaction
        question = Preview(TextOf(Find(data, "question")));
        model = ModelOf(data);
      }
      rows.push_back(ToJson(Json(std::move(data))));
    }
    const std::lock_guard lock(write_mutex_);
    auto stored = [&]() -> Result<std::string> {
      DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(writer_));
      DOSSIER_ASSIGN_OR_RETURN(std::string run,
                               InsertRun(FormatTime(options_.clock->WallNow()), question, model));
      for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        DOSSIER_RETURN_IF_ERROR(InsertEvent(run, event.time, event.call, event.type, rows[i]));
      }
      DOSSIER_RETURN_IF_ERROR(update_run_
                                  ->With(std::string_view(state.status),
                                         std::string_view(state.answer), std::string_view(run))
                                  .Done());
      DOSSIER_RETURN_IF_ERROR(transaction.Commit());
      return run;
    }();
    if (!stored) return NotWritten(stored.error(), "run.started", rows.front().size());
    return stored;
  }

  Status Append(std::string_view run, std::int64_t call, std::string_view type,
                JsonObject data) override {
    DOSSIER_RETURN_IF_ERROR(CleanEventData(data, kInlineLimit, *content_));
    const std::optional<RunState> state = StateAfter(type, data);
    const std::string json = ToJson(Json(std::move(data)));

    const std::lock_guard lock(write_mutex_);
    const std::string time = FormatTime(options_.clock->WallNow());
    if (state && state->status == kRunning) live_.Hold(run);
    const Status stored = state ? InsertWithState(run, time, call, type, json, *state)
                                : InsertEvent(run, time, call, type, json);
    if (!stored) return NotWritten(stored.error(), type, json.size());
    if (state && state->status != kRunning) live_.Drop(run);
    return {};
  }

  Result<Json> Body(std::string_view text) override {
    return MakeBody(CleanText(text), kInlineLimit, *content_);
  }

  Result<std::string> ReadBody(const Json& body) override {
    if (const auto text = FindString(body, "text")) return std::string(*text);
    if (const auto why = WhyLeftOut(body); !why.empty()) {
      return MakeError(ErrorCode::kNotFound, "{}", why);
    }
    if (const auto sha256 = FindString(body, "sha256")) return content_->Get(*sha256);
    return MakeError(ErrorCode::kInvalidArgument, "not a body of the journal: {}",
                     utf8::Prefix(ToJson(body), 80));
  }

  Result<std::vector<RunSummary>> List(std::optional<std::string> status,
                                       std::size_t limit) override {
    std::vector<RunSummary> runs;
    if (limit == 0) return runs;
    // Some runs that are stored as running are not, so the number of rows needed is only known
    // while reading.
    const bool filtered = status == kRunning || status == kInterrupted;
    DOSSIER_RETURN_IF_ERROR(
        ForNewest(filtered ? INT32_MAX : limit, std::move(status), [&](RunSummary run) {
          runs.push_back(std::move(run));
          return runs.size() < limit;
        }));
    return runs;
  }

  Status ForEachRun(std::optional<std::string> status, const SeeRun& see) override {
    return ForNewest(INT32_MAX, std::move(status), see);
  }

  Result<std::string> StatusOf(std::string_view run) override {
    const std::lock_guard lock(read_mutex_);
    DOSSIER_ASSIGN_OR_RETURN(Statement query, PrepareRead("SELECT status FROM runs WHERE run = ?"));
    DOSSIER_ASSIGN_OR_RETURN(const bool found, query.With(run).Step());
    if (!found) return NoSuchRun(run);
    return StatusNow(run, query.Text(0));
  }

  Result<std::string> Resolve(std::string_view prefix) override {
    if (prefix.empty()) return MakeError(ErrorCode::kUsage, "an empty run id");
    if (prefix == kNewest) return Newest();
    DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> found, WithPrefix(prefix));
    for (const std::string& run : found) {
      if (run == prefix) return run;
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) {
      return MakeError(ErrorCode::kNotFound,
                       "no run '{}'; `dossier runs list` shows the runs there are", prefix);
    }
    const bool more = found.size() > kCandidates;
    if (more) found.resize(kCandidates);
    return MakeError(ErrorCode::kNotFound, "'{}' stands for several runs: {}{}", prefix,
                     Join(found, ", "), more ? ", …" : "");
  }

  Result<std::vector<std::string>> RunsStartedWith(
      const std::map<std::string, std::string>& fields) override {
    const std::lock_guard lock(read_mutex_);
    DOSSIER_ASSIGN_OR_RETURN(
        Statement query, PrepareRead("SELECT run, data FROM runs JOIN events "
                                     "ON run_id = id AND seq = 1 ORDER BY started DESC, id DESC"));
    std::vector<std::string> runs;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return runs;
      const std::string run = query.Text(0);
      DOSSIER_ASSIGN_OR_RETURN(JsonObject data, ParseData(run, 1, query.Text(1)));
      const Json json(std::move(data));
      const bool fits = std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
        return FindString(json, field.first) == field.second;
      });
      if (fits) runs.push_back(run);
    }
  }

  Result<std::vector<Event>> Events(std::string_view run) override {
    std::vector<Event> events;
    DOSSIER_RETURN_IF_ERROR(ForEachEvent(run, [&](const StoredEvent& stored) -> Status {
      DOSSIER_ASSIGN_OR_RETURN(Event event, Parse(run, stored));
      events.push_back(std::move(event));
      return {};
    }));
    return events;
  }

  Status ForEachEvent(std::string_view run, const SeeEvent& see) override {
    const std::lock_guard lock(read_mutex_);
    DOSSIER_ASSIGN_OR_RETURN(Statement query, PrepareRead(kReadEvents));
    query.With(run, std::nullopt);
    std::size_t seen = 0;
    for (;; ++seen) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      DOSSIER_RETURN_IF_ERROR(See(query, see));
    }
    if (seen == 0) return NoSuchRun(run);
    return {};
  }

  Result<Event> EventAt(std::string_view run, std::int64_t seq) override {
    const std::lock_guard lock(read_mutex_);
    if (!event_at_) {
      DOSSIER_ASSIGN_OR_RETURN(event_at_, PrepareRead(kReadEvents));
    }
    Event event;
    DOSSIER_ASSIGN_OR_RETURN(const bool row, event_at_->With(run, seq).Step());
    if (!row) {
      event_at_->Reset();
      return MakeError(ErrorCode::kNotFound, "no event {} of run '{}' in the journal", seq, run);
    }
    const Status seen = See(*event_at_, [&](const StoredEvent& stored) -> Status {
      DOSSIER_ASSIGN_OR_RETURN(event, Parse(run, stored));
      return {};
    });
    event_at_->Reset();  // else it would keep an old state of the file
    if (!seen) return tl::unexpected(seen.error());
    return event;
  }

  Result<std::size_t> EraseTexts(std::span<const std::string> runs) override {
    // Its own connection, so that appends meanwhile wait only for its short transactions.
    DOSSIER_ASSIGN_OR_RETURN(Database db, OpenJournalDatabase(path_));
    // Overwritten text must not stay in free pages of the file or in its log.
    DOSSIER_RETURN_IF_ERROR(db.Execute("PRAGMA secure_delete = ON"));
    std::set<std::string> bodies;
    for (const std::string& run : runs) DOSSIER_RETURN_IF_ERROR(EraseRun(db, run, &bodies));
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t removed, RemoveUnnamed(db, std::move(bodies)));
    DOSSIER_RETURN_IF_ERROR(db.EmptyLog(Database::LogInUse::kWait));
    return removed;
  }

  ContentStore& content() override { return *content_; }

 private:
  // Calls `see` with up to `most` rows of the status, newest first, until it returns false.
  Status ForNewest(std::size_t most, std::optional<std::string> status, const SeeRun& see) {
    const std::lock_guard lock(read_mutex_);
    DOSSIER_ASSIGN_OR_RETURN(
        Statement query,
        PrepareRead("SELECT run, started, status, question, model, answer, "
                    "(SELECT MAX(seq) FROM events WHERE run_id = runs.id), "
                    "COALESCE((SELECT CASE WHEN json_valid(data) THEN "
                    "COALESCE(json_extract(data, '$.kind'), 'ask') END "
                    "FROM events WHERE run_id = runs.id AND seq = 1), '?') FROM runs "
                    "WHERE ?1 = '' OR status = ?1 OR (?1 = 'interrupted' AND status = 'running') "
                    "ORDER BY started DESC, id DESC LIMIT ?2"));
    const std::string wanted = status.value_or("");
    query.With(std::string_view(wanted), std::min<std::size_t>(most, INT32_MAX));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return {};
      RunSummary run{.run = query.Text(0),
                     .started = query.Text(1),
                     .question = query.Text(3),
                     .model = query.Text(4),
                     .events = query.Int(6),
                     .answer = query.Text(5),
                     .kind = query.Text(7)};
      DOSSIER_ASSIGN_OR_RETURN(run.status, StatusNow(run.run, query.Text(2)));
      if (!wanted.empty() && run.status != wanted) continue;
      if (!see(std::move(run))) return {};
    }
  }

  Status EraseRun(Database& db, std::string_view run, std::set<std::string>* bodies) {
    DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
    DOSSIER_ASSIGN_OR_RETURN(
        Statement query,
        db.Prepare("SELECT seq, data FROM events "
                   "WHERE run_id = (SELECT id FROM runs WHERE run = ?) ORDER BY seq"));
    query.With(run);
    std::vector<std::pair<std::int64_t, std::string>> erased;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      DOSSIER_ASSIGN_OR_RETURN(const JsonObject data, ParseData(run, query.Int(0), query.Text(1)));
      Erased event = EraseTextsOf(data);
      if (erased.empty()) event.data["deleted"] = true;  // in run.started, it tells all readers
      bodies->insert(event.bodies.begin(), event.bodies.end());
      erased.emplace_back(query.Int(0), ToJson(Json(std::move(event.data))));
    }
    DOSSIER_ASSIGN_OR_RETURN(
        Statement update,
        db.Prepare("UPDATE events SET data = ? "
                   "WHERE run_id = (SELECT id FROM runs WHERE run = ?) AND seq = ?"));
    for (const auto& [seq, json] : erased) {
      DOSSIER_RETURN_IF_ERROR(update.With(std::string_view(json), run, seq).Done());
    }
    DOSSIER_ASSIGN_OR_RETURN(Statement summary,
                             db.Prepare("UPDATE runs SET question = ?, answer = '' WHERE run = ?"));
    DOSSIER_RETURN_IF_ERROR(summary.With(kDeleted, run).Done());
    return transaction.Commit();
  }

  // Removes bodies that no event names; a memo using one only loses its result (Memo). Last check
  // and removal are one transaction, so no event naming a body comes in between. A body put since
  // the erased runs ended is left to whoever is about to name it.
  Result<std::size_t> RemoveUnnamed(Database& db, std::set<std::string> bodies) {
    std::map<std::string, std::int64_t> seen;
    DOSSIER_RETURN_IF_ERROR(KeepNamed(db, &seen, &bodies));  // all events, while others append
    DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
    DOSSIER_RETURN_IF_ERROR(KeepNamed(db, &seen, &bodies));  // events appended meanwhile
    DOSSIER_ASSIGN_OR_RETURN(
        Statement query,
        db.Prepare("SELECT MAX(started, (SELECT time FROM events WHERE run_id = runs.id "
                   "ORDER BY seq DESC LIMIT 1)) AS ended FROM runs WHERE question = ? "
                   "ORDER BY ended DESC LIMIT 1"));
    DOSSIER_RETURN_IF_ERROR(query.With(kDeleted).Step());
    const Clock::Wall ended = ParseTime(query.Text(0)).value_or(Clock::Wall());
    std::size_t removed = 0;
    for (const std::string& sha256 : bodies) {
      // Times of events are truncated to milliseconds.
      DOSSIER_ASSIGN_OR_RETURN(const bool gone,
                               content_->RemoveUnlessPutSince(sha256, ended + Millis(1)));
      removed += gone ? 1 : 0;
    }
    return removed;
  }

  // Removes from `bodies` those that an event names, looking at the events of each run after those
  // already `seen`.
  static Status KeepNamed(Database& db, std::map<std::string, std::int64_t>* seen,
                          std::set<std::string>* bodies) {
    DOSSIER_ASSIGN_OR_RETURN(Statement runs, db.Prepare("SELECT id, run FROM runs"));
    DOSSIER_ASSIGN_OR_RETURN(
        Statement events,
        db.Prepare("SELECT seq, data FROM events WHERE run_id = ? AND seq > ? ORDER BY seq"));
    while (!bodies->empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const bool run, runs.Step());
      if (!run) break;
      std::int64_t& last = (*seen)[runs.Text(1)];
      events.With(runs.Int(0), last);
      while (true) {
        DOSSIER_ASSIGN_OR_RETURN(const bool event, events.Step());
        if (!event) break;
        last = events.Int(0);
        ForEachHash(events.View(1),
                    [&](std::string_view hash) { bodies->erase(std::string(hash)); });
      }
    }
    return {};
  }

  struct RunState {
    std::string status, answer;
  };

  // Returns the real state of a run that the journal stores as `stored`.
  Result<std::string> StatusNow(std::string_view run, std::string stored) {
    if (stored != kRunning) return stored;
    if (!others_) {  // its own descriptor: the locks of live_ do not exclude live_ itself
      DOSSIER_ASSIGN_OR_RETURN(
          others_, LiveRuns::Open(path_ + std::string(kLiveSuffix), AccessTo(path_)));
    }
    return std::string(others_->IsHeld(run) ? kRunning : kInterrupted);
  }

  // Returns the new state for the run list if an event of `type` changes it.
  std::optional<RunState> StateAfter(std::string_view type, const JsonObject& data) {
    if (type == "run.resumed" || type == "run.forked")
      return RunState{.status = std::string(kRunning)};
    if (type != "run.finished") return std::nullopt;
    const Json* status = Find(data, "status");
    return RunState{
        .status = status && status->is_string() ? TextOf(status) : std::string("finished"),
        .answer = Preview(TextOf(Find(data, "answer")))};
  }

  // Returns the text of a string or a body; empty for anything else.
  std::string TextOf(const Json* value) {
    if (!value) return {};
    if (const auto* text = value->if_string()) return std::string(text->data(), text->size());
    return ReadBody(*value).value_or("");
  }

  Result<std::string> InsertRun(std::string_view time, std::string_view question,
                                std::string_view model) {
    std::string run;
    for (int attempt = 0; attempt < kIdAttempts; ++attempt) {
      run = options_.make_id ? options_.make_id() : MakeRunId(*options_.clock);
      DOSSIER_RETURN_IF_ERROR(
          insert_run_->With(std::string_view(run), time, question, model).Done());
      if (writer_.changes() == 1) return run;
    }
    return MakeError(ErrorCode::kInternal, "run id {} is taken", run);
  }

  Status InsertEvent(std::string_view run, std::string_view time, std::int64_t call,
                     std::string_view type, std::string_view json) {
    DOSSIER_RETURN_IF_ERROR(insert_event_->With(time, call, type, json, run).Done());
    if (writer_.changes() == 0) return NoSuchRun(run);
    return {};
  }

  Status InsertWithState(std::string_view run, std::string_view time, std::int64_t call,
                         std::string_view type, std::string_view json, const RunState& state) {
    DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(writer_));
    DOSSIER_RETURN_IF_ERROR(InsertEvent(run, time, call, type, json));
    DOSSIER_RETURN_IF_ERROR(
        update_run_->With(std::string_view(state.status), std::string_view(state.answer), run)
            .Done());
    return transaction.Commit();
  }

  tl::unexpected<Error> NotWritten(const Error& error, std::string_view type,
                                   std::size_t bytes) const {
    if (error.code == ErrorCode::kNotFound) return tl::unexpected(error);
    return MakeError(error.code, "{} bytes of event {} could not be written to {}: {}", bytes, type,
                     path_, error.message);
  }

  static tl::unexpected<Error> NoSuchRun(std::string_view run) {
    return MakeError(ErrorCode::kNotFound, "no run '{}' in the journal", run);
  }

  Result<Statement> PrepareRead(std::string_view sql) {
    if (!reader_) {
      DOSSIER_ASSIGN_OR_RETURN(reader_, OpenJournalDatabase(path_));
    }
    return reader_->Prepare(sql);
  }

  Result<std::string> Newest() {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<RunSummary> runs, List(std::nullopt, 1));
    if (runs.empty()) return MakeError(ErrorCode::kNotFound, "there are no runs yet");
    return runs.front().run;
  }

  Result<std::vector<std::string>> WithPrefix(std::string_view prefix) {
    const std::lock_guard lock(read_mutex_);
    DOSSIER_ASSIGN_OR_RETURN(Statement query,
                             PrepareRead("SELECT run FROM runs WHERE run >= ?1 AND run < ?2 "
                                         "ORDER BY run = ?1 DESC, id DESC LIMIT ?3"));
    // No id holds the last code point, so every id with the prefix sorts before `end`.
    const std::string end = std::string(prefix) + "\xF4\x8F\xBF\xBF";
    query.With(prefix, std::string_view(end), kCandidates + 1);
    std::vector<std::string> found;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return found;
      found.push_back(query.Text(0));
    }
  }

  static Status See(const Statement& row, const SeeEvent& see) {
    return see({.seq = row.Int(0),
                .time = row.View(1),
                .call = row.Int(2),
                .type = row.View(3),
                .data = row.View(4)});
  }

  Result<Event> Parse(std::string_view run, const StoredEvent& stored) {
    DOSSIER_ASSIGN_OR_RETURN(JsonObject data, ParseData(run, stored.seq, stored.data));
    return Event{.run = std::string(run),
                 .seq = stored.seq,
                 .time = std::string(stored.time),
                 .call = stored.call,
                 .type = std::string(stored.type),
                 .data = std::move(data)};
  }

  Result<JsonObject> ParseData(std::string_view run, std::int64_t seq, std::string_view text) {
    auto value = ParseJson(text, kMaxEventDepth + 1);
    if (!value || !value->is_object()) {
      return MakeError(ErrorCode::kDamaged, "{}: event {} of run {} is not a JSON object", path_,
                       seq, run);
    }
    return std::move(value->get_object());
  }

  const std::string path_;
  const JournalOptions options_;
  const std::unique_ptr<ContentStore> content_;
  const LiveRuns live_;     // the runs of this object
  std::mutex write_mutex_;  // guards writer_ and its statements
  Database writer_;
  std::optional<Statement> insert_event_, insert_run_, update_run_;
  std::mutex read_mutex_;              // guards reader_: a long listing must not delay a run
  std::optional<Database> reader_;     // opened by the first read: a run needs none
  std::optional<Statement> event_at_;  // of reader_
  std::optional<LiveRuns> others_;     // the same
};

}  // namespace

Status SyncJournal(const std::string& folder) {
  const std::string log = folder + "/journal.db-wal";
  const UniqueFd fd(open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || fdatasync(fd.get()) != 0) return MakeErrnoError(errno, "sync " + log);
  return {};
}

Result<std::unique_ptr<Journal>> Journal::Open(const std::string& folder, JournalOptions options) {
  if (!options.clock) options.clock = SystemClock();
  const std::string path = folder + "/" + options.file;
  const JournalAccess access = AccessTo(path);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  DOSSIER_RETURN_IF_ERROR(RefuseNetworkFileSystem(folder));
  DOSSIER_ASSIGN_OR_RETURN(LiveRuns live, LiveRuns::Open(path + std::string(kLiveSuffix), access));
  live.Join();  // before anything is stored: PruneRuns spares what may belong to somebody
  DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<ContentStore> content, ContentStore::Open(folder));
  DOSSIER_ASSIGN_OR_RETURN(Database writer, OpenJournalDatabase(path));
  auto journal = std::make_unique<SqliteJournal>(path, std::move(options), std::move(content),
                                                 std::move(live), std::move(writer));
  DOSSIER_RETURN_IF_ERROR(journal->Prepare());
  return journal;
}

JsonObject SummaryJson(const RunSummary& run) {
  return {{"run", run.run},       {"kind", run.kind},         {"started", run.started},
          {"status", run.status}, {"question", run.question}, {"model", run.model},
          {"events", run.events}, {"answer", run.answer}};
}

JsonObject EventJson(const Event& event) {
  return {{"run", event.run},   {"seq", event.seq},   {"time", event.time},
          {"call", event.call}, {"type", event.type}, {"data", event.data}};
}

}  // namespace dossier::store
