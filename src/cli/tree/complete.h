// Completes a command line, and prints the scripts that make a shell use it (`dossier __complete`).
//
//   for (const Completion& c : Complete({flags, root}, {"models", "pu"}).words) Print(c.word,
//   c.about);
//
// Everything comes from the commands and the kinds of their flags. Thread-safety: pure except for
// the offers of kinds, which read files.

#ifndef DOSSIER_CLI_TREE_COMPLETE_H_
#define DOSSIER_CLI_TREE_COMPLETE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tree/command.h"

namespace dossier::cli {

struct Completions {
  std::vector<Completion> words;
  ValueKind::Files files = ValueKind::Files::kNone;  // what the shell adds itself
};

// `words`: all words after `dossier`; the last one is unfinished and may be "".
Completions Complete(const CompletionContext& context, std::vector<std::string> words);

// Returns the script for bash, zsh or fish.
std::optional<std::string_view> CompletionScript(std::string_view shell);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_COMPLETE_H_
