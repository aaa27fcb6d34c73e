// The journal: the append-only record of every run, used for tracing, checkpoints, resuming and
// forking.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto journal, Journal::Open(DataFolder() + "/runs"));
//   DOSSIER_ASSIGN_OR_RETURN(std::string run, journal->StartRun({{"question", "How many?"}}));
//   DOSSIER_RETURN_IF_ERROR(journal->Append(run, /*call=*/0, "turn.started", {{"turn", 1}}));
//
// When Append returns, the event is in SQLite's log and survives the death of this process at any
// point. Put strings above kInlineLimit bytes into content() and refer to them by hash: use `Body`;
// Append does so for any other. Every string is redacted here, the only writer (Contract 2),
// including values whose name indicates a secret. Thread-safety: all methods from any thread;
// several processes may use one folder.

#ifndef DOSSIER_STORE_JOURNAL_H_
#define DOSSIER_STORE_JOURNAL_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "store/content.h"

namespace dossier::store {

// Makes a journal outlive a power failure, not only the death of a process.
//
//   DOSSIER_RETURN_IF_ERROR(journal->Append(run, 0, "merge.intent", data));
//   DOSSIER_RETURN_IF_ERROR(SyncJournal(folder));
//
// Thread-safety: a function over files; processes may append meanwhile.

// When this returns, everything appended to the journal in `folder` so far is on the disk: it does
// an fsync of SQLite's log. With `synchronous = NORMAL` the log is otherwise synced only when it is
// moved into the database, which syncs both. Errors: kIo.
Status SyncJournal(const std::string& folder);

struct Event {
  std::string run;
  std::int64_t seq = 0;   // from 1, without gaps within a run
  std::string time;       // UTC, milliseconds
  std::int64_t call = 0;  // node of the run's tree; 0 is the root call
  std::string type;       // "turn.started"
  JsonObject data;
};

// An event in its stored form. The texts are valid until the callback that gets it returns.
struct StoredEvent {
  std::int64_t seq = 0;
  std::string_view time;
  std::int64_t call = 0;
  std::string_view type;
  std::string_view data;  // a JSON object
};

struct RunSummary {
  std::string run, started, question, model;
  // "running" until run.finished; "interrupted" if the process working on it ended before.
  std::string status;
  std::int64_t events = 0;
  std::string answer;  // the first line, at most 200 characters
  std::string kind;    // "ask", "research", …; "?" where the first event is damaged
};

// The format of `dossier runs --json`, serve and the rpc protocol.
JsonObject SummaryJson(const RunSummary& run);
JsonObject EventJson(const Event& event);

struct JournalOptions {
  std::shared_ptr<const Clock> clock;    // unset: the system's
  std::function<std::string()> make_id;  // unset: time and random digits
  std::string file = "journal.db";       // file name in the folder
};

class Journal {
 public:
  static constexpr std::size_t kInlineLimit = 4096;  // bytes
  static constexpr std::string_view kNewest = "last";

  // Makes the folder if needed. Errors: kIo, kPermission with the path; kConfig on a network file
  // system (where SQLite's log is unsafe), naming it and a remedy.
  static Result<std::unique_ptr<Journal>> Open(const std::string& folder,
                                               JournalOptions options = {});
  virtual ~Journal() = default;

  // Writes `run.started` with `data`; returns the new run's id.
  virtual Result<std::string> StartRun(JsonObject data) = 0;
  // Writes a whole run with the types, calls, times and data of `events`, the first of which is
  // `run.started`; events are numbered anew. Returns the new run's id. Errors: as Append.
  virtual Result<std::string> AddRun(std::span<const Event> events) = 0;
  // `run.finished` with `status` and `answer` (a string or a Body), `run.forked` and `run.resumed`,
  // change what List shows. Errors: kNotFound (no such run); kIo with path and bytes when the disk
  // is full, after which the journal still works; kDamaged; kLocked; kInvalidArgument (nested above
  // 200 levels).
  virtual Status Append(std::string_view run, std::int64_t call, std::string_view type,
                        JsonObject data) = 0;
  // {"text": …} up to kInlineLimit bytes, else {"sha256": …, "bytes": …} with the text stored.
  virtual Result<Json> Body(std::string_view text) = 0;
  // Returns the text of a value that Body returned.
  virtual Result<std::string> ReadBody(const Json& body) = 0;

  virtual Result<std::vector<RunSummary>> List(std::optional<std::string> status,
                                               std::size_t limit) = 0;
  // Calls `see` with every run of that status (all, if unset), newest first, until it returns
  // false. `see` must not call this journal.
  using SeeRun = std::function<bool(RunSummary run)>;
  virtual Status ForEachRun(std::optional<std::string> status, const SeeRun& see) = 0;
  // Returns RunSummary::status of one run. Errors: kNotFound.
  virtual Result<std::string> StatusOf(std::string_view run) = 0;
  // Returns the id that begins with `prefix`; `last` is the newest run. Errors: kNotFound, with the
  // candidates if several match.
  virtual Result<std::string> Resolve(std::string_view prefix) = 0;
  // Returns the runs whose `run.started` has these field values, newest first.
  virtual Result<std::vector<std::string>> RunsStartedWith(
      const std::map<std::string, std::string>& fields) = 0;
  virtual Result<std::vector<Event>> Events(std::string_view run) = 0;
  // Calls `see` with each event of the run, in order and unparsed: for readers that need few of
  // many. `see` must not call this journal; its failure ends the reading and is returned. Errors:
  // kNotFound (no such run), kDamaged.
  using SeeEvent = std::function<Status(const StoredEvent& event)>;
  virtual Status ForEachEvent(std::string_view run, const SeeEvent& see) = 0;
  // Returns one event. Errors: kNotFound, kDamaged.
  virtual Result<Event> EventAt(std::string_view run, std::int64_t seq) = 0;

  // Removes every text from these runs: bodies, questions, answers, arguments of tool calls. Ids,
  // states, numbers and times stay, so that lists and sums stay correct. A body in content() is
  // removed unless another run refers to it or was just putting it. Unknown runs are ignored.
  // Returns how many bodies were removed from content(). Errors: as Append; kLocked: a reader keeps
  // the texts in the log.
  virtual Result<std::size_t> EraseTexts(std::span<const std::string> runs) = 0;

  virtual ContentStore& content() = 0;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_JOURNAL_H_
