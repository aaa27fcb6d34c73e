// One call of a model, done the same way for every driver: record the request, send it, wait as the
// retry policy says, record the outcome and add up the usage.
//
//   Caller caller(ledger, clock);
//   CallHooks hooks{.ended = [&](const Called& called) { return Journal(called); }};
//   Called called = caller.Ask(model, RequestTo(model, prompt, Purpose::kRoot), hooks, cancel);
//   if (!called.reply) Keep(called.partial);       // what had arrived when it broke
//   Print(caller.usage().total.input);
//
// Drivers write their own journal events in the hooks. Hooks run in the same order for all drivers.
//
// Thread-safety: all methods from any thread. Ask blocks its caller. leaves, on_delta and on_retry
// run on the network thread, other hooks on the caller's. Ownership: the ledger must outlive this,
// and this the requests given to Submit.

#ifndef DOSSIER_DRIVER_CALLER_H_
#define DOSSIER_DRIVER_CALLER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "driver/section_reader.h"
#include "model/client/client.h"
#include "model/client/ledger.h"

namespace dossier::driver {

// The time that a driver waits for an unavailable provider, after the gate's own retries.
//
//   RetryPolicy{}                               // not at all: what the gate reports is the result
//   RetryPolicy{.max_wait = Millis(3'600'000)}  // 5 s, doubled up to 5 minutes, an hour together
//
// A single request fails at once, so that the user can act. A run of hours outlasts an hour's
// outage. Thread-safety: plain data and functions.

struct RetryPolicy {
  Millis max_wait{0};   // from the first attempt on, which has retries of its own; 0: no other
  std::string setting;  // the setting that a user changes to wait longer; named in the error
  // Called with the reason and the time until the next try, also for the gate's; may be empty.
  std::function<void(std::string_view reason, Millis left)> on_wait;
  std::function<void(Millis time, const CancelToken& cancel)> wait;  // empty: sleeps for real
};

// Returns true if the same request may succeed later (a rate limit, a lost connection, a timeout).
bool MayPass(ErrorCode code);

// Calls `attempt` until it succeeds, fails permanently, or the policy's waits are used up. Errors:
// those of `attempt`; kCancelled.
Result<model::Reply> AskWithRetry(const std::function<Result<model::Reply>()>& attempt,
                                  const RetryPolicy& policy, const CancelToken& cancel);

// The outcome of a call.
struct Called {
  Result<model::Reply> reply;
  std::string partial;                      // text that arrived, even if the call failed
  std::optional<Clock::Steady> first_text;  // when its first byte arrived
  Millis took{0};                           // includes the waits between attempts
};

// Functions that are called in this order. Each may be empty.
struct CallHooks {
  // Called before anything is sent. Its error becomes the call's, and nothing is sent.
  std::function<Status(const model::Request& request)> sending;
  // Called when the first attempt is about to be sent, perhaps long after it was submitted. Not
  // called for a request that is refused or cancelled before, or that a gate answers by itself.
  // Runs on the network thread or the caller's; must not block.
  std::function<void()> leaves;
  // Called while the request is under way: for work that need not delay it.
  std::function<void()> sent;
  // `so_far` is the text of this attempt so far and ends with `delta`.
  std::function<void(std::string_view delta, std::string_view so_far)> on_delta;
  std::function<void(int attempt, const Error& error, Millis wait)> on_retry;
  // Called once, after the last attempt. An error replaces the reply.
  std::function<Status(const Called& called)> ended;
};

class Caller {
 public:
  Caller(model::Ledger& ledger, std::shared_ptr<const Clock> clock, RetryPolicy retry = {})
      : ledger_(ledger), clock_(std::move(clock)), retry_(std::move(retry)) {}

  // Errors in `reply`: those of model::Gate and the hooks; kCancelled.
  Called Ask(const BoundModel& model, model::Request request, const CallHooks& hooks,
             const CancelToken& cancel, model::Stage stage = model::Stage::kNormal);

  // Never blocks and never retries, for thousands of requests in flight. `sending` is called when
  // the request is sent, which may be much later; never if it is refused or cancelled before.
  // `done` gets the outcome once. Both run on the network or the caller's thread; must not block.
  void Submit(const BoundModel& model, std::shared_ptr<const model::Request> request,
              const CancelToken& cancel, std::function<void()> sending,
              std::function<void(Result<model::Reply>)> done);

  // Returns the usage of all replies so far.
  model::UsageSum usage() const;

 private:
  void Add(const model::Usage& usage);

  model::Ledger& ledger_;
  const std::shared_ptr<const Clock> clock_;
  const RetryPolicy retry_;
  mutable std::mutex mutex_;
  model::UsageSum usage_;
};

// A call with one named layout and the user's sections in it.
struct LayoutSources {
  assembly::AssetFolders folders;
  SectionMakers makers;  // for sections that a user's layout adds
};
struct LayoutCall {
  std::string layout;  // "memory.rate"
  std::vector<assembly::Section> sections;
  SectionValues values;         // for the layout's templates
  std::int64_t max_output = 0;  // tokens; capped by what the model supports
};

// Errors: those of the layout, its sections and the prompt.
Result<assembly::Assembled> AssembleLayout(const LayoutCall& call, const LayoutSources& sources,
                                           const BoundModel& model, const CancelToken& cancel);
// Used for calls that shorten a history or a memory. Errors: also those of Caller::Ask; kNetwork if
// the model returned no text.
Result<model::Reply> AskByLayout(const LayoutCall& call, const LayoutSources& sources,
                                 const BoundModel& model, Caller& caller,
                                 const CancelToken& cancel);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_CALLER_H_
