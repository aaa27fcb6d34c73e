// The queue of runs that several machines share, and the journal of each: whose turn it is, who is
// at work, what was recorded, what came of it.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto queue, RunQueue::Open("postgresql:///dossier"));
//   DOSSIER_ASSIGN_OR_RETURN(std::string run, queue->Put({.owner = "ann", .request = request}));
//   DOSSIER_ASSIGN_OR_RETURN(auto claim, queue->Take("box-1", {.lease =
//   std::chrono::seconds(60)})); if (claim) DOSSIER_RETURN_IF_ERROR(queue->Append(*claim, events));
//   // kLeaseLost: stop DOSSIER_RETURN_IF_ERROR(queue->Finish(*claim, "done", outcome));
//
// A worker has a run for the time of its lease, which it renews. Every write of a worker names the
// worker and the epoch of its claim in the same transaction: what comes from a claim that was taken
// over is refused. Only the database's clock decides when a lease is over.
// Errors: kLeaseLost; those of PostgresConnection. Thread-safety: one owner.

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

// The run is another worker's by now, or nobody's. Nothing else here is kLocked.
inline constexpr ErrorCode kLeaseLost = ErrorCode::kLocked;

struct RunRequest {
  std::string owner;
  int priority = 0;  // higher ones first
  JsonObject request;
};

// A run in the hands of a worker.
struct Claim {
  std::string run, worker;
  std::int64_t epoch = 0, attempts = 0;  // attempts: leases that ran out before
  JsonObject request;
};

struct TakeOptions {
  Millis lease{60'000};
  std::optional<std::int64_t> per_owner;  // runs of one owner at work at once
  JsonArray without_models;  // runs that name one of these are left; "": that name none
};

// A row of the table of runs.
struct QueuedRun {
  std::string id, owner, state, created, worker;
  std::int64_t priority = 0, attempts = 0, epoch = 0, events = 0;
  JsonObject request;
  std::optional<Json> result;
};

// The states of a run, as lists show and choose them.
inline constexpr std::string_view kQueueStates[] = {"queued", "running", "done", "failed",
                                                    "cancelled"};
inline bool HasEnded(const QueuedRun& run) {
  return run.state != "queued" && run.state != "running";
}
// Why it waits or failed; "": nothing is known.
std::string ReasonOf(const QueuedRun& run);
// As `dossier runs list --store --json` and serve show it. `status`: how it ended, as of one's own
// runs; the state of one that has not.
JsonObject QueuedRunJson(const QueuedRun& run);

// Which rows List gives, newest first.
struct ListWish {
  std::size_t limit = 20;
  std::string state;                 // "": all
  std::optional<std::string> owner;  // unset: all
  std::string since;                 // not those that were put earlier (UTC, as `created`)
  std::string before;                // the id of a run: only older ones
  std::string text;                  // that question, answer or id hold, in any case
  // Counting looks at every row. kOnlyWhether: 1 stands for any number.
  enum class LeftOut : std::uint8_t { kCounted, kOnlyWhether } left_out = LeftOut::kCounted;
};
struct QueuedRuns {
  std::vector<QueuedRun> runs;
  std::int64_t left_out = 0;  // older ones that the limit left no place for
};

// What Tidy did, and when it should be called again.
struct Tidied {
  std::int64_t put_back = 0, given_up = 0;
  std::optional<Millis> next;  // until the next lease ends; unset: nobody is at work
};

// An event as its row holds it: `data` is JSON text, kept byte for byte.
struct EventRow {
  std::int64_t seq = 0;
  std::string time;
  std::int64_t call = 0;
  std::string type, data;
};

// Whether `id` is of the form that Put makes. Rows with any other are somebody else's: they are not
// shown, and fail when they are taken.
bool IsQueuedRunId(std::string_view id);

class RunQueue {
 public:
  // Makes the tables where there are none.
  static Result<std::unique_ptr<RunQueue>> Open(std::string address);
  explicit RunQueue(std::unique_ptr<PostgresConnection> connection)
      : connection_(std::move(connection)) {}

  // Queues it and wakes the workers; returns its id.
  Result<std::string> Put(const RunRequest& request);
  // The next run that may begin; none: there is none. Damaged ones before it fail.
  Result<std::optional<Claim>> Take(std::string_view worker, const TakeOptions& options);
  Status Renew(const Claim& claim, Millis lease);
  // Numbered rows; those that are there already, and are the same, are passed over, so that a write
  // whose outcome is unknown may be repeated. Others in their place: the lease counts as lost.
  Status Append(const Claim& claim, std::span<const EventRow> events);
  // `state`: done, failed or cancelled. Once more for the same is no error, so that one whose
  // outcome is unknown may be repeated; so may GiveBack.
  Status Finish(const Claim& claim, std::string_view state, const Json& result);
  // Puts it back, for the next worker to go on with. `why`: what its row tells while it waits.
  Status GiveBack(const Claim& claim, const std::optional<Json>& why = std::nullopt);
  // Takes it from whoever has it. False: it has ended already. Errors: kNotFound.
  Result<bool> Cancel(std::string_view run);
  // Queues one that failed or was cancelled again, for a worker to go on with; `changes` replaces
  // these fields of its request. False: it is none of these. Errors: kNotFound.
  Result<bool> PutAgain(std::string_view run, const JsonObject& changes);
  // Puts back the runs whose lease is over; a third one in a row that recorded nothing new ends.
  Result<Tidied> Tidy();
  Status NoteWorker(std::string_view worker, std::string_view version, std::int64_t slots);

  Result<QueuedRuns> List(const ListWish& wish);
  // Errors: kNotFound.
  Result<QueuedRun> Get(std::string_view run);
  // The id that `prefix` stands for; `last`: the newest. Errors: kNotFound.
  Result<std::string> Resolve(std::string_view prefix);
  // Those behind number `after`. Of a run that has none yet: none.
  Result<std::vector<Event>> Events(std::string_view run, std::int64_t after = 0);
  // The same, unparsed; as Journal::ForEachEvent.
  Status ForEachEvent(std::string_view run, std::int64_t after, const Journal::SeeEvent& see);

  // Until a run may have become free for a worker.
  Result<bool> WaitForWork(Millis most, const CancelToken& cancel);
  // Until runs have new events or a new state; their ids, "" for any run. None: the time is over.
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
