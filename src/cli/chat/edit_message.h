// A message written in the user's own editor: $VISUAL, else $EDITOR, else vi.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, EditMessage("text to begin with"));
//
// The file is private (0600, in a folder of 0700) and removed at the end. Thread-safety: one at a
// time; the editor has the terminal.

#ifndef DOSSIER_CLI_CHAT_EDIT_MESSAGE_H_
#define DOSSIER_CLI_CHAT_EDIT_MESSAGE_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::cli {

// The text when the editor has ended, without line ends at its end; "": nothing is to be sent.
// Errors: kFailed (the editor cannot be run, or it failed), kIo, kUsage (the text is not UTF-8).
Result<std::string> EditMessage(std::string_view text);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_EDIT_MESSAGE_H_
