// The one account of a tree of calls: model requests, tokens, money, time.
//
//   Ledger ledger({.calls = 500, .deadline = clock->Now() + 60s}, clock);
//   DOSSIER_ASSIGN_OR_RETURN(Reservation held,
//                            ledger.Reserve({.input = 900, .output = 300}, Stage::kNormal));
//   held.Settle(reply.usage);
//
// A request is granted only if its whole prompt and the longest reply that it may get fit into what
// neither was used nor is held by requests in flight. So no mix of requests exceeds a limit, as
// long as none costs more than it reserved.
//
// Thread-safety: all methods from any thread. A Reservation must not outlive its ledger; destroyed
// unsettled, it gives its tokens back (the call stays counted: it was made).

#ifndef DOSSIER_MODEL_CLIENT_LEDGER_H_
#define DOSSIER_MODEL_CLIENT_LEDGER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/client/client.h"

namespace dossier::model {

// Kept back for the closing request; only Stage::kFinish may use it.
struct FinishReserve {
  std::int64_t calls = 0, tokens = 0, nano_usd = 0;
  Millis time{0};
};

struct LedgerLimits {
  std::optional<std::int64_t> calls;   // model requests; each attempt counts
  std::optional<std::int64_t> tokens;  // input + output
  std::optional<std::int64_t> nano_usd;
  std::optional<Clock::Steady> deadline;
  FinishReserve finish;  // from the start; KeepBack changes it
};

struct LedgerUse {
  std::int64_t calls = 0, failed_calls = 0, cached_calls = 0;  // attempts; of a cache
  UsageSum spent;                                              // by those that were settled
};

struct TokenPrice {
  std::int64_t input = 0, output = 0;  // nano-dollars of one token, at the most
};

// Tokens that a request may cost, each number at the most.
struct LedgerRequest {
  std::int64_t input = 0;   // of the prompt
  std::int64_t output = 0;  // wanted for the reply
  // What `output` may be cut to where the rest does not suffice; below it the request is of no use.
  std::int64_t least_output = 0;
  // What it may be cut to as long as others are in flight, whose rest may still come back, or wait
  // to be sent.
  std::int64_t good_output = 0;
  enum class Others { kNone, kWait } others = Others::kNone;  // that wait to be sent
  std::optional<TokenPrice> price;                            // unset: unknown
};

enum class Stage { kNormal, kFinish };

class Ledger;

// Tokens and money held for one request, or a place among those that wait for some.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  // False: what others hold may still come back. The function given to Reserve is then called each
  // time that something does.
  bool granted() const { return waiter_ == 0; }
  std::int64_t output() const { return held_.output; }  // tokens granted for the reply
  // The limit that left less than was wanted: "tokens"; empty: none.
  const std::string& shrunk_by() const { return shrunk_by_; }

  void Settle(const Usage& usage);  // what it really cost
  // No reply: counted as failed, and tokens back but for what it is known to have cost.
  void Fail(const std::optional<Usage>& usage = {});
  // Nothing was sent: it is no call.
  void Return();

 private:
  friend class Ledger;
  void Drop();

  Ledger* ledger_ = nullptr;
  std::uint64_t waiter_ = 0;
  LedgerRequest held_;
  std::string shrunk_by_;
};

class Ledger {
 public:
  Ledger(LedgerLimits limits, std::shared_ptr<const Clock> clock);

  // `wake` must not block nor use the ledger; it is called from any thread. Without it nothing
  // waits. Errors: kLimit, naming the limit ("calls: 500 of 500 used").
  Result<Reservation> Reserve(const LedgerRequest& request, Stage stage,
                              std::function<void()> wake = {});
  // Called for replies that came from a cache: counted, cost nothing.
  void CountCached();
  // For a request that an earlier process made and paid for: counted as it was, refused by no
  // limit.
  void CountEarlier(const Usage& usage, std::int64_t attempts, std::int64_t failed);
  // The time from now on ends then. A run that is repeated from its journal first has no end.
  void SetDeadline(Clock::Steady deadline);
  // From now on; what is granted stays granted.
  void KeepBack(const FinishReserve& finish);
  // That `limit` ended something, such as a reply that was cut where its room was.
  void NoteHit(const std::string& limit);

  LedgerUse use() const;
  const LedgerLimits& limits() const { return limits_; }  // as given; deadline() tells the newest
  // What is left at a stage; unset means unlimited.
  std::optional<std::int64_t> calls_left() const;
  std::optional<std::int64_t> tokens_left(Stage stage = Stage::kNormal) const;
  std::optional<std::int64_t> nano_usd_left(Stage stage = Stage::kNormal) const;
  std::optional<Millis> time_left(Stage stage) const;
  std::optional<Clock::Steady> deadline(Stage stage) const;
  // Counted for the limit of cost. Unlike the cost in use() it always has a value: what has no
  // known cost counts at the highest price.
  std::int64_t nano_usd_spent() const;
  // Reservations granted and not settled.
  std::int64_t in_flight() const;
  // The names of limits that are used up: "calls", "tokens", "cost", "time".
  std::vector<std::string> exhausted() const;
  // Those without what closing kept and did not take, and the ones that refused or cut a request,
  // or ended something, before they were.
  std::vector<std::string> hit() const;

 private:
  friend class Reservation;
  struct Room;

  Status Check(const LedgerRequest& request, Stage stage);
  Room RoomFor(const LedgerRequest& request, const FinishReserve& kept) const;
  tl::unexpected<Error> Refuse(const LedgerRequest& request, const Room& room,
                               const FinishReserve& kept);
  Reservation Grant(LedgerRequest request, std::string shrunk_by);
  void Release(const LedgerRequest& held);
  void Count(const LedgerRequest& held, const Usage& usage);
  std::vector<std::string> ExhaustedNow(std::optional<Millis> time) const;

  const LedgerLimits limits_;
  const std::shared_ptr<const Clock> clock_;
  mutable std::mutex mutex_;
  std::optional<Clock::Steady> deadline_;
  FinishReserve finish_;
  LedgerUse use_;
  std::int64_t spent_nano_usd_ = 0;
  std::int64_t held_tokens_ = 0, held_nano_usd_ = 0, in_flight_ = 0;
  std::set<std::string> hit_;
  std::uint64_t next_waiter_ = 1;
  std::map<std::uint64_t, std::function<void()>> waiters_;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_LEDGER_H_
