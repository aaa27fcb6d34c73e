// Asks a person on the terminal whether a command from the model may run.
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

// Asks on /dev/tty, whatever stdin and stdout are. End of input counts as "q"; after an unknown
// answer it asks again. Errors: kRefused if there is no terminal.
Result<std::function<chat::Consent(const chat::Judged&)>> ConfirmOnTerminal();

// Returns a line that a person types on /dev/tty after `question`; "" at the end of input. Errors:
// kUsage if there is no terminal or stdin is not one, since nobody is there to answer.
Result<std::string> AskOnTerminal(std::string_view question);

// Returns the question for a person: the command as one would type it and the model's reason, each
// on one line of the program's own frame. No text from the model starts a line, breaks one or moves
// the cursor.
std::string ConsentQuestion(const chat::Judged& judged);
// Returns its two parts, for use in other lines of the program.
std::string ShownCommand(const std::vector<std::string>& argv);
std::string ShownReason(std::string_view reason);

// Lets the user write a message in an editor: $VISUAL, else $EDITOR, else vi.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, EditMessage("text to begin with"));
//
// The file is private (0600, in a 0700 folder) and removed at the end. Thread-safety: one call at a
// time; the editor uses the terminal.

// Returns the text after the editor has exited, without trailing newlines; "" means: send nothing.
// Errors: kFailed (the editor cannot be run or it failed), kIo, kUsage (the text is not UTF-8).
Result<std::string> EditMessage(std::string_view text);

// Lets a person choose a stored conversation on a terminal.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string id, PickConversation(list, read, err));
//   if (id.empty()) return;                 // nobody was picked
//
// A number picks one; words narrow the list to those whose id, model or title contain all of them;
// an empty line cancels. Thread-safety: one thread.

// Returns the items whose id, model or title contain all `words`, ignoring case, in list order.
std::vector<chat::Listed> Narrowed(const std::vector<chat::Listed>& list, std::string_view words);

// Shows the prompt and returns the next line, or nullopt at the end of input.
using ReadAnswer = std::function<std::optional<std::string>(const std::string& prompt)>;
// Returns "" if nothing is picked.
std::string PickConversation(const std::vector<chat::Listed>& list, int columns,
                             const ReadAnswer& read, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_DIALOGS_H_
