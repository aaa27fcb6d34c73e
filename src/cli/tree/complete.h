// What could stand at the end of a command line: for the shells' completion.
//
//   for (const Completion& c : Complete(root, {"models", "pu"}, offers)) Print(c.word, c.about);
//
// Everything comes from the tree; `offers` knows names that change: models, conversations.
// Thread-safety: pure but for `offers`.

#ifndef DOSSIER_CLI_TREE_COMPLETE_H_
#define DOSSIER_CLI_TREE_COMPLETE_H_

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::cli {

struct Completion {
  std::string word, about;
};

// The names of a kind (MODEL, CONVERSATION, KEY, VARIABLE, CONFIG, LAYOUT, TOPIC, PAGE); empty for
// one that is not known.
using Offers = std::function<std::vector<Completion>(std::string_view kind)>;

struct Completions {
  std::vector<Completion> words;
  // What the shell adds by its own means.
  enum class Files { kNone, kFiles, kFolders } files = Files::kNone;
};

// `words`: all behind `dossier`, the last one is unfinished and may be "".
Completions Complete(const CLI::App& root, std::vector<std::string> words, const Offers& offers);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_COMPLETE_H_
