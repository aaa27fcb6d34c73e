// Opens the model of each role of a run, each model once even if several roles share it.
//
//   order.open_model = OpenByRole(config, [&](const std::string& name) { return Open(name); });
//
// Thread-safety: the result may be called from any thread; calls of `open` are serialised.

#ifndef DOSSIER_RESEARCH_SETUP_ROLE_MODELS_H_
#define DOSSIER_RESEARCH_SETUP_ROLE_MODELS_H_

#include "driver/bound_model.h"
#include "research/setup/config.h"

namespace dossier::research {

// Returns a function that opens the model that `config` gives a role ("feedback"), else that of
// role `code`. `open` takes a model's name. Errors: those of `open`, which is retried next time.
driver::OpenModel OpenByRole(const RunConfig& config, driver::OpenModel open);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_ROLE_MODELS_H_
