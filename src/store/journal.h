// The journal: the append-only record of every run. It is the trace, the checkpoint, the resume and
// the fork.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto journal, Journal::Open(DataFolder() + "/runs"));
//   DOSSIER_ASSIGN_OR_RETURN(std::string run, journal->StartRun({{"question", "How many?"}}));
//   DOSSIER_RETURN_IF_ERROR(journal->Append(run, /*call=*/0, "turn.started", {{"turn", 1}}));
//
// An event is in SQLite's log when Append returns: it survives the death of this process at any
// point. Strings inside `data` above kInlineLimit bytes must be put into content() and referred to
// by hash: use `Body`; one that is not gets its body in its place. Every string is redacted here,
// at the one writer (Contract 2), a value whose name tells of a secret too. Thread-safety: all
// methods from any thread; several processes may use one folder.

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

// What was appended to the journal in `folder` so far is on the disk when this returns: an fsync of
// SQLite's log. With `synchronous = NORMAL` nobody else syncs it before it is emptied into the
// database, which syncs both. Errors: kIo.
Status SyncJournal(const std::string& folder);

struct Event {
  std::string run;
  std::int64_t seq = 0;   // from 1, without gaps within a run
  std::string time;       // UTC, milliseconds
  std::int64_t call = 0;  // node of the run's tree; 0 is the root call
  std::string type;       // "turn.started"
  JsonObject data;
};

// An event as it is stored: the texts live until the call that was given it returns.
struct StoredEvent {
  std::int64_t seq = 0;
  std::string_view time;
  std::int64_t call = 0;
  std::string_view type;
  std::string_view data;  // a JSON object
};

struct RunSummary {
  std::string run, started, question, model;
  // "running" until run.finished; "interrupted" if the process that was at it ended before.
  std::string status;
  std::int64_t events = 0;
  std::string answer;  // the first line, at most 200 characters
  std::string kind;    // "ask", "research", …; "?" where the first event is damaged
};

// As `dossier runs --json`, serve and the rpc protocol show them.
JsonObject SummaryJson(const RunSummary& run);
JsonObject EventJson(const Event& event);

struct JournalOptions {
  std::shared_ptr<const Clock> clock;    // unset: the system's
  std::function<std::string()> make_id;  // unset: time and random digits
  std::string file = "journal.db";       // its name in the folder
};

class Journal {
 public:
  static constexpr std::size_t kInlineLimit = 4096;  // bytes
  static constexpr std::string_view kNewest = "last";

  // Makes the folder if needed. Errors: kIo, kPermission with the path; kConfig on a network file
  // system (where SQLite's log is unsafe), naming it and the way out.
  static Result<std::unique_ptr<Journal>> Open(const std::string& folder,
                                               JournalOptions options = {});
  virtual ~Journal() = default;

  // Writes `run.started` with `data`; returns the new run's id.
  virtual Result<std::string> StartRun(JsonObject data) = 0;
  // Writes a whole run with the types, calls, times and data of `events`, of which the first is
  // `run.started`; numbers are given anew. Returns the new run's id. Errors: as Append.
  virtual Result<std::string> AddRun(std::span<const Event> events) = 0;
  // `run.finished` with `status` and `answer` (a string or a Body), `run.forked` and `run.resumed`,
  // change what List shows. Errors: kNotFound (no such run); kIo with path and bytes when the disk
  // is full, after which the journal goes on; kDamaged; kLocked; kInvalidArgument (nested above 200
  // levels).
  virtual Status Append(std::string_view run, std::int64_t call, std::string_view type,
                        JsonObject data) = 0;
  // {"text": …} up to kInlineLimit bytes, else {"sha256": …, "bytes": …} with the text stored.
  virtual Result<Json> Body(std::string_view text) = 0;
  // The text of what Body returned.
  virtual Result<std::string> ReadBody(const Json& body) = 0;

  virtual Result<std::vector<RunSummary>> List(std::optional<std::string> status,
                                               std::size_t limit) = 0;
  // Every run of that status (all, if it is unset), newest first, until `see`, which must not call
  // this journal, says that it has seen enough (false).
  using SeeRun = std::function<bool(RunSummary run)>;
  virtual Status ForEachRun(std::optional<std::string> status, const SeeRun& see) = 0;
  // RunSummary::status of one run. Errors: kNotFound.
  virtual Result<std::string> StatusOf(std::string_view run) = 0;
  // The id that `prefix` stands for; `last` is the newest run. Errors: kNotFound, with the
  // candidates if several begin so.
  virtual Result<std::string> Resolve(std::string_view prefix) = 0;
  // The runs whose `run.started` holds these texts, newest first.
  virtual Result<std::vector<std::string>> RunsStartedWith(
      const std::map<std::string, std::string>& fields) = 0;
  virtual Result<std::vector<Event>> Events(std::string_view run) = 0;
  // Calls `see` with each event of the run, in order and unparsed: for readers that need few of
  // many. A failure of `see`, which must not call this journal, ends the reading and is returned.
  // Errors: kNotFound (no such run), kDamaged.
  using SeeEvent = std::function<Status(const StoredEvent& event)>;
  virtual Status ForEachEvent(std::string_view run, const SeeEvent& see) = 0;
  // One event. Errors: kNotFound, kDamaged.
  virtual Result<Event> EventAt(std::string_view run, std::int64_t seq) = 0;

  // Takes every text out of these runs: bodies, questions, answers, what tools were called with.
  // Ids, states, numbers and times stay, so that lists and sums still hold. A body in content()
  // that no other run refers to, or was just putting, is removed. Runs that are not there are
  // passed over. Returns how many bodies were removed from content(). Errors: as Append; kLocked: a
  // reader keeps the texts in the log.
  virtual Result<std::size_t> EraseTexts(std::span<const std::string> runs) = 0;

  virtual ContentStore& content() = 0;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_JOURNAL_H_
