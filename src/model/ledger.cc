#include "model/ledger.h"

#include "base/text.h"

namespace dossier::model {
namespace {

std::string Digits(std::int64_t number) {
  return number < 0 ? "-" + GroupDigits(static_cast<std::uint64_t>(-number))
                    : GroupDigits(static_cast<std::uint64_t>(number));
}

std::string KeptNote(std::int64_t kept) {
  return kept > 0 ? fmt::format(", {} kept for the closing request", Digits(kept)) : "";
}

std::string Dollars(std::int64_t nano_usd) {
  return fmt::format("${:.6f}", static_cast<double>(nano_usd) / 1e9);
}

}  // namespace

Reservation::Reservation(Reservation&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)), held_(other.held_) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    if (ledger_) ledger_->Release(held_, nullptr);
    ledger_ = std::exchange(other.ledger_, nullptr);
    held_ = other.held_;
  }
  return *this;
}

Reservation::~Reservation() {
  if (ledger_) ledger_->Release(held_, nullptr);
}

void Reservation::Settle(const Usage& usage) {
  if (Ledger* ledger = std::exchange(ledger_, nullptr)) ledger->Release(held_, &usage);
}

void Reservation::Fail() {
  if (Ledger* ledger = std::exchange(ledger_, nullptr)) {
    ledger->Release(held_, nullptr);
    std::lock_guard lock(ledger->mutex_);
    ++ledger->use_.failed_calls;
  }
}

void Reservation::Withdraw() {
  if (Ledger* ledger = std::exchange(ledger_, nullptr)) {
    ledger->Release(held_, nullptr);
    std::lock_guard lock(ledger->mutex_);
    --ledger->use_.calls;
  }
}

Ledger::Ledger(LedgerLimits limits, std::shared_ptr<const Clock> clock)
    : limits_(limits), clock_(std::move(clock)) {}

Result<Reservation> Ledger::Reserve(const LedgerRequest& request, Stage stage) {
  const bool normal = stage == Stage::kNormal;
  const std::optional<Millis> time = time_left(stage);
  std::lock_guard lock(mutex_);
  if (time && time->count() <= 0) {
    return MakeError(ErrorCode::kLimit, "time: the run's time is used up{}",
                     normal && limits_.finish_time.count() > 0 ? " (the rest is for closing)" : "");
  }
  const std::int64_t kept_calls = normal ? limits_.finish_calls : 0;
  if (limits_.calls && use_.calls + 1 > *limits_.calls - kept_calls) {
    return MakeError(ErrorCode::kLimit, "calls: {} of {} used{}", Digits(use_.calls),
                     Digits(*limits_.calls), KeptNote(kept_calls));
  }
  const std::int64_t kept_tokens = normal ? limits_.finish_tokens : 0;
  const std::int64_t tokens = use_.tokens_input + use_.tokens_output + held_tokens_;
  if (limits_.tokens && tokens + request.tokens > *limits_.tokens - kept_tokens) {
    return MakeError(ErrorCode::kLimit,
                     "tokens: {} of {} used or reserved, this request needs {}{}", Digits(tokens),
                     Digits(*limits_.tokens), Digits(request.tokens), KeptNote(kept_tokens));
  }
  if (limits_.nano_usd) {
    if (!use_.nano_usd) {
      return MakeError(ErrorCode::kLimit,
                       "cost: a limit is set, but the price of a request so far is unknown; add "
                       "prices for the model in a file like data/models.yaml");
    }
    const std::int64_t spent = *use_.nano_usd + held_nano_usd_;
    if (spent + request.nano_usd.value_or(0) > *limits_.nano_usd || spent >= *limits_.nano_usd) {
      return MakeError(ErrorCode::kLimit, "cost: {} of {} used or reserved", Dollars(spent),
                       Dollars(*limits_.nano_usd));
    }
  }
  ++use_.calls;
  held_tokens_ += request.tokens;
  held_nano_usd_ += request.nano_usd.value_or(0);
  Reservation reservation;
  reservation.ledger_ = this;
  reservation.held_ = request;
  return reservation;
}

void Ledger::CountCached() {
  std::lock_guard lock(mutex_);
  ++use_.cached_calls;
}

void Ledger::Release(const LedgerRequest& held, const Usage* usage) {
  std::lock_guard lock(mutex_);
  held_tokens_ -= held.tokens;
  held_nano_usd_ -= held.nano_usd.value_or(0);
  if (!usage) return;
  use_.tokens_input += usage->input;
  use_.tokens_output += usage->output;
  use_.tokens_cached += usage->cached;
  use_.estimated |= usage->estimated;
  if (!usage->cost_nano_usd) {
    use_.nano_usd.reset();
  } else if (use_.nano_usd) {
    *use_.nano_usd += *usage->cost_nano_usd;
  }
}

LedgerUse Ledger::use() const {
  std::lock_guard lock(mutex_);
  return use_;
}

std::optional<std::int64_t> Ledger::calls_left() const {
  if (!limits_.calls) return std::nullopt;
  std::lock_guard lock(mutex_);
  return std::max<std::int64_t>(0, *limits_.calls - limits_.finish_calls - use_.calls);
}

std::optional<std::int64_t> Ledger::tokens_left() const {
  if (!limits_.tokens) return std::nullopt;
  std::lock_guard lock(mutex_);
  const std::int64_t used = use_.tokens_input + use_.tokens_output + held_tokens_;
  return std::max<std::int64_t>(0, *limits_.tokens - limits_.finish_tokens - used);
}

std::optional<Millis> Ledger::time_left(Stage stage) const {
  if (!limits_.deadline) return std::nullopt;
  const Millis kept = stage == Stage::kNormal ? limits_.finish_time : Millis(0);
  const auto left = std::chrono::duration_cast<Millis>(*limits_.deadline - clock_->Now()) - kept;
  return std::max(Millis(0), left);
}

std::vector<std::string> Ledger::exhausted() const {
  std::vector<std::string> names;
  if (calls_left() == 0) names.emplace_back("calls");
  const std::optional<Millis> time = time_left(Stage::kNormal);
  std::lock_guard lock(mutex_);
  const std::int64_t tokens = use_.tokens_input + use_.tokens_output;
  if (limits_.tokens && tokens >= *limits_.tokens - limits_.finish_tokens) {
    names.emplace_back("tokens");
  }
  if (limits_.nano_usd && (!use_.nano_usd || *use_.nano_usd >= *limits_.nano_usd)) {
    names.emplace_back("cost");
  }
  if (time && time->count() <= 0) names.emplace_back("time");
  return names;
}

}  // namespace dossier::model
