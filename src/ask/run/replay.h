// Replays what a run did before, read from its journal, so that the same work can be repeated
// without asking a model twice.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto replay, Replay::Read(*journal, run));
//   AskLog log(journal, events, clock, replay);            // writes what is not recorded yet
//   model.gate = ReplayGate(model.gate, replay, Beyond::kAsked);   // recorded replies come first
//
// The engine runs from the start. Each request that was answered gets its recorded reply: requests
// of a loop in order, call by call; requests of code by the hash of their content, in order among
// equal ones, from any thread. A recorded event is not written again. After the last recorded event
// the run is live. A block whose output or requests differ from the record makes its call live from
// there on; even then, a request that is asked again still gets its recorded reply.
//
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_ASK_RUN_REPLAY_H_
#define DOSSIER_ASK_RUN_REPLAY_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "model/client/gate.h"
#include "model/client/ledger.h"
#include "store/journal.h"

namespace dossier::ask {

// Identifies what a request asks: SHA-256 over its purpose and messages. The settings are left out:
// within a run they follow from the request's position. `to` is the name of a model that code asked
// for by name, since code may ask several models the same.
std::string RequestHash(const model::Request& request, std::string_view to = {});

// Adds to `data` what an event stores of a reply, so that the reply can be replayed. `keep` turns a
// text into a body (AskLog::Body).
void AddReply(const model::Reply& reply, const std::function<Json(std::string_view)>& keep,
              JsonObject* data);
// Errors: those of Journal::ReadBody.
Result<model::Reply> ReadReply(const Json& data, store::Journal& journal);

class Replay {
 public:
  // Errors: kNotFound (no such run); kDamaged or kIo (a body cannot be read).
  static Result<std::shared_ptr<Replay>> Read(store::Journal& journal, const std::string& run);

  // The result of comparing an event with the record.
  struct Taken {
    enum class Kind : std::uint8_t { kNew, kRecorded, kDiverged } kind = Kind::kNew;
    std::int64_t at = 0;        // for kDiverged: the recorded event that came out differently
    std::string expected, got;  // for kDiverged: both in a few words
  };
  // Compares and uses up a recorded event. After kDiverged the call is live.
  Taken Take(std::int64_t call, std::string_view type, const JsonObject& data);
  // Returns the data of the next recorded event of this type and uses it up. `of` is its field of
  // this name, for types with several kinds of events (bridge.reply).
  std::optional<JsonObject> Reuse(std::int64_t call, std::string_view type,
                                  std::string_view of = {});

  struct Answer {
    Result<model::Reply> reply;
    std::string partial;  // the text that had arrived of a failed reply
    enum class From : std::uint8_t { kModel, kCache, kNowhere } from = From::kModel;
    std::int64_t seq = 0;  // of its event
  };
  // Returns the recorded answer to a request; each is handed out once.
  std::optional<Answer> TakeAnswer(const model::Request& request, std::string_view to = {});
  // Returns true if TakeAnswer has an answer.
  bool Holds(const std::string& hash) const;
  // Returns true if the next request of a call's loop for this purpose was answered, even if its
  // text is different now.
  bool HasAnswered(std::int64_t call, std::string_view purpose) const;

  // Sets the reply for the loop's next unrecorded request (`runs fork --cell`).
  void Inject(std::string reply);
  // Sets a function called once, at the first unrecorded action. Set it before the run starts.
  void OnLive(std::function<void()> live) { on_live_ = std::move(live); }

  const store::Event& started() const { return started_; }
  std::int64_t last_seq() const { return last_seq_; }
  // Returns the number of the call at this path in the tree ("0.c3").
  std::optional<std::int64_t> CallAt(const std::string& path) const;
  std::int64_t last_call() const { return last_call_; }
  std::int64_t turn() const { return turn_; }  // newest turn that the root call began
  Millis elapsed() const { return elapsed_; }  // total of all processes that worked on the run
  // The share of the fork's parent in elapsed time and usage (as far as counted).
  Millis shared_elapsed() const { return shared_elapsed_; }
  model::LedgerUse shared() const;
  bool is_fork() const { return forked_at_ > 0; }
  // Counts an answer that a gate counts in its ledger.
  void CountShared(const Answer& answer, const model::LedgerUse& use);
  // True if a fork's first new block has not run yet.
  bool lacks_code() const { return lacks_code_; }
  // A request that this run sent before its process died without an answer.
  struct Unanswered {
    enum class By : std::uint8_t { kLoop, kCode } by = By::kLoop;
    std::int64_t tokens = 0;  // in the prompt
  };
  const std::vector<Unanswered>& unanswered() const { return unanswered_; }
  // "final", …; empty: no process reached the end. An interrupted run can be continued.
  const std::string& ended() const { return ended_; }
  // Numbers of recorded messages by hash of role and text, as assigned by AskLog.
  const std::map<std::string, std::int64_t>& messages() const { return messages_; }
  // Hashes of known contexts, by name.
  const std::map<std::string, std::string>& contexts() const { return contexts_; }
  // Returns what differed, one sentence each; left() counts recorded items that did not occur.
  std::vector<std::string> differences() const;
  std::size_t left() const;

 private:
  struct Recorded {
    std::int64_t seq = 0;
    JsonObject data;
  };
  struct Asked {  // an answered request of the loop
    std::string hash, purpose;
    std::int64_t seq = 0;
  };
  using Key = std::pair<std::int64_t, std::string>;  // call; type, and a distinguishing field

  Status Load(store::Journal& journal, std::vector<store::Event> events);
  Status LoadEvent(store::Journal& journal, const store::Event& event);
  void LoadFork(const store::Event& event);
  void LoadUnanswered(const std::vector<store::Event>& events, const std::set<std::int64_t>& kept);
  static Key KeyOf(std::int64_t call, std::string_view type, const JsonObject& data);
  Taken TakeRequest(std::int64_t call, const JsonObject& data);
  Taken Diverge(std::int64_t call, std::int64_t at, std::string expected, std::string got);
  Taken TakeBlock(std::int64_t call, const JsonObject& data, Recorded recorded);
  std::size_t Free(const std::string& hash) const;
  bool IsBelow(std::int64_t call, std::int64_t above) const;
  void GoLive();

  store::Event started_;
  std::int64_t last_seq_ = 0, turn_ = 0, last_call_ = 0;
  std::map<std::string, std::int64_t> calls_;  // by path
  Millis elapsed_{0}, shared_elapsed_{0};
  std::int64_t forked_at_ = 0;  // events before it are the parent's; 0: not a fork
  bool asks_otherwise_ = false, lacks_code_ = false;  // only for a fork
  std::vector<Unanswered> unanswered_;
  std::string ended_;
  std::map<std::string, std::int64_t> messages_;
  std::map<std::string, std::string> contexts_;
  std::function<void()> on_live_;

  std::once_flag live_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<Key, std::deque<Recorded>> events_;
  std::map<std::int64_t, std::deque<Asked>> asked_;    // by call
  std::map<std::int64_t, std::int64_t> parents_;       // parent of each call
  std::map<std::string, std::deque<Answer>> answers_;  // by hash
  std::map<std::string, std::size_t> promised_;  // answers whose requests are recorded, by hash
  std::map<std::string, std::size_t> handed_;    // answers handed out whose events are not seen yet
  std::map<std::string, std::deque<std::string>> other_words_;  // recorded hashes, by new hash
  std::optional<std::string> injected_;
  model::LedgerUse shared_;
  std::vector<std::string> differences_;
};

// Makes a gate that first answers from the record. Other requests go to `gate` (kAsked) or fail
// with kUnavailable (kRefused). `to` as in RequestHash.
enum class Beyond : std::uint8_t { kAsked, kRefused };
std::shared_ptr<model::Gate> ReplayGate(std::shared_ptr<model::Gate> gate,
                                        std::shared_ptr<Replay> replay, Beyond beyond,
                                        std::string to = {});

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_REPLAY_H_
