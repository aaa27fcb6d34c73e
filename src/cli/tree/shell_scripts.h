// The scripts that make a shell ask `dossier __complete`.
//
//   out << *CompletionScript("zsh");
//
// Thread-safety: constant data.

#ifndef DOSSIER_CLI_TREE_SHELL_SCRIPTS_H_
#define DOSSIER_CLI_TREE_SHELL_SCRIPTS_H_

#include <optional>
#include <string_view>

namespace dossier::cli {

// Of bash, zsh or fish.
std::optional<std::string_view> CompletionScript(std::string_view shell);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_SHELL_SCRIPTS_H_
