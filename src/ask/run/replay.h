// What a run did before, taken from its journal, so that the same work can be done again without
// asking a model twice.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto replay, Replay::Read(*journal, run));
//   RunLog log(journal, events, clock, replay);            // writes what is not recorded yet
//   model.gate = ReplayGate(model.gate, replay, Beyond::kAsked);   // recorded replies come first
//
// The engine runs from the start. Each request that was answered gets its recorded reply: those of
// the loop in their order, call by call; those of code by the hash of what they ask, in order among
// equal ones, whichever thread asks. Each event that is recorded is not written again. Behind the
// last recorded one the run is live. A block that prints or asks for something else than it did
// makes its call live from there on; a recorded reply to a request that is asked again even then
// is still used.
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

// The name of what a request asks: SHA-256 over its purpose and its messages. Not of its settings:
// in a run they follow from the place of the request.
// `to`: the name of a model that code asked for by name; it may ask several the same.
std::string RequestHash(const model::Request& request, std::string_view to = {});

// What an event keeps of a reply, so that it can stand for the model's another time. `keep` makes a
// text a body (RunLog::Body).
void AddReply(const model::Reply& reply, const std::function<Json(std::string_view)>& keep,
              JsonObject* data);
// Errors: those of Journal::ReadBody.
Result<model::Reply> ReadReply(const Json& data, store::Journal& journal);

class Replay {
 public:
  // Errors: kNotFound (no such run); kDamaged or kIo (a body cannot be read).
  static Result<std::shared_ptr<Replay>> Read(store::Journal& journal, const std::string& run);

  // How an event stands to the record.
  struct Taken {
    enum class Kind : std::uint8_t { kNew, kRecorded, kDiverged } kind = Kind::kNew;
    std::int64_t at = 0;        // of kDiverged: the recorded event that came out differently
    std::string expected, got;  // the same, in a few words
  };
  // An event that is recorded is used up by this. After kDiverged the call is live.
  Taken Take(std::int64_t call, std::string_view type, const JsonObject& data);
  // The data of the next recorded event of this kind, which is used up. `of`: its field of this
  // name, where events of one type are told apart (bridge.reply).
  std::optional<JsonObject> Reuse(std::int64_t call, std::string_view type,
                                  std::string_view of = {});

  struct Answer {
    Result<model::Reply> reply;
    std::string partial;  // what had come of one that failed
    enum class From : std::uint8_t { kModel, kCache, kNowhere } from = From::kModel;
    std::int64_t seq = 0;  // of its event
  };
  // The recorded answer to a request, handed out once.
  std::optional<Answer> TakeAnswer(const model::Request& request, std::string_view to = {});
  // Whether TakeAnswer has one.
  bool Holds(const std::string& hash) const;
  // Whether the next request of a call's loop, for this purpose, was answered: also where its words
  // are others now.
  bool HasAnswered(std::int64_t call, std::string_view purpose) const;

  // The next request of the loop that has no recorded reply gets this text (`runs fork --cell`).
  void Inject(std::string reply);
  // Called once, when something is done that is not recorded. Set before the run starts.
  void OnLive(std::function<void()> live) { on_live_ = std::move(live); }

  const store::Event& started() const { return started_; }
  std::int64_t last_seq() const { return last_seq_; }
  // The number of the call at this place of the tree ("0.c3"), and the largest there is.
  std::optional<std::int64_t> CallAt(const std::string& path) const;
  std::int64_t last_call() const { return last_call_; }
  std::int64_t turn() const { return turn_; }  // of the root call: the newest that was begun
  Millis elapsed() const { return elapsed_; }  // of all processes that worked on it
  // Of that, what is its parent's. The same of what was used: as far as it was counted.
  Millis shared_elapsed() const { return shared_elapsed_; }
  model::LedgerUse shared() const;
  bool is_fork() const { return forked_at_ > 0; }
  // Of an answer that a gate counts in its ledger.
  void CountShared(const Answer& answer, const model::LedgerUse& use);
  // A fork's first new block was not run yet.
  bool lacks_code() const { return lacks_code_; }
  // What this run sent, and its process died before an answer came.
  struct Unanswered {
    enum class By : std::uint8_t { kLoop, kCode } by = By::kLoop;
    std::int64_t tokens = 0;  // of the prompt
  };
  const std::vector<Unanswered>& unanswered() const { return unanswered_; }
  // "final", …; empty: no process came to its end. What was interrupted can go on.
  const std::string& ended() const { return ended_; }
  // Told messages by hash of role and text, as RunLog numbers them.
  const std::map<std::string, std::int64_t>& messages() const { return messages_; }
  // Hashes of contexts that are known, by name.
  const std::map<std::string, std::string>& contexts() const { return contexts_; }
  // What came out otherwise, a sentence each; and recorded things that did not come at all.
  std::vector<std::string> differences() const;
  std::size_t left() const;

 private:
  struct Recorded {
    std::int64_t seq = 0;
    JsonObject data;
  };
  struct Asked {  // a request of the loop, answered
    std::string hash, purpose;
    std::int64_t seq = 0;
  };
  using Key = std::pair<std::int64_t, std::string>;  // call; type, and what tells events apart

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
  std::int64_t forked_at_ = 0;                        // what is before is its parent's; 0: no fork
  bool asks_otherwise_ = false, lacks_code_ = false;  // of a fork
  std::vector<Unanswered> unanswered_;
  std::string ended_;
  std::map<std::string, std::int64_t> messages_;
  std::map<std::string, std::string> contexts_;
  std::function<void()> on_live_;

  std::once_flag live_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<Key, std::deque<Recorded>> events_;
  std::map<std::int64_t, std::deque<Asked>> asked_;    // by call
  std::map<std::int64_t, std::int64_t> parents_;       // of calls
  std::map<std::string, std::deque<Answer>> answers_;  // by hash
  std::map<std::string, std::size_t> promised_;        // answers whose requests are recorded
  std::map<std::string, std::size_t> handed_;          // out, and their events not yet seen
  std::map<std::string, std::deque<std::string>> other_words_;  // by our hash: the recorded one
  std::optional<std::string> injected_;
  model::LedgerUse shared_;
  std::vector<std::string> differences_;
};

// Answers from the record first. What is not in it is asked of `gate`, or fails with kUnavailable.
// `to` as in RequestHash.
enum class Beyond : std::uint8_t { kAsked, kRefused };
std::shared_ptr<model::Gate> ReplayGate(std::shared_ptr<model::Gate> gate,
                                        std::shared_ptr<Replay> replay, Beyond beyond,
                                        std::string to = {});

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_REPLAY_H_
