#include "server/day_budget.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/json/json.h"

namespace dossier::server {
namespace {

constexpr Millis kLockLimit{5'000};
constexpr std::size_t kDayChars = 10;  // of 2026-11-26T…
constexpr std::uint64_t kMostSpentBytes = 4096;

}  // namespace

DayBudget::DayBudget(std::string folder, std::optional<double> most,
                     std::shared_ptr<const Clock> clock)
    : folder_(std::move(folder) + "/server"), most_(most), clock_(std::move(clock)) {}

std::string DayBudget::Today() const { return FormatTime(clock_->WallNow()).substr(0, kDayChars); }

Result<double> DayBudget::Spent(const std::string& day) const {
  const std::string path = folder_ + "/spent.json";
  auto text = ReadRegularFile(path, kMostSpentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return 0.0;
  if (!text) return tl::unexpected(std::move(text).error());
  const auto value = ParseJson(*text);
  const auto usd = value ? FindNumber(*value, "usd") : std::nullopt;
  // Who cannot read what was spent must not spend.
  if (!usd) return MakeError(ErrorCode::kDamaged, "{} is damaged; remove it to start at 0", path);
  return TextAt(*value, "day") == day ? *usd : 0.0;
}

Status DayBudget::Write(const std::string& day, double spent) const {
  return WriteFileAtomic(folder_ + "/spent.json",
                         ToJson(JsonObject{{"day", day}, {"usd", std::max(spent, 0.0)}}) + "\n",
                         0600);
}

Result<std::optional<double>> DayBudget::Left() const {
  if (!most_) return std::optional<double>();
  DOSSIER_ASSIGN_OR_RETURN(const double spent, Spent(Today()));
  return std::optional(std::max(*most_ - spent, 0.0));
}

Result<std::optional<double>> DayBudget::Hold(std::optional<double> wanted,
                                              const CancelToken& cancel) {
  if (wanted && !(*wanted > 0)) {
    return MakeError(ErrorCode::kInvalidArgument, "max_usd: must be above 0");
  }
  if (!most_) return wanted;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_, 0700));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           FileLock::Take(folder_ + "/spent.lock", kLockLimit, cancel));
  const std::string day = Today();
  DOSSIER_ASSIGN_OR_RETURN(const double spent, Spent(day));
  const double left = std::max(*most_ - spent, 0.0);
  const double held = std::min(wanted.value_or(left), left);
  DOSSIER_RETURN_IF_ERROR(Write(day, spent + held));
  return std::optional(held);
}

void DayBudget::Settle(std::optional<double> held, double cost) {
  if (!most_ || !held) return;
  const auto lock = FileLock::Take(folder_ + "/spent.lock", kLockLimit, {});
  if (!lock) return;
  const std::string day = Today();
  const auto spent = Spent(day);
  // Held yesterday, it is not in today's sum.
  if (spent) (void)Write(day, *spent >= *held ? *spent - *held + cost : *spent + cost);
}

Result<double> Purse::Hold(std::optional<double> wanted, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const auto held,
                           budget->Hold(wanted.value_or(usd_day / kShareOfDay), cancel));
  if (held && *held > 0) return *held;
  return MakeError(ErrorCode::kRateLimited, "the sum of this key's day (${:.2f}) is used up",
                   usd_day);
}

Purse PurseOf(const std::string& folder, const std::string& owner, double usd_day,
              std::shared_ptr<const Clock> clock) {
  return {usd_day, std::make_shared<DayBudget>(fmt::format("{}/server/spending/{}", folder, owner),
                                               usd_day, std::move(clock))};
}

}  // namespace dossier::server
