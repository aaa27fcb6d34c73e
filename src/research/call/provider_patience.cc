#include "research/call/provider_patience.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace dossier::research {
namespace {

constexpr Millis kFirstWait{5'000}, kLongestWait{300'000};

bool MayPass(ErrorCode code) {
  return code == ErrorCode::kRateLimited || code == ErrorCode::kNetwork ||
         code == ErrorCode::kTimeout;
}

}  // namespace

void Pause(Millis time, const CancelToken& cancel) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  const std::uint64_t id = cancel.OnCancel([&] {
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, time, [&] { return over; });
  }
  cancel.Forget(id);
}

Result<model::Reply> CompleteWithRetry(const chat::ChatModel& model, const model::Request& request,
                                       const Patience& patience, const CancelToken& cancel) {
  const chat::CallEvents events{.on_retry = [&patience](int, const Error& error, Millis wait) {
    if (patience.on_wait) patience.on_wait(error.message, wait);
  }};
  Millis waited{0};
  for (Millis next = kFirstWait;; next = std::min(next * 2, kLongestWait)) {
    chat::Called called =
        chat::Call(model, request, *patience.ledger, events, *patience.clock, cancel);
    if (called.reply || !MayPass(called.reply.error().code)) return std::move(called.reply);
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const Error& error = called.reply.error();
    if (waited >= patience.max_wait) {
      return MakeError(error.code, "{} (after {} s of waiting; limits.max_wait_seconds)",
                       error.message,
                       std::chrono::duration_cast<std::chrono::seconds>(waited).count());
    }
    const Millis time = std::min(next, patience.max_wait - waited);
    if (patience.on_wait) patience.on_wait(error.message, time);
    (patience.wait ? patience.wait : Pause)(time, cancel);
    waited += time;
  }
}

}  // namespace dossier::research
