// Asks a person on the terminal whether a command of the model may run.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto confirm, ConfirmOnTerminal());
//   parts.confirm = confirm;             // y, n, a (all that follow) or q
//
// Thread-safety: one caller at a time.

#ifndef DOSSIER_CLI_CHAT_CONFIRM_COMMAND_H_
#define DOSSIER_CLI_CHAT_CONFIRM_COMMAND_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/turn/tool_calls.h"

namespace dossier::cli {

// On /dev/tty, whatever stdin and stdout are. The end of input is "q"; another word is asked about
// again. Errors: kRefused if there is no terminal.
Result<std::function<chat::Consent(const chat::Judged&)>> ConfirmOnTerminal();

// A line that a person types on /dev/tty behind `question`; "" at the end of input. Errors: kUsage
// if there is no terminal, or stdin is none: then nobody is there to answer.
Result<std::string> AskOnTerminal(std::string_view question);

// What a person is asked: the command as one would type it, and the model's reason, each on one
// line of the program's own frame. Nothing of the model's begins a line, breaks one or moves the
// cursor.
std::string ConsentQuestion(const chat::Judged& judged);
// Its two parts, for other lines of ours.
std::string ShownCommand(const std::vector<std::string>& argv);
std::string ShownReason(std::string_view reason);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CONFIRM_COMMAND_H_
