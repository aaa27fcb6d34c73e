// `dossier chat`: one turn with a model, stateless or in a stored conversation (3.2).
//
//   int code = RunChat(arguments, global, cancel, out, err);
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_CHAT_COMMAND_H_
#define DOSSIER_CLI_CHAT_COMMAND_H_

#include <ostream>

#include "base/cancel.h"
#include "cli/chat_flags.h"
#include "cli/global_flags.h"

namespace dossier::cli {

// Returns the exit code (CON-4).
int RunChat(const ChatArguments& arguments, const GlobalFlags& global, const CancelToken& cancel,
            std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_COMMAND_H_
