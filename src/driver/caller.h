// One call of a model, the same for every driver: write it down, send it, wait as the retry policy
// says, write down what came, add what it took.
//
//   Caller caller(ledger, clock);
//   CallHooks hooks{.ended = [&](const Called& called) { return Journal(called); }};
//   Called called = caller.Ask(model, RequestTo(model, prompt, Purpose::kRoot), hooks, cancel);
//   if (!called.reply) Keep(called.partial);       // what had arrived when it broke
//   Print(caller.usage().total.input);
//
// The events of a journal are the driver's own, so it writes them in the hooks; when each hook runs
// is the same for all.
//
// Thread-safety: all methods from any thread. Ask blocks its caller; leaves, on_delta and on_retry
// come from the network thread, the other hooks from the caller's. Ownership: the ledger outlives
// this, and this outlives the requests given to Submit.

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

// How long a driver waits for a provider that is away, behind the gate's own few retries.
//
//   RetryPolicy{}                               // not at all: what the gate reports is the result
//   RetryPolicy{.max_wait = Millis(3'600'000)}  // 5 s, doubled up to 5 minutes, an hour together
//
// A request of one turn fails at once, so that a person can act. A run of hours outlasts a bad
// hour. Thread-safety: plain data and functions.

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

// What came of a call.
struct Called {
  Result<model::Reply> reply;
  std::string partial;                      // text that arrived, also if the call failed
  std::optional<Clock::Steady> first_text;  // when its first byte came
  Millis took{0};                           // waits between attempts included
};

// Each may be empty. In this order:
struct CallHooks {
  // Before anything is sent. An error is the call's, and nothing is sent.
  std::function<Status(const model::Request& request)> sending;
  // When the first attempt is about to leave, which may be long after it was handed over: until
  // then nothing was sent. Not called for one that is refused or cancelled before, nor for one that
  // a gate answers by itself. From the network thread or the caller's; must not block.
  std::function<void()> leaves;
  // While the request is on its way: for what need not delay it.
  std::function<void()> sent;
  // `so_far` is the text of this attempt with `delta` at its end.
  std::function<void(std::string_view delta, std::string_view so_far)> on_delta;
  std::function<void(int attempt, const Error& error, Millis wait)> on_retry;
  // Once, behind the last attempt. An error takes the place of the reply.
  std::function<Status(const Called& called)> ended;
};

class Caller {
 public:
  Caller(model::Ledger& ledger, std::shared_ptr<const Clock> clock, RetryPolicy retry = {})
      : ledger_(ledger), clock_(std::move(clock)), retry_(std::move(retry)) {}

  // Errors of the reply: those of model::Gate; kCancelled; those of the hooks.
  Called Ask(const BoundModel& model, model::Request request, const CallHooks& hooks,
             const CancelToken& cancel, model::Stage stage = model::Stage::kNormal);

  // Never blocks, and never asks again: for thousands of requests in flight. `sending` is called
  // when it leaves, which may be much later, and never if it is refused or cancelled before; `done`
  // gets the outcome once. Both run on the network thread or on the caller's, and must not block.
  void Submit(const BoundModel& model, std::shared_ptr<const model::Request> request,
              const CancelToken& cancel, std::function<void()> sending,
              std::function<void(Result<model::Reply>)> done);

  // What all replies so far took.
  model::UsageSum usage() const;

 private:
  void Add(const model::Usage& usage);

  model::Ledger& ledger_;
  const std::shared_ptr<const Clock> clock_;
  const RetryPolicy retry_;
  mutable std::mutex mutex_;
  model::UsageSum usage_;
};

// A call whose prompt is one layout, found by name, with the user's own sections in it.
struct LayoutSources {
  assembly::AssetFolders folders;
  SectionMakers makers;  // of sections that a user's layout adds
};
struct LayoutCall {
  std::string layout;  // "memory.rate"
  std::vector<assembly::Section> sections;
  SectionValues values;         // of its templates
  std::int64_t max_output = 0;  // tokens; at most what the model can
};

// Errors: those of the layout, its sections and the prompt.
Result<assembly::Assembled> AssembleLayout(const LayoutCall& call, const LayoutSources& sources,
                                           const BoundModel& model, const CancelToken& cancel);
// For texts that make room: of a history, of memory. Errors: also those of Caller::Ask; kNetwork if
// the model returned no text.
Result<model::Reply> AskByLayout(const LayoutCall& call, const LayoutSources& sources,
                                 const BoundModel& model, Caller& caller,
                                 const CancelToken& cancel);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_CALLER_H_
