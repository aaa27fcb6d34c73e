// The gate with its timer given from outside, so that tests decide when time passes.
//
//   auto gate = MakeGate(client, {.concurrency = 4}, clock, timer);
//
// Thread-safety: as Gate.

#ifndef DOSSIER_MODEL_CLIENT_GATE_CORE_H_
#define DOSSIER_MODEL_CLIENT_GATE_CORE_H_

#include <memory>

#include "model/client/gate.h"
#include "model/client/timer.h"

namespace dossier::model {

std::unique_ptr<Gate> MakeGate(std::shared_ptr<Client> client, const GateOptions& options,
                               std::shared_ptr<const Clock> clock, std::shared_ptr<Timer> timer);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_GATE_CORE_H_
