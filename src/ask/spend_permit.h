// What SpendGuard let go: it counts beside what the ledger knows until it has left.
//
//   permit->Left();    // of each request, when it leaves: the ledger has its call from now on
//   permit->Ended();   // and when its reply is there: the ledger has its cost
//
// What never leaves counts until the permit goes. Thread-safety: from any thread.

#ifndef DOSSIER_ASK_SPEND_PERMIT_H_
#define DOSSIER_ASK_SPEND_PERMIT_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "ask/spending.h"

namespace dossier::ask {

// Of all permits of a guard.
struct SpendAhead {
  std::mutex mutex;  // guards what follows
  std::int64_t calls = 0, nano_usd = 0;
};

class AllowedSpending {
 public:
  AllowedSpending(std::shared_ptr<SpendAhead> ahead, const CallEstimate& planned);
  ~AllowedSpending() { Take(calls_, nano_usd_); }
  AllowedSpending(const AllowedSpending&) = delete;
  AllowedSpending& operator=(const AllowedSpending&) = delete;

  void Left() { Take(1, 0); }
  void Ended() { Take(0, nano_usd_of_one_); }

 private:
  void Take(std::int64_t calls, std::int64_t nano_usd);

  const std::shared_ptr<SpendAhead> ahead_;
  std::int64_t calls_, nano_usd_;  // what is left of it; guarded by ahead_->mutex
  const std::int64_t nano_usd_of_one_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SPEND_PERMIT_H_
