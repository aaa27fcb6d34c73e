// Rules for commands that no backend runs; the model gets the reason with exit status 126.
//
//   RuledCommand ruled = ApplyCommandRules({.command = "sudo make install"}, Root::kYes);
//   ruled.command.command;                           // "make install", with a note
//   ApplyCommandRules({.command = "docker run x"}, Root::kYes).refusal->refused;   // the reason
//
// Security comes from the sandbox; these rules only spare the model attempts that cannot work.
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_
#define DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "research/exec/exec_backend.h"

namespace dossier::research {

inline constexpr int kRefusedStatus = 126;

struct RuledCommand {
  ExecCommand command;  // the command to run
  std::string note;     // "a leading sudo was dropped"
  std::optional<ExecResult> refusal;
};

RuledCommand ApplyCommandRules(const ExecCommand& command, SandboxFacts::Root root);

// Errors that all backends report in the same way.
tl::unexpected<Error> NotStarted();
tl::unexpected<Error> Cancelled(const CancelToken& cancel);

// The simple commands of a shell line: which programs it would start, and with which arguments.
//
//   for (const ShellCommand& command : ShellCommands("cd x && sudo make -j2 > log"))
//     Judge(command.words);                          // {"cd","x"}, then {"sudo","make","-j2"}
//
// For checking what a model wrote, not for running it: words are unquoted, but nothing is expanded.
// Commands in $(…), `…` and (…) are listed too; here documents, comments and redirections are
// skipped. Leading assignments and grammar words (`if`, `do`, `!`) are left out. Invalid shell code
// still gives a list. Linear in the text; code nested deeper than kMaxShellDepth is not examined.
// Thread-safety: pure function.

inline constexpr int kMaxShellDepth = 32;

struct ShellWord {
  std::string text;                // without quotes
  std::size_t begin = 0, end = 0;  // byte offsets in the line
};

struct ShellCommand {
  std::vector<ShellWord> words;  // at least one
};

std::vector<ShellCommand> ShellCommands(std::string_view line);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_
