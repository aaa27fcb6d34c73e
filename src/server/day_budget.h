// Limits what all asks of this user cost in a day, counted over all servers and restarts.
//
//   DayBudget budget(folder, 10.0, clock);
//   DOSSIER_ASSIGN_OR_RETURN(const double held, budget.Hold(1.0, cancel));   // US dollars, at most
//   1 budget.Settle(held, 0.021);
//
// The sum stands in FOLDER/server/spent.json, with the day (UTC) that it is of, and how much of it
// is held. What is held counts as spent until it is settled, so that a process that dies in between
// has spent all of it.
// Thread-safety: all methods from any thread and process.

#ifndef DOSSIER_SERVER_DAY_BUDGET_H_
#define DOSSIER_SERVER_DAY_BUDGET_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier::server {

class DayBudget {
 public:
  // `most`: US dollars a day; unset: any.
  DayBudget(std::string folder, std::optional<double> most, std::shared_ptr<const Clock> clock);

  // US dollars left today; unset: any. Errors: kIo, kDamaged.
  Result<std::optional<double>> Left() const;
  // Takes up to `wanted` dollars (unset: all) of what is left. Without a limit a day it takes
  // nothing and gives what was wanted. Errors: kLocked, kIo, kDamaged, kCancelled.
  Result<std::optional<double>> Hold(std::optional<double> wanted, const CancelToken& cancel);
  // Why nothing is left of `whose` sum: it is spent, or held for what is at work.
  std::string NothingLeft(std::string_view whose) const;
  // What was held, by this object, cost so much: what is counted as spent now, on the day of the
  // end. A failure leaves it counted as spent.
  void Settle(std::optional<double> held, double cost);

 private:
  std::string Today() const;
  struct Sums {
    double spent = 0;  // US dollars, with what is held
    double held = 0;
  };
  Result<Sums> SumsOf(const std::string& day) const;
  Status Write(const std::string& day, const Sums& sums) const;
  std::string TakeDayOf(double held);  // "": it is not known to be held

  const std::string folder_;
  const std::optional<double> most_;
  const std::shared_ptr<const Clock> clock_;
  std::mutex mutex_;                         // guards days_
  std::multimap<double, std::string> days_;  // of the sums that are held
};

// Of a key's sum of a day one answer may take this part, unless it asks for another one: what is
// held is not there for others.
inline constexpr double kShareOfDay = 10;

// The sum a day of one caller, in FOLDER/server/spending/OWNER.
struct Purse {
  double usd_day = 0;
  std::shared_ptr<DayBudget> budget;

  // As DayBudget::Hold; unset is a share of the day. Errors: also kRateLimited if nothing is left.
  Result<double> Hold(std::optional<double> wanted, const CancelToken& cancel) const;
};
Purse PurseOf(const std::string& folder, const std::string& owner, double usd_day,
              std::shared_ptr<const Clock> clock);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_DAY_BUDGET_H_
