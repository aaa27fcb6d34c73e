// The account of a tree of calls: model requests, tokens, money, time.
//
//   Ledger ledger({.calls = 500, .deadline = clock->Now() + 60s}, clock);
//   DOSSIER_ASSIGN_OR_RETURN(Reservation held,
//                            ledger.Reserve({.input = 900, .output = 300}, Stage::kNormal));
//   held.Settle(reply.usage);
// A request is granted only if its whole prompt and its longest possible reply fit into what is
// neither used nor held by requests in flight. So no mix of requests exceeds a limit, as long as
// none costs more than it reserved.
//
// Thread-safety: all methods from any thread. A Reservation must not outlive its ledger; destroyed
// unsettled, it returns its tokens (the call stays counted: it was made).

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

// Reserved for the closing request; only Stage::kFinish may use it.
struct FinishReserve {
  std::int64_t calls = 0, tokens = 0, nano_usd = 0;
  Millis time{0};
  // Its prompt as we count it, what `tokens` and `nano_usd` hold for that, and the price of one
  // token of it. A server that turns out to count more makes the reserve larger.
  std::int64_t prompt = 0, prompt_held = 0, prompt_price = 0;
};

struct LedgerLimits {
  std::optional<std::int64_t> calls;   // model requests; each attempt counts
  std::optional<std::int64_t> tokens;  // input + output
  std::optional<std::int64_t> nano_usd;
  std::optional<Clock::Steady> deadline;
  FinishReserve finish;  // initial value; KeepBack changes it
};

// Returns a limit of money in nano-dollars. A larger one than a billion dollars is that: more does
// not fit into a counter, and would come out negative.
std::int64_t NanoUsdLimit(double usd);

struct LedgerUse {
  std::int64_t calls = 0, failed_calls = 0, cached_calls = 0;  // attempts; from a cache
  UsageSum spent;                                              // by settled requests
};

struct TokenPrice {
  std::int64_t input = 0, output = 0;  // upper bounds, in nano-dollars per token
};

// The most tokens that a request may cost.
struct LedgerRequest {
  std::int64_t input = 0;   // of the prompt
  std::int64_t output = 0;  // requested for the reply
  // The least that `output` may be cut to if the rest is not enough; less would be useless.
  std::int64_t least_output = 0;
  // The least that it may be cut to while others are in flight, which may still return tokens, or
  // wait to be sent.
  std::int64_t good_output = 0;
  enum class Others { kNone, kWait } others = Others::kNone;  // others that wait to be sent
  std::optional<TokenPrice> price;                            // unset: unknown
  std::int64_t closing_prompt = 0;  // the most that FinishReserve::prompt takes, as known by now
};

enum class Stage { kNormal, kFinish };

class Ledger;

// Tokens and money held for one request, or a place among the requests that wait for some.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  // False: tokens of others may still be returned. The function passed to Reserve is then called
  // each time that happens.
  bool granted() const { return waiter_ == 0; }
  std::int64_t output() const { return held_.output; }  // tokens granted for the reply
  // The limit that left less than requested: "tokens"; empty: none.
  const std::string& shrunk_by() const { return shrunk_by_; }

  void Settle(const Usage& usage);  // sets the actual cost
  // No reply: counts as failed, and returns the tokens except those it is known to have cost.
  void Fail(const std::optional<Usage>& usage = {});
  // Nothing was sent: not counted as a call.
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

  // `wake` must not block or use the ledger; it is called from any thread. Without it nothing
  // waits. Errors: kLimit, naming the limit ("calls: 500 of 500 used").
  Result<Reservation> Reserve(const LedgerRequest& request, Stage stage,
                              std::function<void()> wake = {});
  // Counts a reply that came from a cache and cost nothing.
  void CountCached();
  // Counts a request that an earlier process made and paid for; no limit refuses it.
  void CountEarlier(const Usage& usage, std::int64_t attempts, std::int64_t failed);
  // Sets the deadline. A run that is first repeated from its journal has none until then.
  void SetDeadline(Clock::Steady deadline);
  // Changes the reserve from now on; granted requests stay granted.
  void KeepBack(const FinishReserve& finish);
  std::int64_t closing_prompt() const;  // FinishReserve::prompt
  // Records that `limit` ended something, such as a reply that was cut at its reserved size.
  void NoteHit(const std::string& limit);

  LedgerUse use() const;
  const LedgerLimits& limits() const { return limits_; }  // as given; see deadline()
  // Return what is left at a stage; unset means unlimited.
  std::optional<std::int64_t> calls_left() const;
  std::optional<std::int64_t> tokens_left(Stage stage = Stage::kNormal) const;
  std::optional<std::int64_t> nano_usd_left(Stage stage = Stage::kNormal) const;
  std::optional<Millis> time_left(Stage stage) const;
  std::optional<Clock::Steady> deadline(Stage stage) const;
  // The amount counted for the cost limit. Unlike the cost in use() it always has a value: an
  // unknown cost counts at the highest price.
  std::int64_t nano_usd_spent() const;
  // Reservations granted and not settled.
  std::int64_t in_flight() const;
  // Returns the names of exhausted limits: "calls", "tokens", "cost", "time".
  std::vector<std::string> exhausted() const;
  // Those, not counting what is reserved for closing and unused, and the limits that refused or cut
  // a request, or ended something, before they were exhausted.
  std::vector<std::string> hit() const;

 private:
  friend class Reservation;
  struct Room;

  void GrowReserve(std::int64_t prompt);
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
