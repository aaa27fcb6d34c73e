#include "cli/tree/complete.h"

#include <algorithm>

#include "base/text/text.h"
#include "cli/tree/command_tree.h"

namespace dossier::cli {
namespace {

const CLI::Option* FindOption(const CLI::App& command, const std::string& name) {
  for (const CLI::App* app = &command; app; app = app->get_parent()) {
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

// Where a line of words stands in the tree.
struct Place {
  const CLI::App* command;
  const CLI::Option* value_of = nullptr;  // the next word is its value
  std::size_t positionals = 0;            // given so far
  bool flags_ended = false;
};

Place Walk(const CLI::App& root, const std::vector<std::string>& words) {
  Place place{.command = &root};
  for (const std::string& word : words) {
    if (place.value_of) {
      place.value_of = nullptr;
      continue;
    }
    if (!place.flags_ended && word == "--") {
      place.flags_ended = true;
    } else if (!place.flags_ended && word.size() > 1 && word[0] == '-') {
      const CLI::Option* option = FindOption(*place.command, word.substr(0, word.find('=')));
      const bool whole = word.find('=') != std::string::npos;
      if (option && !IsFlag(*option) && !whole) place.value_of = option;
    } else if (const CLI::App* below = FindCommand(*place.command, {word});
               below && !place.flags_ended && place.positionals == 0) {
      place.command = below;
    } else {
      ++place.positionals;
    }
  }
  return place;
}

class Completer {
 public:
  Completer(std::string prefix, const Offers& offers)
      : prefix_(std::move(prefix)), offers_(offers) {}

  void AddValues(const CLI::Option& option, const std::string& before) {
    for (const std::string& word : ChoicesOf(option)) Add(before + word, "");
    const std::string kind = KindOf(option);
    for (const Completion& offer : offers_(kind)) Add(before + offer.word, offer.about);
    if (kind == "PATH" || kind == "FILE") found_.files = Completions::Files::kFiles;
    if (kind == "FOLDER") found_.files = Completions::Files::kFolders;
  }

  void AddFlags(const CLI::App& command) {
    for (const CLI::App* app = &command; app; app = app->get_parent()) {
      for (const CLI::Option* option : Options(*app)) {
        for (const std::string& name : option->get_lnames()) {
          Add("--" + name, option->get_description());
        }
        for (const std::string& name : option->get_snames()) {
          Add("-" + name, option->get_description());
        }
      }
    }
    // The twins are many: they show once they are asked for.
    if (!prefix_.starts_with("--no-")) return;
    for (const std::string& name : FlagNames(command)) Add(name, "");
  }

  void AddCommands(const CLI::App& command) {
    for (const CLI::App* app : Commands(command)) Add(app->get_name(), app->get_description());
  }

  Completions Take() {
    auto& words = found_.words;
    std::stable_sort(words.begin(), words.end(),
                     [](const auto& a, const auto& b) { return a.word < b.word; });
    words.erase(std::unique(words.begin(), words.end(),
                            [](const auto& a, const auto& b) { return a.word == b.word; }),
                words.end());
    return std::move(found_);
  }

 private:
  void Add(const std::string& word, const std::string& about) {
    if (word.starts_with(prefix_)) found_.words.push_back({word, about});
  }

  std::string prefix_;
  const Offers& offers_;
  Completions found_;
};

const CLI::Option* PositionalAt(const CLI::App& command, std::size_t index) {
  const auto positionals = Positionals(command);
  if (positionals.empty()) return nullptr;
  return positionals[std::min(index, positionals.size() - 1)];
}

}  // namespace

Completions Complete(const CLI::App& root, std::vector<std::string> words, const Offers& offers) {
  if (words.empty()) words.emplace_back();
  const std::string last = words.back();
  words.pop_back();
  const Place place = Walk(root, words);
  Completer completer(last, offers);
  const auto equals = last.find('=');
  if (place.value_of) {
    completer.AddValues(*place.value_of, "");
  } else if (!place.flags_ended && last.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = FindOption(*place.command, last.substr(0, equals));
    if (option && !IsFlag(*option)) completer.AddValues(*option, last.substr(0, equals + 1));
  } else if (!place.flags_ended && last.starts_with('-')) {
    completer.AddFlags(*place.command);
  } else {
    if (place.positionals == 0 && !place.flags_ended) completer.AddCommands(*place.command);
    if (const auto* option = PositionalAt(*place.command, place.positionals)) {
      completer.AddValues(*option, "");
    }
  }
  return completer.Take();
}

}  // namespace dossier::cli
