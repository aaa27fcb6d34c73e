// The commands that a person types into `dossier chat`: one table makes parser, /help and
// completion.
//
//   auto input = ParseChatInput("/model gpt-4o");
//   if (!input) Show(input.error());                       // "unknown command /modle; did you mean
//   /model?" if (input->command == SlashCommand::kModel) Use(input->argument);   // "gpt-4o" if
//   (input->command == SlashCommand::kPrompt) Send(input->argument);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_CHAT_SLASH_COMMAND_H_
#define DOSSIER_CLI_CHAT_SLASH_COMMAND_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/tree/command.h"

namespace dossier::cli {

enum class SlashCommand : std::uint8_t {
  kPrompt,  // no command: text for the model
  kHelp,
  kExit,
  kContext,
  kRefresh,
  kTokens,
  kUsage,
  kModel,
  kExec,
  kCopy,
  kEdit,
  kMulti,
  kUndo,
  kRetry,
  kFork,
  kSave,
  kCompact,
};

struct ChatInput {
  SlashCommand command = SlashCommand::kPrompt;
  std::string argument;  // what follows the name, or the prompt itself
};

// A line that begins with `/` is a command, with `//` a prompt that begins with `/`; all else is a
// prompt, as typed. A text of several lines is a prompt unless a known command begins its first
// one.
//
// Errors: kUsage for an unknown command (naming the nearest), one without its argument, or with one
// that it does not take.
Result<ChatInput> ParseChatInput(std::string_view text);

// The lines of /help.
std::string SlashHelp();

// The commands that begin with `typed`, in the order of the table: "/ex" -> {"/exit", "/exec"}.
std::vector<std::string> CompleteSlash(std::string_view typed);

// The same; and what may stand behind a command that takes a name, and the files behind an @ that
// begins the last word. Each is the whole text with the last word completed.
std::vector<std::string> CompleteTyped(std::string_view typed, const CompletionContext& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_SLASH_COMMAND_H_
