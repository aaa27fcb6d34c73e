// The one account of a tree of calls: model requests, tokens, money, time.
//
//   Ledger ledger({.calls = 500, .deadline = clock->Now() + 60s}, clock);
//   DOSSIER_ASSIGN_OR_RETURN(Reservation held, ledger.Reserve({.tokens = 1200}, Reserve::kNormal));
//   held.Settle(reply.usage);
//
// Thread-safety: all methods from any thread. A Reservation must not outlive its ledger; destroyed
// unsettled, it gives its tokens back (the call stays counted: it was made).

#ifndef DOSSIER_MODEL_LEDGER_H_
#define DOSSIER_MODEL_LEDGER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/client.h"

namespace dossier::model {

struct LedgerLimits {
  std::optional<std::int64_t> calls;   // model requests; each attempt counts
  std::optional<std::int64_t> tokens;  // input + output
  std::optional<std::int64_t> nano_usd;
  std::optional<Clock::Steady> deadline;
  // Kept back for the closing request (REC-56); only Stage::kFinish may use it.
  std::int64_t finish_calls = 0, finish_tokens = 0;
  Millis finish_time{0};
};

struct LedgerUse {
  std::int64_t calls = 0, tokens_input = 0, tokens_output = 0, tokens_cached = 0;
  std::int64_t failed_calls = 0, cached_calls = 0;
  std::optional<std::int64_t> nano_usd = 0;  // unset once one request's price was unknown
  bool estimated = false;
};

struct LedgerRequest {
  std::int64_t tokens = 0;  // estimated: prompt + expected output
  std::optional<std::int64_t> nano_usd;
};

enum class Stage { kNormal, kFinish };

class Ledger;

class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();
  void Settle(const Usage& usage);  // what it really cost
  void Fail();                      // no reply: tokens back, counted as failed
  void Withdraw();                  // never sent: tokens and the call back

 private:
  friend class Ledger;
  Ledger* ledger_ = nullptr;
  LedgerRequest held_;
};

class Ledger {
 public:
  Ledger(LedgerLimits limits, std::shared_ptr<const Clock> clock);

  // Errors: kLimit, naming the limit ("calls: 500 of 500 used").
  Result<Reservation> Reserve(const LedgerRequest& request, Stage stage);
  // Called for replies that came from a cache: counted, cost nothing.
  void CountCached();

  LedgerUse use() const;
  const LedgerLimits& limits() const { return limits_; }
  // What is left for normal work; unset means unlimited.
  std::optional<std::int64_t> calls_left() const;
  std::optional<std::int64_t> tokens_left() const;
  std::optional<Millis> time_left(Stage stage) const;
  // The names of limits that are used up: "calls", "tokens", "cost", "time".
  std::vector<std::string> exhausted() const;

 private:
  friend class Reservation;
  void Release(const LedgerRequest& held, const Usage* usage);

  const LedgerLimits limits_;
  const std::shared_ptr<const Clock> clock_;
  mutable std::mutex mutex_;
  LedgerUse use_;
  std::int64_t held_tokens_ = 0, held_nano_usd_ = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LEDGER_H_
