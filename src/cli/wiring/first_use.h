// What a person is asked where no model is there yet: a server of this machine, else the local
// model.
//
//   settings.first_use = OfferFirstUse(flags);
//
// Thread-safety: none needed.

#ifndef DOSSIER_CLI_WIRING_FIRST_USE_H_
#define DOSSIER_CLI_WIRING_FIRST_USE_H_

#include "app/open_model.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// Empty where nobody can be asked and nothing may be fetched: then the error says what to type. It
// asks on the terminal; with -y nothing is asked and the answer is yes.
decltype(app::ModelSettings::first_use) OfferFirstUse(const GlobalFlags& flags);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_FIRST_USE_H_
