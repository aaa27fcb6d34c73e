// Calls a model and tries again while its provider is unavailable, up to a limit.
//
//   Result<model::Reply> reply = CompleteWithRetry(model, request, patience, cancel);
//
// The model's gate retries a few times by itself. After that this function waits 5 s, then twice as
// long each time up to 5 minutes, and tries again until `max_wait` is used up. Thread-safety:
// blocks its caller.

#ifndef DOSSIER_RESEARCH_CALL_PROVIDER_PATIENCE_H_
#define DOSSIER_RESEARCH_CALL_PROVIDER_PATIENCE_H_

#include <functional>
#include <memory>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "chat/turn/chat_model.h"
#include "model/client/ledger.h"

namespace dossier::research {

struct Patience {
  model::Ledger* ledger = nullptr;
  std::shared_ptr<const Clock> clock;
  Millis max_wait{3'600'000};  // all waits behind the gate together
  // What it waits for, and until the next try. May be empty.
  std::function<void(std::string_view reason, Millis left)> on_wait;
  std::function<void(Millis time, const CancelToken& cancel)> wait;  // empty: Pause
};

// Errors: those of the gate. kRateLimited, kNetwork and kTimeout only once `max_wait` is used up.
Result<model::Reply> CompleteWithRetry(const chat::ChatModel& model, const model::Request& request,
                                       const Patience& patience, const CancelToken& cancel);

// Waits until `time` is over or `cancel` is cancelled.
void Pause(Millis time, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_PROVIDER_PATIENCE_H_
