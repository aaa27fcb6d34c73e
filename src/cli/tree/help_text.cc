#include "cli/tree/help_text.h"

#include <algorithm>

#include "base/text/text.h"
#include "cli/tree/command_tree.h"
#include "cli/tree/exit_codes.h"
#include "config/keys.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kTitleWidth = 28;  // columns of the left part
constexpr std::size_t kWidth = 100;

void AddRow(std::string_view title, std::string_view text, std::string* out) {
  *out += fmt::format("  {:<{}}", title, kTitleWidth);
  if (title.size() >= kTitleWidth) *out += fmt::format("\n  {:<{}}", "", kTitleWidth);
  std::size_t column = kTitleWidth + 2;
  for (const std::string_view word : Split(text, ' ')) {
    if (column + word.size() + 1 > kWidth) {
      while (out->ends_with(' ')) out->pop_back();
      *out += fmt::format("\n  {:<{}}", "", kTitleWidth);
      column = kTitleWidth + 2;
    }
    *out += fmt::format("{} ", word);
    column += word.size() + 1;
  }
  while (out->ends_with(' ')) out->pop_back();
  *out += '\n';
}

void AddIndented(std::string_view text, std::string* out) {
  for (const std::string_view line : Split(text, '\n')) *out += fmt::format("  {}\n", line);
}

std::vector<std::string> GroupsOf(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : options) {
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      groups.push_back(option->get_group());
    }
  }
  return groups;
}

void AddOptions(const std::vector<const CLI::Option*>& options, std::string_view group,
                std::string* out) {
  for (const CLI::Option* option : options) {
    if (option->get_group() == group) AddRow(OptionTitle(*option), OptionText(*option), out);
  }
}

const CLI::App& RootOf(const CLI::App& command) {
  const CLI::App* app = &command;
  while (app->get_parent()) app = app->get_parent();
  return *app;
}

void AddBody(const CLI::App& command, HelpLength length, std::string* out) {
  if (const auto commands = Commands(command); !commands.empty()) {
    *out += "\nCommands:\n";
    for (const CLI::App* app : commands) AddRow(app->get_name(), app->get_description(), out);
  }
  if (const auto positionals = Positionals(command); !positionals.empty()) {
    *out += "\nArguments:\n";
    for (const CLI::Option* option : positionals) {
      AddRow(option->get_name(true), OptionText(*option), out);
    }
  }
  const auto options = Options(command);
  std::vector<std::string> more;
  for (const std::string& group : GroupsOf(options)) {
    if (length == HelpLength::kShort && group != "Options") {
      more.push_back(group);
      continue;
    }
    *out += fmt::format("\n{}:\n", group);
    AddOptions(options, group, out);
  }
  if (!more.empty()) *out += fmt::format("\nMore with --help: {}\n", Join(more, ", "));
}

std::string ExitCodesText() {
  std::string out = "Exit codes of every command\n\n";
  for (const ExitMeaning& row : kExitMeanings) {
    out += fmt::format("  {:>3}  {}\n", row.code, row.meaning);
  }
  return out + "\nWith --compat 3 to 16 are 1.\n";
}

// What the table says of a key that a project's file may not simply hold.
std::string_view TrustMark(config::Power power) {
  if (power == config::Power::kAlways) return " [needs trust]";
  if (power == config::Power::kAgents) return " [engines, checks and runs need trust]";
  return "";
}

std::string ConfigKeysText() {
  std::string out = "Keys of dossier.yml\n\n";
  for (const config::Key& key : config::Keys()) {
    AddRow(
        key.name,
        fmt::format("{} ({}{}{}){}", key.about, key.type, key.fallback.empty() ? "" : "; default ",
                    key.fallback, TrustMark(key.power)),
        &out);
  }
  return out;
}

std::string EnvironmentText() {
  std::string out =
      "Environment\n\n"
      "Every scalar key of dossier.yml has a variable, which stands above all files. Others:\n\n";
  constexpr std::pair<std::string_view, std::string_view> kRows[] = {
      {"DOSSIER_CONFIG_DIR", "read configuration from there only, as --config-dir"},
      {"DOSSIER_TRUST_ROOTS", "folders, parted by colons, whose project files are trusted"},
      {"DOSSIER_LAYOUTS_DIR", "folder with layouts/ and prompts/"},
      {"DOSSIER_MEMORY", "the store of `dossier memory`"},
      {"XDG_CONFIG_HOME", "and XDG_DATA_HOME, XDG_CACHE_HOME, XDG_STATE_HOME: see `dossier paths`"},
      {"NO_COLOR", "not empty: no colour"},
      {"CLICOLOR_FORCE", "not empty: colour, also in a pipe"},
      {"CLLM_PATH", "with --compat: read configuration from there only"},
  };
  for (const auto& [name, about] : kRows) AddRow(name, about, &out);
  out += "\nOf keys:\n\n";
  for (const config::Key& key : config::Keys()) {
    if (key.shape == config::Shape::kScalar) AddRow(config::VariableOf(key), key.about, &out);
  }
  return out;
}

constexpr struct {
  Topic topic;
  std::string (*text)();
} kTopics[] = {{{"config-keys", "the keys of dossier.yml"}, ConfigKeysText},
               {{"environment", "variables that count"}, EnvironmentText},
               {{"exit-codes", "what each exit code means"}, ExitCodesText}};

}  // namespace

std::string UsageLine(const CLI::App& command, std::string_view path) {
  std::string line(path);
  if (!Options(command).empty()) line += " [OPTIONS]";
  if (!Commands(command).empty()) {
    line += command.get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
  }
  for (const CLI::Option* option : Positionals(command)) {
    std::string name = option->get_name(true);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const bool many = option->get_items_expected_max() > 1;
    if (!option->get_required()) name = "[" + name + "]";
    line += " " + name + (many ? "..." : "");
  }
  return line;
}

std::string OptionTitle(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string title = Join(names, ", ");
  if (!IsFlag(option)) title += " " + KindOf(option);
  return title;
}

std::string OptionText(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const auto choices = ChoicesOf(option); !choices.empty()) {
    const std::string words = Join(choices, ", ");
    if (text.find(words) == std::string::npos) text += fmt::format(": {}", words);
  }
  if (!IsFlag(option) && !option.get_default_str().empty()) {
    text += fmt::format(" (default {})", option.get_default_str());
  }
  return text;
}

std::string HelpText(const CLI::App& command, std::string_view path, HelpLength length) {
  std::string out;
  if (!command.get_description().empty()) out += command.get_description() + "\n\n";
  if (length == HelpLength::kFull && !command.get_footer().empty()) {
    out += "Examples:\n";
    AddIndented(command.get_footer(), &out);
    out += "\n";
  }
  out += fmt::format("Usage: {}\n", UsageLine(command, path));
  AddBody(command, length, &out);
  const CLI::App& root = RootOf(command);
  if (length == HelpLength::kFull && &root != &command) {
    out += "\nGlobal:\n";
    AddOptions(Options(root), "Global", &out);
  }
  if (&root == &command) {
    std::vector<std::string> names;
    for (const Topic& topic : Topics()) names.emplace_back(topic.name);
    out += fmt::format("\nTopics of `dossier help`: every command, {}\n", Join(names, ", "));
  }
  return out;
}

std::vector<Topic> Topics() {
  std::vector<Topic> topics;
  for (const auto& row : kTopics) topics.push_back(row.topic);
  return topics;
}

std::optional<std::string> TopicText(std::string_view name) {
  for (const auto& row : kTopics) {
    if (row.topic.name == name) return row.text();
  }
  return std::nullopt;
}

}  // namespace dossier::cli
