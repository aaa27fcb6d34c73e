// Help from the tree: `-h` short, `--help` full with the examples first, `help TOPIC`.
//
//   out << HelpText(command, "dossier models pull", HelpLength::kFull);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_TREE_HELP_TEXT_H_
#define DOSSIER_CLI_TREE_HELP_TEXT_H_

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::cli {

enum class HelpLength { kShort, kFull };

// kShort: usage, commands, the options of the command itself. kFull: examples, every group, the
// global flags.
std::string HelpText(const CLI::App& command, std::string_view path, HelpLength length);

// "dossier ask [OPTIONS] [QUESTION] [PATHS]...".
std::string UsageLine(const CLI::App& command, std::string_view path);
// "-m, --model MODEL".
std::string OptionTitle(const CLI::Option& option);
// The option's description, with its default where it has one.
std::string OptionText(const CLI::Option& option);

struct Topic {
  std::string_view name, about;
};
// What `help` knows beside commands: exit-codes, config-keys, environment.
std::vector<Topic> Topics();
std::optional<std::string> TopicText(std::string_view name);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_HELP_TEXT_H_
