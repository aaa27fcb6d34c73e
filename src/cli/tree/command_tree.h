// What the parser's tree knows beyond CLI11: `--no-` twins, kinds of values, examples, nearest
// names. The tree is the one table from which parser, help, completion and manual pages are made.
//
//   FinishTree(app);                       // once all commands are added
//   app.parse(argc, argv);
//   ApplyTwins(app);
//   Run(LastCommand(app));
//
// Thread-safety: none needed; one tree a process.

#ifndef DOSSIER_CLI_TREE_COMMAND_TREE_H_
#define DOSSIER_CLI_TREE_COMMAND_TREE_H_

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::cli {

// Gives every flag its twin, options the kind of their values (MODEL, PATH …), commands their
// examples. The twin of `--no-x` is `--x`.
void FinishTree(CLI::App& root);

// Where a flag and its twin were both given, the later one holds.
void ApplyTwins(CLI::App& root);

// The innermost command that was given; `path` gets "dossier models pull".
const CLI::App& LastCommand(const CLI::App& root, std::string* path);

// The command at a path of words, as of `help models pull`; null if there is none.
const CLI::App* FindCommand(const CLI::App& root, const std::vector<std::string>& words);

// Sub-commands that people are shown.
std::vector<const CLI::App*> Commands(const CLI::App& command);
// Options that people are shown, without the positional ones.
std::vector<const CLI::Option*> Options(const CLI::App& command);
std::vector<const CLI::Option*> Positionals(const CLI::App& command);
// "-m", "--model", "--json", "--no-json": every way to write the options of a command and of those
// above it.
std::vector<std::string> FlagNames(const CLI::App& command);

// True for a flag: it takes no value.
bool IsFlag(const CLI::Option& option);
// "MODEL", "PATH" …; "" for a flag.
std::string KindOf(const CLI::Option& option);
// The words that may be given, of options that take one of a few.
std::vector<std::string> ChoicesOf(const CLI::Option& option);

// What was wrong with the command line, in one sentence with the nearest name.
std::string UsageMessage(const CLI::App& root, const CLI::ParseError& error);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_COMMAND_TREE_H_
