// What every flag and argument of the program must be, whatever its command does with it: a number
// where a number is wanted, UTF-8 where a text is wanted. One place for all commands.
//
//   AddValueChecks(app);   // once the tree stands; its parse then refuses what is neither
//
// A path may be any bytes, and so may a word of another program: options of these types (PATH,
// FOLDER, DIR, WORD) are left alone.
// Thread-safety: none; before the parse.

#ifndef DOSSIER_CLI_TREE_VALUE_CHECKS_H_
#define DOSSIER_CLI_TREE_VALUE_CHECKS_H_

#include <CLI/App.hpp>
#include <string_view>

#include "base/result.h"

namespace dossier::cli {

// For the options of `app` itself, not of its subcommands.
void AddValueChecks(CLI::App& app);

// Errors: kUsage with `what` and the first byte that is no part of a character.
Status CheckUtf8(std::string_view text, std::string_view what);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_VALUE_CHECKS_H_
