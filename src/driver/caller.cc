#include "driver/caller.h"

#include <algorithm>
#include <condition_variable>

#include "base/random.h"
#include "base/text/text.h"

namespace dossier::driver {
namespace {

// Collects the text, passes it on, and lets one thread wait for the end.
class WaitingSink final : public model::Sink {
 public:
  // `left` tells if an attempt was sent; the attempts of one call share it.
  WaitingSink(const CallHooks& hooks, const RetryPolicy& retry, const Clock& clock, bool& left)
      : hooks_(hooks), retry_(retry), clock_(clock), left_(left) {}

  void OnSending() override {
    if (!std::exchange(left_, true) && hooks_.leaves) hooks_.leaves();
  }

  void OnDelta(std::string_view text) override {
    if (!first_text_) first_text_ = clock_.Now();
    const std::size_t at = partial_.size();
    partial_ += text;
    const std::string_view so_far = partial_;
    if (hooks_.on_delta) hooks_.on_delta(so_far.substr(at), so_far);
  }

  void OnRetry(int attempt, const Error& error, Millis wait) override {
    if (hooks_.on_retry) hooks_.on_retry(attempt, error, wait);
    if (retry_.on_wait) retry_.on_wait(error.message, wait);
  }

  void OnDone(Result<model::Reply> reply) override {
    std::lock_guard lock(mutex_);
    reply_ = std::move(reply);
    done_.notify_all();
  }

  Result<model::Reply> Wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return reply_.has_value(); });
    return std::move(*reply_);
  }

  // Call this after Wait.
  std::string TakePartial() { return std::move(partial_); }
  std::optional<Clock::Steady> first_text() const { return first_text_; }

 private:
  const CallHooks& hooks_;
  const RetryPolicy& retry_;
  const Clock& clock_;
  bool& left_;
  std::string partial_;
  std::optional<Clock::Steady> first_text_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Result<model::Reply>> reply_;
};

// Passes events to functions.
class FunctionSink final : public model::Sink {
 public:
  FunctionSink(std::function<void()> sending, std::function<void(Result<model::Reply>)> done)
      : sending_(std::move(sending)), done_(std::move(done)) {}
  void OnSending() override { sending_(); }
  void OnDelta(std::string_view) override {}
  void OnDone(Result<model::Reply> reply) override { done_(std::move(reply)); }

 private:
  const std::function<void()> sending_;
  const std::function<void(Result<model::Reply>)> done_;
};

}  // namespace

Called Caller::Ask(const BoundModel& model, model::Request request, const CallHooks& hooks,
                   const CancelToken& cancel, model::Stage stage) {
  if (hooks.sending) {
    if (const Status written = hooks.sending(request); !written) {
      return {.reply = tl::unexpected(written.error())};
    }
  }
  const Clock::Steady begun = clock_->Now();
  const auto shared = std::make_shared<const model::Request>(std::move(request));
  Called called{.reply = MakeError(ErrorCode::kInternal, "not asked")};
  bool told = false, left = false;
  const auto attempt = [&]() -> Result<model::Reply> {
    const auto sink = std::make_shared<WaitingSink>(hooks, retry_, *clock_, left);
    model.gate->Submit(shared, ledger_, stage, cancel, sink);
    if (hooks.sent && !std::exchange(told, true)) hooks.sent();
    Result<model::Reply> reply = sink->Wait();
    called.partial = sink->TakePartial();
    called.first_text = sink->first_text();
    return reply;
  };
  called.reply = AskWithRetry(attempt, retry_, cancel);
  called.took = std::chrono::duration_cast<Millis>(clock_->Now() - begun);
  if (called.reply) Add(called.reply->usage);
  if (hooks.ended) {
    if (const Status written = hooks.ended(called); !written) {
      called.reply = tl::unexpected(written.error());
    }
  }
  return called;
}

void Caller::Submit(const BoundModel& model, std::shared_ptr<const model::Request> request,
                    const CancelToken& cancel, std::function<void()> sending,
                    std::function<void(Result<model::Reply>)> done) {
  auto count = [this, done = std::move(done)](Result<model::Reply> reply) {
    if (reply) Add(reply->usage);
    done(std::move(reply));
  };
  model.gate->Submit(std::move(request), ledger_, model::Stage::kNormal, cancel,
                     std::make_shared<FunctionSink>(std::move(sending), std::move(count)));
}

model::UsageSum Caller::usage() const {
  std::lock_guard lock(mutex_);
  return usage_;
}

void Caller::Add(const model::Usage& usage) {
  std::lock_guard lock(mutex_);
  usage_.Add(usage);
}

namespace {

constexpr Millis kFirstWait{5'000}, kLongestWait{300'000};

}  // namespace

bool MayPass(ErrorCode code) {
  return code == ErrorCode::kRateLimited || code == ErrorCode::kNetwork ||
         code == ErrorCode::kTimeout;
}

Result<model::Reply> AskWithRetry(const std::function<Result<model::Reply>()>& attempt,
                                  const RetryPolicy& policy, const CancelToken& cancel) {
  const auto begin = std::chrono::steady_clock::now();
  Millis paused{0};
  for (Millis next = kFirstWait;; next = std::min(next * 2, kLongestWait)) {
    Result<model::Reply> reply = attempt();
    const bool again = !reply && policy.max_wait > Millis(0) && MayPass(reply.error().code);
    if (!again) return reply;
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const Error& error = reply.error();
    // Attempts repeat requests by themselves, and their time counts too.
    const auto passed = std::chrono::steady_clock::now() - begin;
    const Millis waited = std::max(paused, std::chrono::duration_cast<Millis>(passed));
    if (waited >= policy.max_wait) {
      return MakeError(error.code, "{} (after {} s of waiting; {})", error.message,
                       std::chrono::duration_cast<std::chrono::seconds>(waited).count(),
                       policy.setting);
    }
    const Millis time = std::min(next, policy.max_wait - waited);
    if (policy.on_wait) policy.on_wait(error.message, time);
    policy.wait ? policy.wait(time, cancel) : void(WaitUnlessCancelled(time, cancel));
    paused += time;
  }
}

namespace {

std::int64_t OutputOf(const LayoutCall& call, const BoundModel& model) {
  return std::min(call.max_output, model.entry.capability.max_output);
}

}  // namespace

Result<assembly::Assembled> AssembleLayout(const LayoutCall& call, const LayoutSources& sources,
                                           const BoundModel& model, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout layout,
                           assembly::FindLayout(call.layout, sources.folders));
  DOSSIER_ASSIGN_OR_RETURN(const UserSections own,
                           ReadUserSections(layout, {.makers = sources.makers,
                                                     .values = call.values,
                                                     .counter = model.counter,
                                                     .cancel = cancel}));
  return assembly::Assemble(layout, own.With(call.sections),
                            {.reserve_output = OutputOf(call, model)}, model.entry.capability,
                            *model.counter,
                            {.variables = call.values,
                             .boundary = assembly::MakeBoundary(SystemEntropy()),
                             .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel});
}

Result<model::Reply> AskByLayout(const LayoutCall& call, const LayoutSources& sources,
                                 const BoundModel& model, Caller& caller,
                                 const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
                           AssembleLayout(call, sources, model, cancel));
  model::Request request = RequestTo(model, prompt, model::Purpose::kCompact);
  request.sampling = {.max_output = OutputOf(call, model)};
  Called called = caller.Ask(model, std::move(request), {}, cancel);
  if (called.reply && TrimSpace(called.reply->text).empty()) {
    return MakeError(ErrorCode::kNetwork, "the model returned no text (finish reason {})",
                     model::FinishName(called.reply->finish));
  }
  return std::move(called.reply);
}

}  // namespace dossier::driver
