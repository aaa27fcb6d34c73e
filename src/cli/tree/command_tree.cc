#include "cli/tree/command_tree.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/tree/examples.h"
#include "cli/tree/usage_message.h"
#include "cli/tree/value_checks.h"

namespace dossier::cli {
namespace {

constexpr std::string_view kHidden;  // the group of options that are not shown

// What the values of an option are, where the command does not say it itself.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"--model", "MODEL"},
    {"--sub-model", "MODEL"},
    {"--conversation", "CONVERSATION"},
    {"--var", "VARIABLE"},
    {"--layouts-dir", "FOLDER"},
    {"--script", "PATH"},
    {"--record", "PATH"},
    {"--replay", "PATH"},
    {"--output", "PATH"},
    {"--out", "PATH"},
    {"--key-env", "NAME"},
    {"--base-url", "URL"},
    {"--timeout", "TIME"},
    {"--idle-timeout", "TIME"},
    {"--max-time", "TIME"},
    {"path", "PATH"},
    {"paths", "PATH"},
    {"file", "PATH"},
    {"--report", "PATH"},
    {"--previous", "PATH"},
    {"--log-dir", "FOLDER"},
    {"--manifest", "PATH"},
    {"--files-from", "PATH"},
    {"--payload", "PATH"},
    {"program", "WORD"},
    {"--argv", "WORD"},
    {"words", "WORD"},
    {"--sandbox-read", "FOLDER"},
};

std::string TwinOf(const std::string& name) {
  return name.starts_with("no-") ? "--" + name.substr(3) : "--no-" + name;
}

bool IsHelp(const CLI::App& app, const CLI::Option* option) {
  return option == app.get_help_ptr() || option == app.get_help_all_ptr() ||
         option == app.get_version_ptr();
}

void AddTwins(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!IsFlag(*option) || IsHelp(app, option)) continue;
    for (const std::string& name : option->get_lnames()) {
      const std::string twin = TwinOf(name);
      if (app.get_option_no_throw(twin)) continue;
      app.add_flag(twin)
          ->group(std::string(kHidden))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

void NameKinds(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (IsFlag(*option) || !ChoicesOf(*option).empty()) continue;
    for (const auto& [name, kind] : kKinds) {
      const std::string_view bare = name.starts_with("--") ? name.substr(2) : name;
      const auto& names = option->get_lnames();
      const bool same = name.starts_with("--")
                            ? std::find(names.begin(), names.end(), bare) != names.end()
                            : option->get_name(true) == bare;
      if (same && KindOf(*option) == "TEXT") option->type_name(std::string(kind));
    }
  }
}

void Finish(CLI::App& app, const std::string& path) {
  AddTwins(app);
  NameKinds(app);
  AddValueChecks(app);
  if (app.get_footer().empty()) app.footer(std::string(ExamplesOf(path)));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    Finish(*command, path.empty() ? command->get_name() : path + " " + command->get_name());
  }
}

// CLI11's own words name the flag, but "Could not convert: --budget = abc" does not say what is
// wanted: only numbers are converted.
std::string Sentence(const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";
  std::string text = error.what();
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kConversion) || equals == std::string::npos) return UsageMessage(text);
  return text.replace(equals, 3, " ").substr(kConversion.size()) + ": not a number, or too large";
}

std::size_t LastPlace(const CLI::App& app, const CLI::Option* option) {
  const auto& order = app.parse_order();
  for (std::size_t i = order.size(); i > 0; --i) {
    if (order[i - 1] == option) return i;
  }
  return 0;
}

}  // namespace

bool IsFlag(const CLI::Option& option) {
  return option.nonpositional() && option.get_items_expected_max() == 0;
}

std::string KindOf(const CLI::Option& option) {
  if (IsFlag(option)) return "";
  // CLI11 appends what the checks say: "TEXT:{auto,always}", "INT:POSITIVE".
  const std::string type = option.get_type_name();
  return type.substr(0, type.find_first_of(": "));
}

std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find(":{");
  const auto close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  const std::string inside = type.substr(open + 2, close - open - 2);
  for (const std::string_view word : Split(inside, ',')) choices.emplace_back(word);
  return choices;
}

void FinishTree(CLI::App& root) { Finish(root, ""); }

void ApplyTwins(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!IsFlag(*option) || option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      CLI::Option* twin = app.get_option_no_throw(TwinOf(name));
      if (!twin || !twin->get_group().empty() || twin->count() == 0) continue;
      if (LastPlace(app, twin) < LastPlace(app, option)) continue;
      option->clear();
      option->add_result("false");
      option->run_callback();
    }
  }
  for (CLI::App* command : app.get_subcommands()) ApplyTwins(*command);
}

const CLI::App& LastCommand(const CLI::App& root, std::string* path) {
  const CLI::App* command = &root;
  *path = root.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    *path += " " + command->get_name();
  }
  return *command;
}

const CLI::App* FindCommand(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* command = &root;
  for (const std::string& word : words) {
    const auto below =
        command->get_subcommands([&](const CLI::App* app) { return app->get_name() == word; });
    if (below.empty()) return nullptr;
    command = below.front();
  }
  return command;
}

std::vector<const CLI::App*> Commands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); });
}

std::vector<const CLI::Option*> Options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::vector<const CLI::Option*> Positionals(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return option->get_positional() && !option->get_group().empty();
  });
}

std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

namespace {

// What is wrong with the first word that nobody wants.
std::string Unwanted(const CLI::App& command, const std::string& path, const std::string& given) {
  std::string word = utf8::CleanForTerminal(utf8::Sanitize(given));
  std::vector<std::string> known;
  std::string message, otherwise;
  if (word.starts_with('-')) {
    word = word.substr(0, word.find('='));
    message = fmt::format("unknown flag {}", word);
    known = FlagNames(command);
    if (std::binary_search(known.begin(), known.end(), word)) {  // given before the command's name
      return fmt::format("{0} belongs behind the command: {1} {0}", word, path);
    }
  } else if (!Commands(command).empty()) {
    message = fmt::format("there is no command {}", word);
    for (const CLI::App* app : Commands(command)) known.push_back(app->get_name());
    otherwise = "; there are " + Join(known, ", ");
  } else {
    message = fmt::format("unexpected argument '{}'", word);
  }
  const auto near = NearestNames(word, known, 1);
  return message + (near.empty() ? otherwise : fmt::format("; did you mean {}?", near[0]));
}

}  // namespace

std::string UsageMessage(const CLI::App& root, const CLI::ParseError& error) {
  std::string path;
  const CLI::App& command = LastCommand(root, &path);
  std::string message = Sentence(error);
  const std::vector<std::string> left = root.remaining(/*recurse=*/true);
  if (!left.empty()) {
    message = Unwanted(command, path, left.front());
  } else if (command.get_require_subcommand_min() > 0) {
    std::vector<std::string> names;
    for (const CLI::App* app : Commands(command)) names.push_back(app->get_name());
    message = "a command is missing; there are " + Join(names, ", ");
  }
  // One line, also where CLI11 lists several.
  message = ReplaceAll(message, "\n", " ");
  return fmt::format("{}; see `{} --help`", message, path);
}

}  // namespace dossier::cli
