// What requests will take before they are sent, a person's word above a limit, and what all runs of
// a user took in the last hours.
//
//   CallEstimate whole;
//   for (const model::Request& request : batch) whole.Add(EstimateOf(sub.entry, request, tokens));
//   SpendGuard guard({.calls = 100, .ask = ask_on_terminal}, ledger);
//   DOSSIER_ASSIGN_OR_RETURN(const SpendPermit permit, guard.Allow(whole));
//   permit->Left();   // of each request, when it leaves: nothing of the batch is sent before Allow
//
// Thread-safety: SpendGuard from any thread; the rest are values and pure functions.

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
  std::int64_t calls = 0;   // requests that would leave
  std::int64_t cached = 0;  // prompts whose reply is kept already: no request
  std::int64_t input = 0;   // tokens of the prompts
  std::int64_t output = 0;  // tokens of the replies, at the most
  // Nano-dollars, at the most: long replies and no cache of the provider. Unset: no price is known.
  std::optional<std::int64_t> nano_usd = 0;
  bool estimated = false;  // input is no exact count; it is what the prompts have at the most

  void Add(const CallEstimate& more);
  // {"calls", "cached", "tokens", "output_tokens", "usd"}; usd is null where it is unknown. And
  // "estimated": true where the tokens are.
  JsonObject ToJson() const;
};
// One request: its prompt has `tokens`, its reply at most what its sampling says.
CallEstimate EstimateOf(const model::Entry& entry, const model::Request& request,
                        std::int64_t tokens);

// Above which number of requests, or of US dollars, a person is asked.
struct ConfirmAbove {
  std::optional<std::int64_t> calls;
  std::optional<double> usd;
  // Whether to go on, told of all that the run took and now wants. Empty: nobody can be asked,
  // which is a no.
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
  // Whether requests that take `planned` may leave. Asks once where the run would pass the limit,
  // and again each time that what it takes has doubled; may wait for a person. Errors: kRefused, by
  // a no, and ever after.
  Result<SpendPermit> Allow(const CallEstimate& planned);

 private:
  const ConfirmAbove above_;
  const model::Ledger& ledger_;
  std::mutex mutex_;
  const std::shared_ptr<SpendAhead> ahead_;
  CallEstimate agreed_;  // to what the person said yes
  std::optional<Error> refused_;
};

// What runs took: requests that were sent, tokens both ways, nano-dollars as far as known.
struct Spent {
  std::int64_t calls = 0, tokens = 0, nano_usd = 0;
};
// Of all runs of `journal`, finished, running or killed, in events from `since` on. Errors: kIo,
// kDamaged.
Result<Spent> SpentSince(store::Journal& journal, Clock::Wall since);

// What a user's runs may take together within a time that moves along.
struct WindowBudget {
  Millis window{0};
  std::optional<std::int64_t> calls, tokens;
  std::optional<double> usd;
};
// What `spent` leaves of the budget, as limits of the next run: unset where it has none. Errors:
// kLimit where nothing is left, naming the limit and the window.
struct WindowRest {
  std::optional<std::int64_t> calls, tokens;
  std::optional<double> usd;
};
Result<WindowRest> RestOf(const WindowBudget& budget, const Spent& spent);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SPENDING_H_
