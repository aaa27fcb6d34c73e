// Asks a person on the terminal whether a command of the model may run (CON-38).
//
//   DOSSIER_ASSIGN_OR_RETURN(auto confirm, ConfirmOnTerminal());
//   parts.confirm = confirm;             // y, n, a (all that follow) or q
//
// Thread-safety: one caller at a time.

#ifndef DOSSIER_CLI_CONFIRM_COMMAND_H_
#define DOSSIER_CLI_CONFIRM_COMMAND_H_

#include <functional>

#include "base/result.h"
#include "conversation/tool_calls.h"

namespace dossier::cli {

// On /dev/tty, whatever stdin and stdout are. The end of input is "q"; another word is asked about
// again. Errors: kRefused if there is no terminal.
Result<std::function<conversation::Consent(const conversation::Judged&)>> ConfirmOnTerminal();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONFIRM_COMMAND_H_
