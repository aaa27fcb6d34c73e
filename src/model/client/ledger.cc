#include "model/client/ledger.h"

#include <algorithm>
#include <limits>

#include "base/text/text.h"

namespace dossier::model {
namespace {

// The values for checking limits, all from the same moment.
struct Standing {
  const LedgerLimits& limits;
  const FinishReserve& kept;
  const LedgerUse& use;
  std::int64_t nano_usd = 0;
  std::optional<Millis> time;  // left; unset: unlimited
};

// Returns the limits of which only the reserve is left.
std::vector<std::string> UsedUp(const Standing& now) {
  const LedgerLimits& limits = now.limits;
  std::vector<std::string> names;
  if (limits.calls && now.use.calls >= *limits.calls - now.kept.calls) names.emplace_back("calls");
  const std::int64_t tokens = now.use.spent.tokens();
  if (limits.tokens && tokens >= *limits.tokens - now.kept.tokens) names.emplace_back("tokens");
  if (limits.nano_usd && now.nano_usd >= *limits.nano_usd - now.kept.nano_usd) {
    names.emplace_back("cost");
  }
  if (now.time && now.time->count() <= 0) names.emplace_back("time");
  return names;
}

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

std::string Digits(std::int64_t number) {
  return number < 0 ? "-" + GroupDigits(static_cast<std::uint64_t>(-number))
                    : GroupDigits(static_cast<std::uint64_t>(number));
}

std::string Dollars(std::int64_t nano_usd) {
  return fmt::format("${:.6f}", static_cast<double>(nano_usd) / 1e9);
}

std::string KeptNote(const std::string& kept) {
  return kept.empty() ? "" : fmt::format(", {} kept for the closing request", kept);
}

std::int64_t CostOf(const LedgerRequest& request) {
  return request.price
             ? request.input * request.price->input + request.output * request.price->output
             : 0;
}

}  // namespace

std::int64_t NanoUsdLimit(double usd) {
  constexpr double kMostUsd = 1e9, kNanoPerUsd = 1e9;
  return static_cast<std::int64_t>(std::min(usd, kMostUsd) * kNanoPerUsd);
}

Reservation::Reservation(Reservation&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      waiter_(std::exchange(other.waiter_, 0)),
      held_(other.held_),
      shrunk_by_(std::move(other.shrunk_by_)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Drop();
    ledger_ = std::exchange(other.ledger_, nullptr);
    waiter_ = std::exchange(other.waiter_, 0);
    held_ = other.held_;
    shrunk_by_ = std::move(other.shrunk_by_);
  }
  return *this;
}

Reservation::~Reservation() { Drop(); }

void Reservation::Drop() {
  Ledger* const ledger = std::exchange(ledger_, nullptr);
  if (!ledger) return;
  std::lock_guard lock(ledger->mutex_);
  if (const std::uint64_t waiter = std::exchange(waiter_, 0)) {
    ledger->waiters_.erase(waiter);
  } else {
    ledger->Release(held_);
  }
}

void Reservation::Settle(const Usage& usage) {
  Ledger* const ledger = std::exchange(ledger_, nullptr);
  if (!ledger) return;
  std::lock_guard lock(ledger->mutex_);
  ledger->Count(held_, usage);
  ledger->Release(held_);
}

void Reservation::Fail(const std::optional<Usage>& usage) {
  Ledger* const ledger = std::exchange(ledger_, nullptr);
  if (!ledger) return;
  std::lock_guard lock(ledger->mutex_);
  ++ledger->use_.failed_calls;
  if (usage) ledger->Count(held_, *usage);
  ledger->Release(held_);
}

void Reservation::Return() {
  Ledger* const ledger = std::exchange(ledger_, nullptr);
  if (!ledger) return;
  std::lock_guard lock(ledger->mutex_);
  --ledger->use_.calls;
  ledger->Release(held_);
}

Ledger::Ledger(LedgerLimits limits, std::shared_ptr<const Clock> clock)
    : limits_(limits),
      clock_(std::move(clock)),
      deadline_(limits.deadline),
      finish_(limits.finish) {}

// The possible reply size of a request, now and if everything in flight turns out to cost nothing.
struct Ledger::Room {
  std::int64_t now = kUnlimited, later = kUnlimited;  // tokens; negative: the prompt does not fit
  std::string limit;                                  // that bounds `now`

  void Bound(std::int64_t left, std::int64_t held, std::int64_t price, std::string_view name) {
    const auto tokens = [price](std::int64_t rest) {
      if (rest < 0) return std::int64_t{-1};
      return price > 0 ? rest / price : kUnlimited;
    };
    if (tokens(left - held) < now) {
      now = tokens(left - held);
      limit = name;
    }
    later = std::min(later, tokens(left));
  }
};

Ledger::Room Ledger::RoomFor(const LedgerRequest& request, const FinishReserve& kept) const {
  Room room;
  if (limits_.tokens) {
    const std::int64_t used = use_.spent.tokens();
    room.Bound(*limits_.tokens - kept.tokens - used - request.input, held_tokens_, 1, "tokens");
  }
  if (limits_.nano_usd) {
    const TokenPrice price = request.price.value_or(TokenPrice{});
    const std::int64_t left = *limits_.nano_usd - kept.nano_usd - spent_nano_usd_;
    room.Bound(left - request.input * price.input, held_nano_usd_, price.output, "cost");
  }
  return room;
}

// Checks limits to which no request in flight returns anything.
Status Ledger::Check(const LedgerRequest& request, Stage stage) {
  const FinishReserve kept = stage == Stage::kNormal ? finish_ : FinishReserve();
  if (deadline_ && *deadline_ - clock_->Now() <= kept.time) {
    hit_.insert("time");
    return MakeError(ErrorCode::kLimit, "time: the run's time is used up{}",
                     kept.time.count() > 0 ? " (the rest is for closing)" : "");
  }
  if (limits_.calls && use_.calls + 1 > *limits_.calls - kept.calls) {
    hit_.insert("calls");
    return MakeError(ErrorCode::kLimit, "calls: {} of {} used{}", Digits(use_.calls),
                     Digits(*limits_.calls), KeptNote(kept.calls > 0 ? Digits(kept.calls) : ""));
  }
  if (limits_.nano_usd && !request.price) {
    hit_.insert("cost");
    return MakeError(ErrorCode::kLimit,
                     "cost: a limit is set, but the price of the model is unknown: give it by "
                     "--price IN/OUT; `dossier models prices` shows what is known");
  }
  return {};
}

tl::unexpected<Error> Ledger::Refuse(const LedgerRequest& request, const Room& room,
                                     const FinishReserve& kept) {
  hit_.insert(room.limit);
  LedgerRequest least = request;
  least.output = std::min(request.output, request.least_output);
  if (room.limit == "tokens") {
    return MakeError(
        ErrorCode::kLimit, "tokens: {} of {} used or reserved, this request needs {}{}",
        Digits(use_.spent.tokens() + held_tokens_), Digits(*limits_.tokens),
        Digits(least.input + least.output), KeptNote(kept.tokens > 0 ? Digits(kept.tokens) : ""));
  }
  return MakeError(ErrorCode::kLimit, "cost: {} of {} used or reserved, this request needs {}{}",
                   Dollars(spent_nano_usd_ + held_nano_usd_), Dollars(*limits_.nano_usd),
                   Dollars(CostOf(least)),
                   KeptNote(kept.nano_usd > 0 ? Dollars(kept.nano_usd) : ""));
}

Reservation Ledger::Grant(LedgerRequest request, std::string shrunk_by) {
  ++use_.calls;
  ++in_flight_;
  held_tokens_ += request.input + request.output;
  held_nano_usd_ += CostOf(request);
  Reservation reservation;
  reservation.ledger_ = this;
  reservation.held_ = request;
  reservation.shrunk_by_ = std::move(shrunk_by);
  return reservation;
}

Result<Reservation> Ledger::Reserve(const LedgerRequest& request, Stage stage,
                                    std::function<void()> wake) {
  std::lock_guard lock(mutex_);
  GrowReserve(request.closing_prompt);
  DOSSIER_RETURN_IF_ERROR(Check(request, stage));
  const FinishReserve kept = stage == Stage::kNormal ? finish_ : FinishReserve();
  const Room room = RoomFor(request, kept);
  if (room.now >= request.output) return Grant(request, {});
  const std::int64_t least = std::min(request.output, request.least_output);
  const bool waits = wake && in_flight_ > 0;
  // Alone, a request gets all that is left. Among others it gets no more than it needs: a batch
  // would be sent one by one if each took everything.
  const bool shares = waits || request.others == LedgerRequest::Others::kWait;
  std::int64_t output = shares ? std::clamp(request.good_output, least, request.output) : room.now;
  if (!waits) output = std::min(output, room.now);
  if (output >= least && room.now >= output) {
    LedgerRequest shrunk = request;
    shrunk.output = output;
    return Grant(shrunk, room.limit);
  }
  if (!waits || room.later < least) return Refuse(request, room, kept);
  Reservation waiting;
  waiting.ledger_ = this;
  waiting.waiter_ = next_waiter_++;
  waiters_.emplace(waiting.waiter_, std::move(wake));
  return waiting;
}

void Ledger::CountCached() {
  std::lock_guard lock(mutex_);
  ++use_.cached_calls;
}

void Ledger::CountEarlier(const Usage& usage, std::int64_t attempts, std::int64_t failed) {
  std::lock_guard lock(mutex_);
  use_.calls += attempts;
  use_.failed_calls += failed;
  Count({}, usage);
}

void Ledger::SetDeadline(Clock::Steady deadline) {
  std::lock_guard lock(mutex_);
  deadline_ = deadline;
}

void Ledger::KeepBack(const FinishReserve& finish) {
  std::lock_guard lock(mutex_);
  finish_ = finish;
}

std::int64_t Ledger::closing_prompt() const {
  std::lock_guard lock(mutex_);
  return finish_.prompt;
}

void Ledger::GrowReserve(std::int64_t prompt) {
  const std::int64_t more = prompt - finish_.prompt_held;
  if (finish_.prompt_held == 0 || more <= 0) return;
  finish_.prompt_held = prompt;
  if (finish_.tokens > 0) finish_.tokens += more;
  if (finish_.nano_usd > 0) finish_.nano_usd += more * finish_.prompt_price;
}

void Ledger::NoteHit(const std::string& limit) {
  std::lock_guard lock(mutex_);
  hit_.insert(limit);
}

void Ledger::Release(const LedgerRequest& held) {
  --in_flight_;
  held_tokens_ -= held.input + held.output;
  held_nano_usd_ -= CostOf(held);
  for (const auto& [id, wake] : waiters_) wake();
}

void Ledger::Count(const LedgerRequest& held, const Usage& usage) {
  use_.spent.Add(usage);
  spent_nano_usd_ += usage.cost_nano_usd.value_or(
      CostOf({.input = usage.input, .output = usage.output, .price = held.price}));
}

LedgerUse Ledger::use() const {
  std::lock_guard lock(mutex_);
  return use_;
}

std::int64_t Ledger::nano_usd_spent() const {
  std::lock_guard lock(mutex_);
  return spent_nano_usd_;
}

std::int64_t Ledger::in_flight() const {
  std::lock_guard lock(mutex_);
  return in_flight_;
}

std::optional<std::int64_t> Ledger::calls_left() const {
  if (!limits_.calls) return std::nullopt;
  std::lock_guard lock(mutex_);
  return std::max<std::int64_t>(0, *limits_.calls - finish_.calls - use_.calls);
}

std::optional<std::int64_t> Ledger::tokens_left(Stage stage) const {
  if (!limits_.tokens) return std::nullopt;
  std::lock_guard lock(mutex_);
  const std::int64_t kept = stage == Stage::kNormal ? finish_.tokens : 0;
  const std::int64_t used = use_.spent.tokens() + held_tokens_;
  return std::max<std::int64_t>(0, *limits_.tokens - kept - used);
}

std::optional<std::int64_t> Ledger::nano_usd_left(Stage stage) const {
  if (!limits_.nano_usd) return std::nullopt;
  std::lock_guard lock(mutex_);
  const std::int64_t kept = stage == Stage::kNormal ? finish_.nano_usd : 0;
  return std::max<std::int64_t>(0, *limits_.nano_usd - kept - spent_nano_usd_ - held_nano_usd_);
}

std::optional<Millis> Ledger::time_left(Stage stage) const {
  std::lock_guard lock(mutex_);
  if (!deadline_) return std::nullopt;
  const Millis kept = stage == Stage::kNormal ? finish_.time : Millis(0);
  const auto left = std::chrono::duration_cast<Millis>(*deadline_ - clock_->Now()) - kept;
  return std::max(Millis(0), left);
}

std::optional<Clock::Steady> Ledger::deadline(Stage stage) const {
  std::lock_guard lock(mutex_);
  if (!deadline_ || stage == Stage::kFinish) return deadline_;
  return *deadline_ - finish_.time;
}

std::vector<std::string> Ledger::ExhaustedNow(std::optional<Millis> time) const {
  return UsedUp({limits_, finish_, use_, spent_nano_usd_, time});
}

std::vector<std::string> Ledger::exhausted() const {
  const std::optional<Millis> time = time_left(Stage::kNormal);
  std::lock_guard lock(mutex_);
  return ExhaustedNow(time);
}

std::vector<std::string> Ledger::hit() const {
  const std::optional<Millis> time = time_left(Stage::kFinish);
  std::lock_guard lock(mutex_);
  // Nothing exhausted the part of the reserve that closing did not use.
  std::vector<std::string> names = UsedUp({limits_, FinishReserve(), use_, spent_nano_usd_, time});
  for (const std::string& name : hit_) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace dossier::model
