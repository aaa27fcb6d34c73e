// The queue of runs that several machines share, and each run's journal: who is next, who is at
// work, what was recorded, and the result.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto queue, RunQueue::Open("postgresql:///dossier"));
//   DOSSIER_ASSIGN_OR_RETURN(std::string run, queue->Put({.owner = "ann", .request = request}));
//   DOSSIER_ASSIGN_OR_RETURN(auto claim, queue->Take("box-1", {.lease =
//   std::chrono::seconds(60)})); if (claim) DOSSIER_RETURN_IF_ERROR(queue->Append(*claim, events));
//   // kLeaseLost: stop DOSSIER_RETURN_IF_ERROR(queue->Finish(*claim, "done", outcome));
//
// A worker owns a run while its lease lasts, and renews it. Every write of a worker checks the
// worker and the epoch of its claim in the same transaction: a write from a claim that was taken
// over is refused. Only the database's clock decides when a lease is over. Errors: kLeaseLost;
// those of PostgresConnection. Thread-safety: one owner.

#ifndef DOSSIER_STORE_POSTGRES_RUN_QUEUE_H_
#define DOSSIER_STORE_POSTGRES_RUN_QUEUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "store/journal.h"
#include "store/postgres/connection.h"

namespace dossier::store {

// The run now belongs to another worker or to nobody. Nothing else here is kLocked.
inline constexpr ErrorCode kLeaseLost = ErrorCode::kLocked;

struct RunRequest {
  std::string owner;
  int priority = 0;  // higher ones first
  JsonObject request;
};

// A run that a worker has claimed.
struct Claim {
  std::string run, worker;
  std::int64_t epoch = 0, attempts = 0;  // attempts: earlier leases that expired
  JsonObject request;
};

struct TakeOptions {
  Millis lease{60'000};
  std::optional<std::int64_t> per_owner;  // concurrent runs of one owner
  JsonArray without_models;  // runs that name one of these are left; "": that name none
};

// A row of the table of runs.
struct QueuedRun {
  std::string id, owner, state, created, worker;
  std::int64_t priority = 0, attempts = 0, epoch = 0, events = 0;
  JsonObject request;
  std::optional<Json> result;
};

// The states of a run, as lists show and filter them.
inline constexpr std::string_view kQueueStates[] = {"queued", "running", "done", "failed",
                                                    "cancelled"};
inline bool HasEnded(const QueuedRun& run) {
  return run.state != "queued" && run.state != "running";
}
// Returns why the run waits or failed; "" if unknown.
std::string ReasonOf(const QueuedRun& run);
// The format of `dossier runs list --store --json` and serve. `status`: how it ended, as for local
// runs; its state if it has not ended.
JsonObject QueuedRunJson(const QueuedRun& run);

// Selects the rows of List, newest first.
struct ListWish {
  std::size_t limit = 20;
  std::string state;                 // "": all
  std::optional<std::string> owner;  // unset: all
  std::string since;                 // leaves out runs queued earlier (UTC, as `created`)
  std::string before;                // a run's id: only older runs
  std::string text;                  // must occur in question, answer or id, ignoring case
  // Counting reads every row. kOnlyWhether: 1 stands for any number above 0.
  enum class LeftOut : std::uint8_t { kCounted, kOnlyWhether } left_out = LeftOut::kCounted;
};
struct QueuedRuns {
  std::vector<QueuedRun> runs;
  std::int64_t left_out = 0;  // older runs beyond the limit
};

// What Tidy did, and when to call it again.
struct Tidied {
  std::int64_t put_back = 0, given_up = 0;
  std::optional<Millis> next;  // time until the next lease ends; unset: no run is at work
};

// An event as its row stores it: `data` is JSON text, kept byte for byte.
struct EventRow {
  std::int64_t seq = 0;
  std::string time;
  std::int64_t call = 0;
  std::string type, data;
};

// Returns true if `id` has the form that Put makes. Rows with other ids are foreign: they are not
// shown, and fail when they are taken.
bool IsQueuedRunId(std::string_view id);

class RunQueue {
 public:
  // Creates missing tables.
  static Result<std::unique_ptr<RunQueue>> Open(std::string address);
  explicit RunQueue(std::unique_ptr<PostgresConnection> connection)
      : connection_(std::move(connection)) {}

  // Queues the run and wakes the workers; returns its id.
  Result<std::string> Put(const RunRequest& request);
  // Claims the next run that may begin, if there is one. Damaged ones before it fail.
  Result<std::optional<Claim>> Take(std::string_view worker, const TakeOptions& options);
  Status Renew(const Claim& claim, Millis lease);
  // Appends numbered rows. Identical existing rows are skipped, so a write whose outcome is unknown
  // may be repeated. If other rows have their numbers, the lease counts as lost.
  Status Append(const Claim& claim, std::span<const EventRow> events);
  // `state`: done, failed or cancelled. Repeating the same call is no error, so it may be repeated
  // if its outcome is unknown; the same holds for GiveBack.
  Status Finish(const Claim& claim, std::string_view state, const Json& result);
  // Puts the run back for the next worker to continue. `why`: its row shows this while it waits.
  Status GiveBack(const Claim& claim, const std::optional<Json>& why = std::nullopt);
  // Cancels the run, also if a worker has it. Returns false if it has ended. Errors: kNotFound.
  Result<bool> Cancel(std::string_view run);
  // Queues a failed or cancelled run again, for a worker to continue; `changes` replaces these
  // fields of its request. Returns false for any other state. Errors: kNotFound.
  Result<bool> PutAgain(std::string_view run, const JsonObject& changes);
  // Puts back runs whose lease is over; fails one at the third in a row without new events.
  Result<Tidied> Tidy();
  Status NoteWorker(std::string_view worker, std::string_view version, std::int64_t slots);

  Result<QueuedRuns> List(const ListWish& wish);
  // Errors: kNotFound.
  Result<QueuedRun> Get(std::string_view run);
  // Returns the id that begins with `prefix`; `last`: the newest. Errors: kNotFound.
  Result<std::string> Resolve(std::string_view prefix);
  // Returns the events after number `after`; none if the run has none yet.
  Result<std::vector<Event>> Events(std::string_view run, std::int64_t after = 0);
  // The same, unparsed; as Journal::ForEachEvent.
  Status ForEachEvent(std::string_view run, std::int64_t after, const Journal::SeeEvent& see);

  // Waits until a run may have become free for a worker.
  Result<bool> WaitForWork(Millis most, const CancelToken& cancel);
  // Waits for new events or states of runs. Returns the runs' ids, "" for any; none: timeout.
  Result<std::vector<std::string>> WaitForEvents(Millis most, const CancelToken& cancel);

  PostgresConnection& connection() { return *connection_; }

 private:
  Result<PostgresRows> TakeRow(std::string_view worker, const TakeOptions& options);
  Status FailBad(const Claim& claim, std::string_view why);
  Status ListenOnce(std::string_view channel);

  std::unique_ptr<PostgresConnection> connection_;
  std::string listens_;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_RUN_QUEUE_H_
