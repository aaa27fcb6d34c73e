// Help and manual pages, made from the commands: `-h` short, `--help` full with the examples first,
// `help TOPIC`, `man` as roff.
//
//   out << HelpText(*root.Find({"models", "pull"}), HelpLength::kFull);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_TREE_HELP_TEXT_H_
#define DOSSIER_CLI_TREE_HELP_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tree/command.h"

namespace dossier::cli {

enum class HelpLength { kScreen, kShort, kFull };

// kScreen: examples and the names of commands, for a terminal of 80 by 24. kShort: usage, commands,
// the options of the command itself. kFull: examples, every group, the global flags.
std::string HelpText(const CommandNode& command, HelpLength length);

// "dossier ask [OPTIONS] [QUESTION] [PATHS]...".
std::string UsageLine(const CommandNode& command);

struct HelpTopic {
  std::string_view name, about;
};
// What `help` knows beside commands: exit-codes, config-keys, environment.
std::vector<HelpTopic> Topics();
std::optional<std::string> TopicText(std::string_view name);

// The manual page; that of the root lists exit codes and files, too.
std::string ManPage(const CommandNode& command);
// `text` as roff that prints just that.
std::string RoffText(std::string_view text);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_HELP_TEXT_H_
