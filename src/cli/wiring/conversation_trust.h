// Models that conversations of a project name: a file that came with the project could send what
// you write to another address, or start a program. They count as `model` of the project's
// configuration does.
//
//   DOSSIER_RETURN_IF_ERROR(CheckStoredModel(stored.model, config, global, err));
//   DOSSIER_RETURN_IF_ERROR(ApproveStoredModel(model.stored, config));
//
// Thread-safety: as config/trust.h.

#ifndef DOSSIER_CLI_WIRING_CONVERSATION_TRUST_H_
#define DOSSIER_CLI_WIRING_CONVERSATION_TRUST_H_

#include <ostream>
#include <string>

#include "base/result.h"
#include "cli/wiring/global_flags.h"
#include "config/config.h"

namespace dossier::cli {

// Whether `model`, which a conversation names and nobody else, may be asked. A person is asked on
// the terminal. Errors: kRefused, naming the way out.
Status CheckStoredModel(const std::string& model, const config::Config& config,
                        const GlobalFlags& global, std::ostream& err);

// The user named `model` for a conversation: from now on every conversation in that folder may.
Status ApproveStoredModel(const std::string& model, const config::Config& config);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_CONVERSATION_TRUST_H_
