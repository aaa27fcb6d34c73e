// Help and manual pages, generated from the commands: `-h` short, `--help` full with examples
// first, `help TOPIC`, `man` as roff.
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

// kScreen: examples and command names, for a terminal of 80 by 24. kShort: usage, commands, the
// command's own options. kFull: examples, every group, the global flags.
std::string HelpText(const CommandNode& command, HelpLength length);

// Returns "dossier ask [OPTIONS] [QUESTION] [PATHS]...".
std::string UsageLine(const CommandNode& command);

struct HelpTopic {
  std::string_view name, about;
};
// The topics of `help` besides commands: exit-codes, config-keys, environment.
std::vector<HelpTopic> Topics();
std::optional<std::string> TopicText(std::string_view name);

// Returns the manual page; the root's also lists exit codes and files.
std::string ManPage(const CommandNode& command);
// Escapes `text` so that roff prints exactly it.
std::string RoffText(std::string_view text);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_HELP_TEXT_H_
