// `dossier context show`: the frozen context of a conversation, and those that refreshes replaced.
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONTEXT_SHOW_H_
#define DOSSIER_CLI_CONVERSATIONS_CONTEXT_SHOW_H_

#include <ostream>

#include "cli/conversations/conversations_command.h"
#include "config/config.h"

namespace dossier::cli {

// Errors: kUsage (flags that exclude each other), kNotFound (no such conversation, block or
// replaced context; a text that is not kept), kDamaged.
Status ShowContext(const ContextArguments& arguments, const config::Config& config,
                   std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONTEXT_SHOW_H_
