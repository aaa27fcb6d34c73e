// Commands that no backend runs. The model is told why, as exit status 126.
//
//   RuledCommand ruled = ApplyCommandRules({.command = "sudo make install"}, Root::kYes);
//   ruled.command.command;                           // "make install", with a note
//   ApplyCommandRules({.command = "docker run x"}, Root::kYes).refusal->refused;   // the reason
//
// What holds a command inside is the sandbox; these rules spare the model attempts that cannot
// work. Thread-safety: pure functions.

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
  ExecCommand command;  // as it is to be run
  std::string note;     // "a leading sudo was dropped"
  std::optional<ExecResult> refusal;
};

RuledCommand ApplyCommandRules(const ExecCommand& command, SandboxFacts::Root root);

// What backends say alike.
tl::unexpected<Error> NotStarted();
tl::unexpected<Error> Cancelled(const CancelToken& cancel);

// The simple commands of a line of shell: which programs it would start, and with what.
//
//   for (const ShellCommand& command : ShellCommands("cd x && sudo make -j2 > log"))
//     Judge(command.words);                          // {"cd","x"}, then {"sudo","make","-j2"}
//
// For judging what a model wrote, not for running it: words are unquoted, but nothing is expanded.
// Commands in $(…), `…` and (…) are listed too; here documents, comments and redirections are
// passed over. Leading assignments and the words of the grammar (`if`, `do`, `!`) are left out.
// What is no valid shell still gives a list. Linear in the text; nesting above kMaxShellDepth is
// not looked into. Thread-safety: pure function.

inline constexpr int kMaxShellDepth = 32;

struct ShellWord {
  std::string text;                // without quotes
  std::size_t begin = 0, end = 0;  // bytes of the line
};

struct ShellCommand {
  std::vector<ShellWord> words;  // at least one
};

std::vector<ShellCommand> ShellCommands(std::string_view line);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_
