// Which model each role of a run has, opened once however many roles share it.
//
//   order.open_model = OpenByRole(config, [&](const std::string& name) { return Open(name); });
//
// Thread-safety: the result may be called from any thread; `open` is called by one at a time.

#ifndef DOSSIER_RESEARCH_SETUP_ROLE_MODELS_H_
#define DOSSIER_RESEARCH_SETUP_ROLE_MODELS_H_

#include "driver/bound_model.h"
#include "research/setup/config.h"

namespace dossier::research {

// Takes a role's name ("feedback"), and opens the model that `config` gives that role, else the one
// of role `code`; `open` takes a model's name. Errors: those of `open`, which is asked again then.
driver::OpenModel OpenByRole(const RunConfig& config, driver::OpenModel open);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_ROLE_MODELS_H_
