// `dossier chat`: one turn with a model, stateless or in a stored conversation, or a session of
// many turns.
//
//   int code = RunChat(arguments, global, interrupt, out, err);
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_CHAT_CHAT_COMMAND_H_
#define DOSSIER_CLI_CHAT_CHAT_COMMAND_H_

#include <ostream>

#include "cli/chat/chat_flags.h"
#include "cli/terminal/interrupt.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// Returns the exit code. A session takes Ctrl-C over while it runs.
int RunChat(const ChatArguments& arguments, const GlobalFlags& global, Interrupt& interrupt,
            std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_COMMAND_H_
