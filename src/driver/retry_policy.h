// How long a driver waits for a provider that is away, behind the gate's own few retries.
//
//   RetryPolicy{}                               // not at all: what the gate reports is the result
//   RetryPolicy{.max_wait = Millis(3'600'000)}  // 5 s, doubled up to 5 minutes, an hour together
//
// A request of one turn fails at once, so that a person can act. A run of hours outlasts a bad
// hour. Thread-safety: plain data and functions.

#ifndef DOSSIER_DRIVER_RETRY_POLICY_H_
#define DOSSIER_DRIVER_RETRY_POLICY_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/client/client.h"

namespace dossier::driver {

struct RetryPolicy {
  Millis max_wait{0};   // all waits behind the gate together; 0: it never asks again
  std::string setting;  // what a user changes to wait longer; named in the error
  // What it waits for, and until the next try; of the gate's own retries, too. May be empty.
  std::function<void(std::string_view reason, Millis left)> on_wait;
  std::function<void(Millis time, const CancelToken& cancel)> wait;  // empty: waits
};

// Whether the same request may succeed later: a rate limit, a lost connection, a timeout.
bool MayPass(ErrorCode code);

// Calls `attempt` until it succeeds, fails for good, or the policy's waits are used up.
// Errors: those of `attempt`; kCancelled.
Result<model::Reply> AskWithRetry(const std::function<Result<model::Reply>()>& attempt,
                                  const RetryPolicy& policy, const CancelToken& cancel);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_RETRY_POLICY_H_
