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

#ifndef DOSSIER_RESEARCH_EXEC_SHELL_WORDS_H_
#define DOSSIER_RESEARCH_EXEC_SHELL_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::research {

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

#endif  // DOSSIER_RESEARCH_EXEC_SHELL_WORDS_H_
