// The journal of a run: its record, its checkpoint, its resume.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto log, RunLog::Start(folder, {{"idea", title}}, clock));
//   DOSSIER_RETURN_IF_ERROR(log->Add("node.created", {{"node", id}}));
//   DOSSIER_ASSIGN_OR_RETURN(const auto done, log->Recorded("phase1.step", id + "/3"));
//   if (done) Use(done->data);
//
// A run is a deterministic program whose effects are journalled under a key. Going on with a run
// runs the program again: an effect that the journal has is not repeated, its result is taken from
// there. So `resume` needs no state of its own, and a reply is never asked or paid for again. A key
// names the effect by its place ("NODE/draft/a1/r2"), never by time or a counter of the process.
//
// In `data` a text above Journal::kInlineLimit is kept as a body; Recorded and Whole give it back
// as text. Secrets are redacted before anything is kept, here and in the file, so that a resumed
// run reads what the first one did.
//
// Events are read from the file when they are asked for: in memory there is which keys it has, 64
// bytes an event or so, however long a run is. While a run that was reopened catches up, what was
// read of its nodes and rounds is kept: it asks for all of that before it adds anything.
//
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_RESEARCH_TREE_RUN_LOG_H_
#define DOSSIER_RESEARCH_TREE_RUN_LOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/run_log.h"
#include "research/tree/node.h"
#include "store/journal.h"

namespace dossier::research {

// run.started probe.done resources.done round.selected node.created call.sent call.replied
// block.applied phase1.step phase.finished node.finished stage.ended artefact.written limit.reached
// run.resumed run.steered run.broken run.finished job.queued warning
class RunLog {
 public:
  // Sees each new event once it is recorded, in order; for a view, which adds none. May be empty.
  using Watch = std::function<void(const store::Event&)>;

  static constexpr std::string_view kFile = "journal.sqlite";  // in the run folder, with objects/

  // Errors: those of Journal::Open; kInvalidArgument (there is a run in this folder).
  static Result<std::unique_ptr<RunLog>> Start(const std::string& folder, JsonObject started,
                                               std::shared_ptr<const Clock> clock, Watch watch);
  // `see`, unless it is empty, gets each event while the log reads them: so they are read once.
  // Errors: also kNotFound (no run there). Writes nothing.
  static Result<std::unique_ptr<RunLog>> Reopen(const std::string& folder,
                                                std::shared_ptr<const Clock> clock, Watch watch,
                                                const store::Journal::SeeEvent& see = {});

  // The first event of `type` with this `key` that was there when the log was opened or that this
  // process added, its texts whole. Errors: those of Journal::EventAt.
  Result<std::optional<store::Event>> Recorded(std::string_view type, std::string_view key) const;
  // Whether there is one.
  bool Has(std::string_view type, std::string_view key) const;

  // `key` may be empty: an event that is only told. It stands in `data` as "place", which `data`
  // must not have. Errors: those of Journal::Append.
  Status Add(std::string_view type, std::string_view key, JsonObject data);

  // How many prompts of a node were sent; "": of the run.
  std::int64_t PromptsSent(std::string_view node) const;
  // What all calls of a node took, over all processes that worked on the run; "": of the run. This
  // is the one sum: a reply is added to it when it is recorded, nowhere else.
  model::UsageSum UsageOf(std::string_view node) const;
  // Of the calls that are of no node in `nodes`, ids: those of the run, and of nodes without an
  // end.
  model::UsageSum UsageOutside(const std::set<std::string, std::less<>>& nodes) const;

  const std::string& run() const { return run_; }
  const std::string& folder() const { return folder_; }
  store::Journal& journal() { return *journal_; }
  // All events so far, in order; texts above the limit as bodies: Whole reads them.
  Result<std::vector<store::Event>> Events() const { return journal_->Events(run_); }
  // Those of one type.
  Result<std::vector<store::Event>> EventsOf(std::string_view type) const;
  // All of them, unparsed.
  Status ForEach(const store::Journal::SeeEvent& see) const;
  JsonObject Whole(const JsonObject& data) const;

 private:
  using KeyHash = std::pair<std::uint64_t, std::uint64_t>;  // of the key, and of type and key
  struct Ahead {
    std::string time, data;  // of an event, as stored
  };
  struct OneHalf {
    std::size_t operator()(const KeyHash& hash) const noexcept { return hash.second; }
  };
  static KeyHash HashOf(std::string_view type, std::string_view key);
  std::optional<std::int64_t> NumberOf(std::string_view type, std::string_view key) const;

  RunLog(std::string folder, std::unique_ptr<store::Journal> journal,
         std::shared_ptr<const Clock> clock, Watch watch);
  Status Read(const store::StoredEvent& event);
  Result<store::Event> EventAt(std::int64_t number, std::string_view type) const;
  Result<store::Event> ParseEvent(const store::StoredEvent& stored) const;
  void See(const store::Event& event);
  void Count(std::string_view type, std::string_view key);
  void AddUsageAt(std::string_view key, const model::Usage& usage);

  const std::string folder_;
  const std::shared_ptr<store::Journal> journal_;
  const Watch watch_;
  driver::RunLog log_;
  std::string run_;
  mutable std::mutex mutex_;  // guards what follows
  std::int64_t events_ = 0;
  std::unordered_map<KeyHash, std::int64_t, OneHalf> by_key_;  // the number of the first event
  std::unordered_map<std::int64_t, Ahead> ahead_;              // by number; until the log goes on
  std::map<std::string, std::int64_t, std::less<>> sent_;      // by node
  std::map<std::string, model::UsageSum, std::less<>> usage_;  // by node
};

// What one reply took: of the data of `call.replied`, as an object or as it is stored.
model::Usage ReplyUsage(const Json& data);
Result<model::Usage> ReplyUsage(std::string_view data);

// The key of an event, from its data as it is stored; "": it has none.
std::string KeyOf(std::string_view data);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_RUN_LOG_H_
