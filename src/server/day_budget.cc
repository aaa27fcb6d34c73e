#include "server/day_budget.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/json/json.h"

namespace dossier::server {
namespace {

constexpr Millis kLockLimit{5'000};
constexpr std::size_t kDayChars = 10;  // of 2026-11-26T…
constexpr std::uint64_t kMostSpentBytes = 4096;
constexpr double kLeastHeld = 1e-9;  // US dollars; less is a rounding error

}  // namespace

DayBudget::DayBudget(std::string folder, std::optional<double> most,
                     std::shared_ptr<const Clock> clock)
    : folder_(std::move(folder) + "/server"), most_(most), clock_(std::move(clock)) {}

std::string DayBudget::Today() const { return FormatTime(clock_->WallNow()).substr(0, kDayChars); }

Result<DayBudget::Sums> DayBudget::SumsOf(const std::string& day) const {
  const std::string path = folder_ + "/spent.json";
  auto text = ReadRegularFile(path, kMostSpentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return Sums();
  if (!text) return tl::unexpected(std::move(text).error());
  const auto value = ParseJson(*text);
  const auto usd = value ? FindNumber(*value, "usd") : std::nullopt;
  // Without the spent sum, nothing may be spent.
  if (!usd) return MakeError(ErrorCode::kDamaged, "{} is damaged; remove it to start at 0", path);
  if (TextAt(*value, "day") != day) return Sums();
  return Sums{*usd, FindNumber(*value, "held").value_or(0)};
}

Status DayBudget::Write(const std::string& day, const Sums& sums) const {
  return WriteFileAtomic(
      folder_ + "/spent.json",
      ToJson(JsonObject{
          {"day", day}, {"usd", std::max(sums.spent, 0.0)}, {"held", std::max(sums.held, 0.0)}}) +
          "\n",
      0600);
}

std::string DayBudget::NothingLeft(std::string_view whose) const {
  const double most = most_.value_or(0);
  const auto sums = SumsOf(Today());
  if (!sums || sums->held < kLeastHeld) {
    return fmt::format("the sum of {} (${:.2f}) is used up", whose, most);
  }
  return fmt::format(
      "what is left of the sum of {} (${:.2f}) is held for requests at work (${:.4f}): ask again "
      "when one has ended, or let each hold less by max_usd",
      whose, most, sums->held);
}

Result<std::optional<double>> DayBudget::Left() const {
  if (!most_) return std::optional<double>();
  DOSSIER_ASSIGN_OR_RETURN(const Sums sums, SumsOf(Today()));
  return std::optional(std::max(*most_ - sums.spent, 0.0));
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
  DOSSIER_ASSIGN_OR_RETURN(const Sums sums, SumsOf(day));
  const double left = std::max(*most_ - sums.spent, 0.0);
  const double held = std::min(wanted.value_or(left), left);
  DOSSIER_RETURN_IF_ERROR(Write(day, {sums.spent + held, sums.held + held}));
  const std::lock_guard guard(mutex_);
  days_.emplace(held, day);
  return std::optional(held);
}

void DayBudget::Settle(std::optional<double> held, double cost) {
  if (!most_ || !held) return;
  const std::string held_on = TakeDayOf(*held);
  const auto lock = FileLock::Take(folder_ + "/spent.lock", kLockLimit, {});
  if (!lock) return;
  const std::string day = Today();
  const auto sums = SumsOf(day);
  if (!sums) return;
  // Money held yesterday is not in today's sum.
  const double back = held_on == day ? *held : 0;
  (void)Write(day, {sums->spent - back + cost, sums->held - back});
}

// Takes the oldest of equal sums; which one makes no difference once all are settled.
std::string DayBudget::TakeDayOf(double held) {
  const std::lock_guard guard(mutex_);
  const auto found = days_.lower_bound(held);
  if (found == days_.end() || found->first != held) return "";
  return std::move(days_.extract(found).mapped());
}

Result<double> Purse::Hold(std::optional<double> wanted, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const auto held,
                           budget->Hold(wanted.value_or(usd_day / kShareOfDay), cancel));
  if (held && *held > 0) return *held;
  return MakeError(ErrorCode::kRateLimited, "{}", budget->NothingLeft("this key's day"));
}

Purse PurseOf(const std::string& folder, const std::string& owner, double usd_day,
              std::shared_ptr<const Clock> clock) {
  return {usd_day, std::make_shared<DayBudget>(fmt::format("{}/server/spending/{}", folder, owner),
                                               usd_day, std::move(clock))};
}

}  // namespace dossier::server
