#include "store/postgres/run_queue.h"

#include <algorithm>

#include "base/random.h"
#include "base/text/ascii.h"
#include "store/event_data.h"
#include "store/postgres/schema.h"

namespace dossier::store {
namespace {

constexpr std::string_view kWork = "dossier_runs", kEvents = "dossier_events";
constexpr std::int64_t kMostFruitless = 3;  // workers in a row without new events
constexpr std::size_t kRowsAtOnce = 1'000;  // PostgreSQL takes at most 65,535 values per statement

// The statement that gives a run to a worker: others waiting for the same row take the next.
constexpr std::string_view kTake =
    "UPDATE runs SET state='running', epoch=epoch+1, worker=$1, result=NULL, "
    "lease_until=now()+$2::text::interval "
    "WHERE id=(SELECT id FROM runs WHERE state='queued' AND not_before<=now() AND "
    "NOT $3::jsonb ? coalesce(request->>'model', '') "
    "ORDER BY priority DESC, created_at, id FOR UPDATE SKIP LOCKED LIMIT 1) "
    "RETURNING id, epoch, attempts, request";
// Only one worker may count at a time: PerOwnerLock.
constexpr std::string_view kTakePerOwner =
    "UPDATE runs SET state='running', epoch=epoch+1, worker=$1, result=NULL, "
    "lease_until=now()+$2::text::interval "
    "WHERE id=(SELECT id FROM runs q WHERE state='queued' AND not_before<=now() AND "
    "NOT $3::jsonb ? coalesce(request->>'model', '') AND "
    "(SELECT count(*) FROM runs r WHERE r.state='running' AND r.owner=q.owner) < $4::bigint "
    "ORDER BY priority DESC, created_at, id FOR UPDATE SKIP LOCKED LIMIT 1) "
    "RETURNING id, epoch, attempts, request";
constexpr std::string_view kPerOwnerLock = "SELECT pg_advisory_xact_lock(7233184988217307460)";

// Every write of a worker begins by locking the row of its claim until the write is done.
constexpr std::string_view kHeld =
    "WITH held AS (SELECT id FROM runs WHERE id=$1 AND worker=$2 AND epoch=$3::bigint "
    "AND state='running' FOR NO KEY UPDATE)";
constexpr std::string_view kOfClaim =
    "WHERE id=$1 AND worker=$2 AND epoch=$3::bigint AND state='running'";

// An event that only records that somebody resumed the run does not count as new.
constexpr std::string_view kTidy =
    "WITH over AS (SELECT id, NOT EXISTS(SELECT FROM events e WHERE e.run=runs.id AND "
    "e.epoch=runs.epoch AND e.type<>'run.resumed') AS idle FROM runs "
    "WHERE state='running' AND lease_until<now() FOR UPDATE SKIP LOCKED) "
    "UPDATE runs SET attempts=attempts+1, worker=NULL, lease_until=NULL, "
    "fruitless=CASE WHEN idle THEN fruitless+1 ELSE 0 END, "
    "state=CASE WHEN idle AND fruitless+1>=$1::int THEN 'failed' ELSE 'queued' END, "
    "result=CASE WHEN idle AND fruitless+1>=$1::int THEN jsonb_build_object('status', 'failed', "
    "'error', jsonb_build_object('message', 'abandoned by '||$1::int::text||' workers')) END "
    "FROM over WHERE runs.id=over.id RETURNING state";
constexpr std::string_view kNextEnd =
    "SELECT (extract(epoch FROM min(lease_until)-now())*1000)::bigint FROM runs "
    "WHERE state='running'";

// The filter of List.
constexpr std::string_view kChosen =
    "WHERE ($1='' OR state=$1) AND ($2::text IS NULL OR owner=$2) AND "
    "($3='' OR to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') "
    ">= $3 COLLATE \"C\") AND "
    "($4='' OR (created_at, id) < (SELECT c.created_at, c.id FROM runs c WHERE c.id=$4)) AND "
    "($5='' OR position(lower($5) in lower(concat_ws(E'\\n', request->>'question', "
    "result->>'answer', id))) > 0)";
constexpr std::string_view kColumns =
    "SELECT id, owner, state, to_char(created_at AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), coalesce(worker, ''), priority, attempts, epoch, "
    "(SELECT coalesce(max(seq), 0) FROM events WHERE run=id), request, result FROM runs ";
constexpr std::string_view kReadRows =
    "SELECT seq, to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), call, "
    "type, data FROM events WHERE run=$1 AND seq>$2::bigint ORDER BY seq";

std::string Interval(Millis time) { return fmt::format("{} milliseconds", time.count()); }

// Like the ids of the journal: the second in which it was made, and random digits.
std::string DrawId() {
  std::string digits;
  for (const char c : FormatTime(SystemClock()->WallNow()).substr(0, 19)) {
    if (c == 'T') digits += '-';
    if (IsDigit(c)) digits += c;
  }
  return fmt::format("{}-{}", digits, RandomHex(8));
}

// The same as DrawId, in SQL.
constexpr std::string_view kIdForm = "id ~ '^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$'";

// jsonb has no U+0000; U+FFFD stands for it, as for other characters that a text cannot hold.
std::string ForJsonb(const Json& value) {
  std::string text = ToJson(value);
  for (std::size_t i = text.find('\\'); i != text.npos; i = text.find('\\', i + 2)) {
    if (text.compare(i, 6, "\\u0000") == 0) text.replace(i, 6, "\\ufffd");
  }
  return text;
}

Result<JsonObject> ObjectOf(std::string_view text, std::string_view what) {
  auto value = ParseJson(text, kMaxEventDepth + 1);
  if (value && value->is_object()) return std::move(value->get_object());
  return MakeError(ErrorCode::kDamaged, "{} in the shared store is not a JSON object", what);
}

tl::unexpected<Error> LostLease(const Claim& claim) {
  return MakeError(kLeaseLost, "the lease of run {} (epoch {}) is over: it is no longer {}'s",
                   claim.run, claim.epoch, claim.worker);
}

QueuedRun RunIn(const PostgresRows& rows, std::size_t row) {
  QueuedRun run{.id = rows.Text(row, 0),
                .owner = rows.Text(row, 1),
                .state = rows.Text(row, 2),
                .created = rows.Text(row, 3),
                .worker = rows.Text(row, 4),
                .priority = rows.Int(row, 5),
                .attempts = rows.Int(row, 6),
                .epoch = rows.Int(row, 7),
                .events = rows.Int(row, 8),
                .request = {},
                .result = {}};
  // A damaged field is left out, so that other rows are still shown.
  run.request = ObjectOf(rows.Text(row, 9), "the request of " + run.id).value_or(JsonObject());
  if (!rows.IsNull(row, 10)) {
    run.result = ParseJson(rows.Text(row, 10), kMaxEventDepth + 1).value_or(Json());
  }
  return run;
}

tl::unexpected<Error> NoSuchRun(std::string_view run) {
  return MakeError(ErrorCode::kNotFound, "no run '{}' in the shared store", run);
}

}  // namespace

std::string ReasonOf(const QueuedRun& run) {
  const Json* error = run.result ? Find(*run.result, "error") : nullptr;
  return error ? TextAt(*error, "message") : "";
}

JsonObject QueuedRunJson(const QueuedRun& run) {
  const Json result = run.result.value_or(Json());
  const std::string ended = HasEnded(run) ? TextAt(result, "status") : "";
  JsonObject out{{"run", run.id},
                 {"owner", run.owner},
                 {"state", run.state},
                 {"status", ended.empty() ? run.state : ended},
                 {"started", run.created},
                 {"priority", run.priority},
                 {"attempts", run.attempts},
                 {"worker", run.worker},
                 {"epoch", run.epoch},
                 {"events", run.events},
                 {"model", TextAt(Json(run.request), "model")},
                 {"question", TextAt(Json(run.request), "question")},
                 {"answer", TextAt(result, "answer")}};
  if (std::string reason = ReasonOf(run); !reason.empty()) out["reason"] = std::move(reason);
  return out;
}

bool IsQueuedRunId(std::string_view id) {
  constexpr std::string_view kForm = "dddddddd-dddddd-xxxxxxxx";  // a digit, itself, a hex digit
  return std::ranges::equal(id, kForm, [](char c, char form) {
    if (form == '-') return c == '-';
    return IsDigit(c) || (form == 'x' && c >= 'a' && c <= 'f');
  });
}

Result<std::unique_ptr<RunQueue>> RunQueue::Open(std::string address) {
  DOSSIER_ASSIGN_OR_RETURN(auto connection, PostgresConnection::Open(std::move(address)));
  DOSSIER_RETURN_IF_ERROR(PrepareSchema(*connection));
  return std::make_unique<RunQueue>(std::move(connection));
}

Result<std::string> RunQueue::Put(const RunRequest& request) {
  const std::string id = DrawId();
  DOSSIER_RETURN_IF_ERROR(connection_->Run(
      "WITH put AS (INSERT INTO runs(id, owner, state, priority, request) "
      "VALUES($1, $2, 'queued', $3::int, $4::jsonb) RETURNING id) "
      "SELECT pg_notify('dossier_runs', id) FROM put",
      {id, request.owner, std::int64_t{request.priority}, ForJsonb(request.request)}));
  return id;
}

Result<PostgresRows> RunQueue::TakeRow(std::string_view worker, const TakeOptions& options) {
  const std::string lease = Interval(options.lease);
  const std::string without = ToJson(options.without_models);
  if (!options.per_owner) return connection_->RunPrepared("take", kTake, {worker, lease, without});
  DOSSIER_RETURN_IF_ERROR(connection_->Begin());
  const auto taken = [&]() -> Result<PostgresRows> {
    DOSSIER_RETURN_IF_ERROR(connection_->Run(kPerOwnerLock));
    return connection_->RunPrepared("take_per_owner", kTakePerOwner,
                                    {worker, lease, without, *options.per_owner});
  }();
  if (!taken) {
    connection_->Rollback();
    return taken;
  }
  DOSSIER_RETURN_IF_ERROR(connection_->Commit());
  return taken;
}

Result<std::optional<Claim>> RunQueue::Take(std::string_view worker, const TakeOptions& options) {
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows, TakeRow(worker, options));
    if (rows.empty()) return std::nullopt;
    Claim claim{.run = rows.Text(0, 0),
                .worker = std::string(worker),
                .epoch = rows.Int(0, 1),
                .attempts = rows.Int(0, 2),
                .request = {}};
    auto request = ObjectOf(rows.Text(0, 3), "the request of " + claim.run);
    if (request && IsQueuedRunId(claim.run)) {
      claim.request = std::move(*request);
      return claim;
    }
    // Not put there by dossier. It ends at once, so that it delays neither others nor itself.
    DOSSIER_RETURN_IF_ERROR(FailBad(
        claim, request ? "its id has not the form of a queued run's" : request.error().message));
  }
}

Status RunQueue::FailBad(const Claim& claim, std::string_view why) {
  const Status failed = Finish(
      claim, "failed", JsonObject{{"status", "failed"}, {"error", JsonObject{{"message", why}}}});
  if (!failed && failed.error().code != kLeaseLost) return failed;
  return {};
}

Status RunQueue::Renew(const Claim& claim, Millis lease) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      connection_->Run(
          fmt::format("UPDATE runs SET lease_until=now()+$4::text::interval {}", kOfClaim),
          {claim.run, claim.worker, claim.epoch, Interval(lease)}));
  if (rows.changed() == 0) return LostLease(claim);
  return {};
}

Status RunQueue::Append(const Claim& claim, std::span<const EventRow> events) {
  while (!events.empty()) {
    const auto some = events.first(std::min(events.size(), kRowsAtOnce));
    events = events.subspan(some.size());
    std::vector<PostgresValue> values{claim.run, claim.worker, claim.epoch};
    std::string rows;
    for (const EventRow& event : some) {
      const std::size_t n = values.size();
      rows += fmt::format("{}(${}::bigint,${}::timestamptz,${}::bigint,${}::text,${}::json)",
                          rows.empty() ? "" : ",", n + 1, n + 2, n + 3, n + 4, n + 5);
      values.insert(values.end(), {event.seq, event.time, event.call, event.type, event.data});
    }
    DOSSIER_ASSIGN_OR_RETURN(
        const PostgresRows held,
        connection_->Run(
            fmt::format("{}, put AS (INSERT INTO events(run, epoch, seq, time, call, type, data) "
                        "SELECT held.id, $3::bigint, e.* FROM held, (VALUES {}) AS e "
                        "ON CONFLICT(run, seq) DO UPDATE SET call=EXCLUDED.call "
                        "WHERE events.epoch=EXCLUDED.epoch AND events.type=EXCLUDED.type AND "
                        "events.call=EXCLUDED.call AND events.data::text=EXCLUDED.data::text "
                        "RETURNING seq) "
                        "SELECT pg_notify('dossier_events', id), (SELECT count(*) FROM put) "
                        "FROM held",
                        kHeld, rows),
            values));
    if (held.empty()) return LostLease(claim);
    if (held.Int(0, 1) != static_cast<std::int64_t>(some.size())) {
      return MakeError(kLeaseLost, "somebody else wrote events of run {} (epoch {})", claim.run,
                       claim.epoch);
    }
  }
  return {};
}

Status RunQueue::Finish(const Claim& claim, std::string_view state, const Json& result) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows held,
      connection_->Run(
          // If only the reply was lost, the row is as this claim wrote it.
          fmt::format("WITH ended AS (UPDATE runs SET state=$4, result=$5::jsonb, lease_until=NULL "
                      "{} RETURNING id) SELECT pg_notify('dossier_events', id)::text FROM ended "
                      "UNION ALL SELECT '' FROM runs WHERE id=$1 AND worker=$2 AND "
                      "epoch=$3::bigint AND state=$4 AND result=$5::jsonb",
                      kOfClaim),
          {claim.run, claim.worker, claim.epoch, state, ForJsonb(result)}));
  if (held.empty()) return LostLease(claim);
  return {};
}

Status RunQueue::GiveBack(const Claim& claim, const std::optional<Json>& why) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows held,
      connection_->Run(
          fmt::format(
              "WITH back AS (UPDATE runs SET state='queued', worker=NULL, lease_until=NULL, "
              "result=$4::jsonb {} RETURNING id) SELECT pg_notify('dossier_runs', id)::text "
              "FROM back UNION ALL SELECT '' FROM runs WHERE id=$1 AND worker IS NULL AND "
              "epoch=$3::bigint AND state='queued' AND result IS NOT DISTINCT FROM $4::jsonb",
              kOfClaim),
          {claim.run, claim.worker, claim.epoch,
           why ? PostgresValue(ForJsonb(*why)) : PostgresValue::Null()}));
  if (held.empty()) return LostLease(claim);
  return {};
}

Result<bool> RunQueue::Cancel(std::string_view run) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      connection_->Run("WITH ended AS (UPDATE runs SET state='cancelled', worker=NULL, "
                       "lease_until=NULL, result='{\"status\":\"interrupted\"}' WHERE id=$1 AND "
                       "state IN ('queued','running') RETURNING id) "
                       "SELECT pg_notify('dossier_events', id) FROM ended",
                       {run}));
  if (!rows.empty()) return true;
  DOSSIER_RETURN_IF_ERROR(Get(run));
  return false;
}

Result<bool> RunQueue::PutAgain(std::string_view run, const JsonObject& changes) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      connection_->Run("WITH again AS (UPDATE runs SET state='queued', worker=NULL, "
                       "lease_until=NULL, result=NULL, fruitless=0, request=request||$2::jsonb "
                       "WHERE id=$1 AND state IN ('failed','cancelled') RETURNING id) "
                       "SELECT pg_notify('dossier_runs', id), pg_notify('dossier_events', id) "
                       "FROM again",
                       {run, ForJsonb(Json(changes))}));
  if (!rows.empty()) return true;
  DOSSIER_RETURN_IF_ERROR(Get(run));
  return false;
}

Result<Tidied> RunQueue::Tidy() {
  DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows, connection_->Run(kTidy, {kMostFruitless}));
  Tidied tidied;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    ++(rows.Text(row, 0) == "failed" ? tidied.given_up : tidied.put_back);
  }
  if (tidied.put_back > 0) {
    DOSSIER_RETURN_IF_ERROR(connection_->Run("SELECT pg_notify('dossier_runs', '')"));
  }
  if (tidied.given_up > 0) {
    DOSSIER_RETURN_IF_ERROR(connection_->Run("SELECT pg_notify('dossier_events', '')"));
  }
  DOSSIER_ASSIGN_OR_RETURN(const PostgresRows next, connection_->Run(kNextEnd));
  if (!next.IsNull(0, 0)) tidied.next = Millis(next.Int(0, 0));
  return tidied;
}

Status RunQueue::NoteWorker(std::string_view worker, std::string_view version, std::int64_t slots) {
  // The host is the part of the id before its last two parts.
  DOSSIER_RETURN_IF_ERROR(
      connection_->Run("INSERT INTO workers(id, host, version, slots) "
                       "VALUES($1, regexp_replace($1, '-[0-9]+-[0-9a-f]+$', ''), $2, $3::int) "
                       "ON CONFLICT(id) DO UPDATE SET seen_at=now()",
                       {worker, version, slots}));
  return {};
}

Result<QueuedRuns> RunQueue::List(const ListWish& wish) {
  const std::vector<PostgresValue> chosen{wish.state, PostgresValue::OrNull(wish.owner), wish.since,
                                          wish.before, wish.text};
  std::vector<PostgresValue> values = chosen;
  const auto limit = static_cast<std::int64_t>(wish.limit);
  values.emplace_back(limit + 1);  // one more shows whether there are more
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      connection_->Run(fmt::format("{} {} AND {} ORDER BY created_at DESC, id DESC "
                                   "LIMIT $6::bigint",
                                   kColumns, kChosen, kIdForm),
                       values));
  QueuedRuns out;
  for (std::size_t row = 0; row < std::min(rows.size(), wish.limit); ++row) {
    out.runs.push_back(RunIn(rows, row));
  }
  out.left_out = rows.size() > wish.limit ? 1 : 0;
  if (out.left_out == 0 || wish.left_out == ListWish::LeftOut::kOnlyWhether) return out;
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows all,
      connection_->Run(fmt::format("SELECT count(*) FROM runs {} AND {}", kChosen, kIdForm),
                       chosen));
  out.left_out = std::max<std::int64_t>(all.Int(0, 0) - limit, 1);
  return out;
}

Result<QueuedRun> RunQueue::Get(std::string_view run) {
  if (!IsQueuedRunId(run)) return NoSuchRun(run);
  DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows,
                           connection_->Run(fmt::format("{} WHERE id=$1", kColumns), {run}));
  if (rows.empty()) return NoSuchRun(run);
  return RunIn(rows, 0);
}

Result<std::string> RunQueue::Resolve(std::string_view prefix) {
  const bool newest = prefix == Journal::kNewest;
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      connection_->Run(fmt::format("SELECT id FROM runs WHERE starts_with(id, $1) AND {} "
                                   "ORDER BY id=$1 DESC, created_at DESC, id DESC LIMIT 2",
                                   kIdForm),
                       {newest ? std::string_view() : prefix}));
  if (rows.empty()) {
    return MakeError(ErrorCode::kNotFound,
                     "no run '{}' in the shared store; `dossier runs list --store URL` shows those "
                     "there are",
                     prefix);
  }
  if (rows.size() > 1 && !newest && rows.Text(0, 0) != prefix) {
    return MakeError(ErrorCode::kNotFound, "'{}' stands for several runs: {}, {}, …", prefix,
                     rows.Text(0, 0), rows.Text(1, 0));
  }
  return rows.Text(0, 0);
}

Status RunQueue::ForEachEvent(std::string_view run, std::int64_t after,
                              const Journal::SeeEvent& see) {
  if (!IsQueuedRunId(run)) return NoSuchRun(run);
  DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows, connection_->Run(kReadRows, {run, after}));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string time = rows.Text(row, 1), type = rows.Text(row, 3), data = rows.Text(row, 4);
    DOSSIER_RETURN_IF_ERROR(see({.seq = rows.Int(row, 0),
                                 .time = time,
                                 .call = rows.Int(row, 2),
                                 .type = type,
                                 .data = data}));
  }
  return {};
}

Result<std::vector<Event>> RunQueue::Events(std::string_view run, std::int64_t after) {
  std::vector<Event> events;
  DOSSIER_RETURN_IF_ERROR(ForEachEvent(run, after, [&](const StoredEvent& stored) -> Status {
    Event event{.run = std::string(run),
                .seq = stored.seq,
                .time = std::string(stored.time),
                .call = stored.call,
                .type = std::string(stored.type),
                .data = {}};
    DOSSIER_ASSIGN_OR_RETURN(event.data,
                             ObjectOf(stored.data, fmt::format("event {} of {}", event.seq, run)));
    events.push_back(std::move(event));
    return {};
  }));
  return events;
}

Status RunQueue::ListenOnce(std::string_view channel) {
  if (listens_ == channel) return {};
  DOSSIER_RETURN_IF_ERROR(connection_->Listen(channel));
  listens_ = channel;
  return {};
}

Result<bool> RunQueue::WaitForWork(Millis most, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(ListenOnce(kWork));
  DOSSIER_ASSIGN_OR_RETURN(const auto notices, connection_->Wait(most, cancel));
  return !notices.empty();
}

Result<std::vector<std::string>> RunQueue::WaitForEvents(Millis most, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(ListenOnce(kEvents));
  return connection_->Wait(most, cancel);
}

}  // namespace dossier::store
