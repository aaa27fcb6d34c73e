// The journal of a run: its record, and what a resume continues from.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto log, ResearchLog::Start(folder, {{"idea", title}}, clock));
//   DOSSIER_RETURN_IF_ERROR(log->Add("node.created", {{"node", id}}));
//   DOSSIER_ASSIGN_OR_RETURN(const auto done, log->Recorded("phase1.step", id + "/3"));
//   if (done) Use(done->data);
//
// A run is a deterministic program whose effects are journalled under a key. A resume executes the
// program again: an effect that is in the journal is not repeated, its recorded result is used. So
// `resume` needs no separate state, and a reply is never requested or paid for twice. A key
// identifies the effect by its place ("NODE/draft/a1/r2"), never by time or a process counter.
//
// In `data`, a text above Journal::kInlineLimit is stored as a body; Recorded and Whole return it
// as text. Secrets are redacted before anything is stored, in memory and in the file, so that a
// resumed run reads what the first one did.
//
// Events are read from the file on demand: memory holds only their keys, about 64 bytes per event,
// however long the run is. While a reopened run catches up, the data read for its nodes and rounds
// are cached: the run asks for all of them before it adds anything.
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
class ResearchLog {
 public:
  // Receives each new event after it is recorded, in order; must not add events. May be empty.
  using Watch = std::function<void(const store::Event&)>;

  static constexpr std::string_view kFile = "journal.sqlite";  // in the run folder, with objects/

  // Errors: those of Journal::Open; kInvalidArgument (the folder contains a run already).
  static Result<std::unique_ptr<ResearchLog>> Start(const std::string& folder, JsonObject started,
                                                    std::shared_ptr<const Clock> clock,
                                                    Watch watch);
  // `see`, unless empty, receives each event while the log reads them, so that they are read only
  // once. Errors: also kNotFound (no run in the folder). Writes nothing.
  static Result<std::unique_ptr<ResearchLog>> Reopen(const std::string& folder,
                                                     std::shared_ptr<const Clock> clock,
                                                     Watch watch,
                                                     const store::Journal::SeeEvent& see = {});

  // Returns the first event of `type` with this `key`, from before the log was opened or added by
  // this process, with its texts complete. Errors: those of Journal::EventAt.
  Result<std::optional<store::Event>> Recorded(std::string_view type, std::string_view key) const;
  // Returns true if there is one.
  bool Has(std::string_view type, std::string_view key) const;

  // `key` may be empty, for an event that is only informative. It is stored in `data` as "place",
  // which `data` must not contain. Errors: those of Journal::Append.
  Status Add(std::string_view type, std::string_view key, JsonObject data);

  // Returns the number of prompts sent for a node; "": for the run.
  std::int64_t PromptsSent(std::string_view node) const;
  // Returns the usage of all calls of a node, over all processes of the run; "": of the run. This
  // is the only sum: a reply is added to it when it is recorded, nowhere else.
  model::UsageSum UsageOf(std::string_view node) const;
  // Returns the usage of the calls that belong to no node in `nodes` (ids): those of the run, and
  // of unfinished nodes.
  model::UsageSum UsageOutside(const std::set<std::string, std::less<>>& nodes) const;

  const std::string& run() const { return run_; }
  const std::string& folder() const { return folder_; }
  store::Journal& journal() { return *journal_; }
  // Returns all events so far, in order; texts above the limit are bodies, which Whole reads.
  Result<std::vector<store::Event>> Events() const { return journal_->Events(run_); }
  // Returns those of one type.
  Result<std::vector<store::Event>> EventsOf(std::string_view type) const;
  // Visits all of them, unparsed.
  Status ForEach(const store::Journal::SeeEvent& see) const;
  JsonObject Whole(const JsonObject& data) const;

 private:
  using KeyHash = std::pair<std::uint64_t, std::uint64_t>;  // hash of the key, and of type and key
  struct Ahead {
    std::string time, data;  // an event's, as stored
  };
  struct OneHalf {
    std::size_t operator()(const KeyHash& hash) const noexcept { return hash.second; }
  };
  static KeyHash HashOf(std::string_view type, std::string_view key);
  std::optional<std::int64_t> NumberOf(std::string_view type, std::string_view key) const;

  ResearchLog(std::string folder, std::unique_ptr<store::Journal> journal,
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
  mutable std::mutex mutex_;  // guards the members below
  std::int64_t events_ = 0;
  std::unordered_map<KeyHash, std::int64_t, OneHalf> by_key_;  // the number of the first event
  std::unordered_map<std::int64_t, Ahead> ahead_;              // by number; until the log goes on
  std::map<std::string, std::int64_t, std::less<>> sent_;      // by node
  std::map<std::string, model::UsageSum, std::less<>> usage_;  // by node
};

// Returns the usage of one reply, from the data of `call.replied`, as an object or as stored.
model::Usage ReplyUsage(const Json& data);
Result<model::Usage> ReplyUsage(std::string_view data);

// Returns the key of an event, from its data as stored; "": it has none.
std::string KeyOf(std::string_view data);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_RUN_LOG_H_
