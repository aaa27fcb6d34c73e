// A call of a model that outlasts a provider's bad hour, but not for ever.
//
//   Result<model::Reply> reply = AskPatiently(model, request, patience, cancel);
//
// The gate of the model tries a few times by itself; behind it come waits of 5 s, doubled up to 5
// minutes, until `max_wait` is used up. Thread-safety: blocks its caller.

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
Result<model::Reply> AskPatiently(const chat::ChatModel& model, const model::Request& request,
                                  const Patience& patience, const CancelToken& cancel);

// Until `time` is over or `cancel` is.
void Pause(Millis time, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_PROVIDER_PATIENCE_H_
