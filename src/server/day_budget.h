// Limits the daily cost of all asks of this user, counted over all servers and restarts.
//
//   DayBudget budget(folder, 10.0, clock);
//   DOSSIER_ASSIGN_OR_RETURN(const std::optional<double> held, budget.Hold(1.0, cancel));  // <= $1
//   budget.Settle(held, 0.021);
//
// FOLDER/server/spent.json contains the sum, the day (UTC) it belongs to, and how much of it is
// held. Held money counts as spent until it is settled, so a process that dies in between has spent
// all of it. Thread-safety: all methods from any thread and process.

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
  // `most`: US dollars a day; unset: no limit.
  DayBudget(std::string folder, std::optional<double> most, std::shared_ptr<const Clock> clock);

  // Returns the US dollars left today; unset: no limit. Errors: kIo, kDamaged.
  Result<std::optional<double>> Left() const;
  // Reserves up to `wanted` dollars (unset: all) of what is left. Without a daily limit it reserves
  // nothing and returns `wanted`. Errors: kLocked, kIo, kDamaged, kCancelled.
  Result<std::optional<double>> Hold(std::optional<double> wanted, const CancelToken& cancel);
  // Explains why nothing is left of the budget `whose`: it is spent, or held for running work.
  std::string NothingLeft(std::string_view whose) const;
  // Replaces money that this object held by its actual cost, on the day on which the work ended. If
  // this fails, the held money still counts as spent.
  void Settle(std::optional<double> held, double cost);

 private:
  std::string Today() const;
  struct Sums {
    double spent = 0;  // US dollars, including held money
    double held = 0;
  };
  Result<Sums> SumsOf(const std::string& day) const;
  Status Write(const std::string& day, const Sums& sums) const;
  std::string TakeDayOf(double held);  // "": no such sum is held

  const std::string folder_;
  const std::optional<double> most_;
  const std::shared_ptr<const Clock> clock_;
  std::mutex mutex_;                         // guards days_
  std::multimap<double, std::string> days_;  // held sum -> its day
};

// One answer may take this part (a tenth) of a key's daily budget unless it asks for another: held
// money is not available to other answers.
inline constexpr double kShareOfDay = 10;

// The daily budget of one caller, kept in FOLDER/server/spending/OWNER.
struct Purse {
  double usd_day = 0;
  std::shared_ptr<DayBudget> budget;

  // As DayBudget::Hold; unset: 1/kShareOfDay of the day. Errors: also kRateLimited (none left).
  Result<double> Hold(std::optional<double> wanted, const CancelToken& cancel) const;
};
Purse PurseOf(const std::string& folder, const std::string& owner, double usd_day,
              std::shared_ptr<const Clock> clock);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_DAY_BUDGET_H_
