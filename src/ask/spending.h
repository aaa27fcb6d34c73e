// Spending: estimates of requests before they are sent, a person's confirmation above a limit, and
// the total of a user's runs in the last hours.
//
//   CallEstimate whole;
//   for (const model::Request& request : batch) whole.Add(EstimateOf(sub.entry, request, tokens));
//   SpendGuard guard({.calls = 100, .ask = ask_on_terminal}, ledger);
//   DOSSIER_ASSIGN_OR_RETURN(const SpendPermit permit, guard.Allow(whole));
//   permit->Left();   // of each request, when it leaves: nothing of the batch is sent before Allow
//
// Thread-safety: SpendGuard may be used from any thread; the rest are values and pure functions.

#ifndef DOSSIER_ASK_SPENDING_H_
#define DOSSIER_ASK_SPENDING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "model/catalog/catalog.h"
#include "model/client/ledger.h"
#include "store/journal.h"

namespace dossier::ask {

struct CallEstimate {
  std::int64_t calls = 0;   // requests that would be sent
  std::int64_t cached = 0;  // prompts whose reply is already stored: no request
  std::int64_t input = 0;   // tokens in the prompts
  std::int64_t output = 0;  // maximum tokens in the replies
  // Upper bound in nano-dollars (long replies, no provider cache). Unset: the price is unknown.
  std::optional<std::int64_t> nano_usd = 0;
  bool estimated = false;  // `input` is an upper bound, not an exact count

  void Add(const CallEstimate& more);
  // {"calls", "cached", "tokens", "output_tokens", "usd"}; usd is null if unknown. Also
  // "estimated": true if the tokens are estimated.
  JsonObject ToJson() const;
};
// Estimates one request: a prompt of `tokens` and the longest reply that its sampling allows.
CallEstimate EstimateOf(const model::Entry& entry, const model::Request& request,
                        std::int64_t tokens);

// The number of requests or US dollars above which a person is asked.
struct ConfirmAbove {
  std::optional<std::int64_t> calls;
  std::optional<double> usd;
  // Asks whether to continue, given all that the run used and now wants. Empty: nobody can be
  // asked, which counts as no.
  std::function<bool(const CallEstimate& whole)> ask;

  bool armed() const { return calls || usd; }
};

struct SpendAhead;
class AllowedSpending;
// In spend_permit.h; null where nobody counts.
using SpendPermit = std::shared_ptr<AllowedSpending>;

class SpendGuard {
 public:
  // `ledger` must outlive it.
  SpendGuard(ConfirmAbove above, const model::Ledger& ledger);

  bool armed() const { return above_.armed(); }
  // Checks that requests that take `planned` may be sent. Asks once when the run would pass the
  // limit, and again each time its total has doubled; may wait for a person. Errors: kRefused after
  // a no, and for all later calls.
  Result<SpendPermit> Allow(const CallEstimate& planned);

 private:
  const ConfirmAbove above_;
  const model::Ledger& ledger_;
  std::mutex mutex_;
  const std::shared_ptr<SpendAhead> ahead_;
  CallEstimate agreed_;  // what the person agreed to
  std::optional<Error> refused_;
};

// The usage of runs: requests sent, tokens both ways, nano-dollars as far as known.
struct Spent {
  std::int64_t calls = 0, tokens = 0, nano_usd = 0;
};
// Sums up all runs of `journal` (finished, running or killed), from events since `since`. Errors:
// kIo, kDamaged.
Result<Spent> SpentSince(store::Journal& journal, Clock::Wall since);

// The budget for all runs of a user together within a sliding time window.
struct WindowBudget {
  Millis window{0};
  std::optional<std::int64_t> calls, tokens;
  std::optional<double> usd;
};
// The rest of the budget after `spent`, as limits for the next run; a field is unset if it has no
// limit. Errors: kLimit if nothing is left, naming the limit and the window.
struct WindowRest {
  std::optional<std::int64_t> calls, tokens;
  std::optional<double> usd;
};
Result<WindowRest> RestOf(const WindowBudget& budget, const Spent& spent);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SPENDING_H_
