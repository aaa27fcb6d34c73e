// Asks a person on the terminal whether a command of the model may run.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto confirm, ConfirmOnTerminal());
//   parts.confirm = confirm;             // y, n, a (all that follow) or q
//
// Thread-safety: one caller at a time.

#ifndef DOSSIER_CLI_CHAT_CHAT_DIALOGS_H_
#define DOSSIER_CLI_CHAT_CHAT_DIALOGS_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/store/index.h"
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

// A message written in the user's own editor: $VISUAL, else $EDITOR, else vi.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, EditMessage("text to begin with"));
//
// The file is private (0600, in a folder of 0700) and removed at the end. Thread-safety: one at a
// time; the editor has the terminal.

// The text when the editor has ended, without line ends at its end; "": nothing is to be sent.
// Errors: kFailed (the editor cannot be run, or it failed), kIo, kUsage (the text is not UTF-8).
Result<std::string> EditMessage(std::string_view text);

// The question which of the stored conversations is meant, on a terminal.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string id, PickConversation(list, read, err));
//   if (id.empty()) return;                 // nobody was picked
//
// A number picks; words narrow the list to those whose id, model or title hold them all; an empty
// line leaves. Thread-safety: one thread.

// Those whose id, model or title hold every word of `words`, in any case; their order stays.
std::vector<chat::Listed> Narrowed(const std::vector<chat::Listed>& list, std::string_view words);

// `read`: the next line; unset at the end of input. Returns "" if nobody is picked.
std::string PickConversation(const std::vector<chat::Listed>& list, int columns,
                             const std::function<std::optional<std::string>()>& read,
                             std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_DIALOGS_H_
