#include "driver/retry_policy.h"

#include <algorithm>

namespace dossier::driver {
namespace {

constexpr Millis kFirstWait{5'000}, kLongestWait{300'000};

}  // namespace

bool MayPass(ErrorCode code) {
  return code == ErrorCode::kRateLimited || code == ErrorCode::kNetwork ||
         code == ErrorCode::kTimeout;
}

Result<model::Reply> AskWithRetry(const std::function<Result<model::Reply>()>& attempt,
                                  const RetryPolicy& policy, const CancelToken& cancel) {
  Millis waited{0};
  for (Millis next = kFirstWait;; next = std::min(next * 2, kLongestWait)) {
    Result<model::Reply> reply = attempt();
    const bool again = !reply && policy.max_wait > Millis(0) && MayPass(reply.error().code);
    if (!again) return reply;
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const Error& error = reply.error();
    if (waited >= policy.max_wait) {
      return MakeError(error.code, "{} (after {} s of waiting; {})", error.message,
                       std::chrono::duration_cast<std::chrono::seconds>(waited).count(),
                       policy.setting);
    }
    const Millis time = std::min(next, policy.max_wait - waited);
    if (policy.on_wait) policy.on_wait(error.message, time);
    policy.wait ? policy.wait(time, cancel) : void(WaitUnlessCancelled(time, cancel));
    waited += time;
  }
}

}  // namespace dossier::driver
