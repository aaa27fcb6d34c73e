#include "cli/tree/help_text.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "cli/command_line.h"
#include "config/keys.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kTitleWidth = 28;  // columns of the left part
constexpr std::size_t kWidth = 80;       // default width of a terminal

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

// Appends comma-separated names in lines of the terminal's width.
std::string NamesBehind(std::string line, const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    const std::string word = fmt::format(" {}{}", name, &name == &names.back() ? "" : ",");
    if (line.size() + word.size() > kWidth) {
      out += line + "\n";
      line = " ";
    }
    line += word;
  }
  return out + line + "\n";
}

void AddIndented(std::string_view text, std::string* out) {
  for (const std::string_view line : Split(text, '\n')) *out += fmt::format("  {}\n", line);
}

// Returns "-m, --model MODEL"; "path" for an argument.
std::string TitleOf(const Flag& flag) {
  if (flag.IsArgument()) return flag.name();
  std::vector<std::string> names;
  for (const std::string& name : flag.short_names()) names.push_back("-" + name);
  for (const std::string& name : flag.long_names()) names.push_back("--" + name);
  std::string title = Join(names, ", ");
  if (!flag.IsSwitch())
    title += fmt::format(" {}", flag.choices().empty() ? flag.kind().word : "WORD");
  return title;
}

bool HoldsWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return IsWordByte(c) || c == '-'; };
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) {
      return true;
    }
  }
  return false;
}

// Returns its help, with the possible words and the default if there are any.
std::string TextOf(const Flag& flag) {
  std::string text = flag.help();
  if (!flag.choices().empty()) {
    const auto is_said = [&](const std::string& word) { return HoldsWord(flag.help(), word); };
    if (!std::ranges::all_of(flag.choices(), is_said)) {
      text += fmt::format(": {}", Join(flag.choices(), ", "));
    }
  }
  if (!flag.default_text().empty()) text += fmt::format(" (default {})", flag.default_text());
  return text;
}

struct Group {
  std::string title;
  std::vector<const Flag*> flags;
};

// Returns the groups in the order of their first flags.
std::vector<Group> GroupsOf(const CommandNode& command) {
  std::vector<Group> groups;
  for (const Flag* flag : command.Options()) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& one) { return one.title == flag->group(); });
    if (group == groups.end()) group = groups.insert(group, {flag->group(), {}});
    group->flags.push_back(flag);
  }
  return groups;
}

void AddGroup(const Group& group, std::string* out) {
  *out += fmt::format("\n{}:\n", group.title);
  for (const Flag* flag : group.flags) AddRow(TitleOf(*flag), TextOf(*flag), out);
}

void AddBody(const CommandNode& command, HelpLength length, std::string* out) {
  if (const auto commands = command.Commands(); !commands.empty()) {
    *out += "\nCommands:\n";
    for (const CommandNode* below : commands) AddRow(below->name(), below->summary(), out);
  }
  if (const auto arguments = command.Arguments(); !arguments.empty()) {
    AddGroup({"Arguments", arguments}, out);
  }
  std::vector<std::string> more;
  Group first{"Options", {}};  // for the short help
  for (const Group& group : GroupsOf(command)) {
    if (length != HelpLength::kShort) {
      AddGroup(group, out);
      continue;
    }
    const bool whole = group.title == "Options";
    if (!whole) more.push_back(group.title);
    for (const Flag* flag : group.flags) {
      if (whole || flag->often()) first.flags.push_back(flag);
    }
  }
  if (!first.flags.empty()) AddGroup(first, out);
  if (!more.empty()) *out += "\n" + NamesBehind("More with --help:", more);
}

std::string ExitCodesText() {
  std::string out = "Exit codes of every command\n\n";
  for (const ExitMeaning& row : kExitMeanings) {
    out += fmt::format("  {:>3}  {}\n", row.code, row.meaning);
  }
  return out + "\nWith --compat 3 to 16 are 1.\n";
}

// Returns the table's remark on a key that a project's file may not set freely.
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
      {"DOSSIER_LAYOUTS_DIR", "folder with layouts/ and prompts/ of your own"},
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
  HelpTopic topic;
  std::string (*text)();
} kTopics[] = {{{"config-keys", "the keys of dossier.yml"}, ConfigKeysText},
               {{"environment", "variables that count"}, EnvironmentText},
               {{"exit-codes", "what each exit code means"}, ExitCodesText}};

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

class Page {
 public:
  void Title(std::string_view name) {
    out_ += fmt::format(".TH {} 1 \"\" \"dossier {}\" \"Dossier\"\n",
                        RoffText(Upper(std::string(name))), kVersion);
  }
  void Section(std::string_view name) { out_ += fmt::format(".SH {}\n", Upper(std::string(name))); }
  void Text(std::string_view text) { out_ += RoffText(text) + "\n"; }
  void Item(std::string_view title, std::string_view text) {
    out_ += fmt::format(".TP\n\\fB{}\\fR\n{}\n", RoffText(title), RoffText(text));
  }
  void Example(std::string_view lines) {
    out_ += ".nf\n";
    for (const std::string_view line : Split(lines, '\n')) out_ += RoffText(line) + "\n";
    out_ += ".fi\n";
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

void AddItems(const std::vector<const Flag*>& flags, Page* page) {
  for (const Flag* flag : flags) page->Item(TitleOf(*flag), TextOf(*flag));
}

void AddTables(Page* page) {
  page->Section("exit status");
  for (const ExitMeaning& row : kExitMeanings) page->Item(std::to_string(row.code), row.meaning);
  page->Section("configuration");
  for (const config::Key& key : config::Keys()) {
    page->Item(key.name, fmt::format("{} ({})", key.about, key.type));
  }
}

}  // namespace

std::string UsageLine(const CommandNode& command) {
  std::string line = command.path();
  if (!command.Options().empty()) line += " [OPTIONS]";
  if (!command.Commands().empty()) line += command.needs_below() ? " COMMAND" : " [COMMAND]";
  for (const Flag* argument : command.Arguments()) {
    std::string name = Upper(argument->name());
    if (!argument->required()) name = "[" + name + "]";
    line += " " + name + (argument->IsMany() ? "..." : "");
  }
  return line;
}

namespace {

std::string FirstScreen(const CommandNode& command) {
  std::string out = fmt::format("{}\n\n", command.summary());
  AddIndented(command.examples(), &out);
  std::vector<std::string> names;
  for (const CommandNode* below : command.Commands()) names.emplace_back(below->name());
  out += fmt::format("\nUsage: {}\n{}", UsageLine(command), NamesBehind("Commands:", names));
  return out +
         fmt::format("\n`{0} --help` says what each does, `{0} help COMMAND` how one is used.\n",
                     command.path());
}

}  // namespace

std::string HelpText(const CommandNode& command, HelpLength length) {
  if (length == HelpLength::kScreen) return FirstScreen(command);
  std::string out;
  if (!command.summary().empty()) out += fmt::format("{}\n\n", command.summary());
  if (!command.examples().empty()) {
    out += "Examples:\n";
    AddIndented(command.examples(), &out);
    out += "\n";
  }
  out += fmt::format("Usage: {}\n", UsageLine(command));
  AddBody(command, length, &out);
  const CommandNode& root = command.root();
  if (length == HelpLength::kFull && &root != &command) {
    for (const Group& group : GroupsOf(root)) {
      if (group.title == kGlobalGroup) AddGroup(group, &out);
    }
  }
  if (&root == &command) {
    std::vector<std::string> names = {"every command"};
    for (const HelpTopic& topic : Topics()) names.emplace_back(topic.name);
    out += "\n" + NamesBehind("Topics of `dossier help`:", names);
  }
  return out;
}

std::vector<HelpTopic> Topics() {
  std::vector<HelpTopic> topics;
  for (const auto& row : kTopics) topics.push_back(row.topic);
  return topics;
}

std::optional<std::string> TopicText(std::string_view name) {
  for (const auto& row : kTopics) {
    if (row.topic.name == name) return row.text();
  }
  return std::nullopt;
}

std::string RoffText(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    // A dot or quote at the start of a line would be a request in roff.
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '"') {
      out += "\\(dq";
    } else if (c == '^' || c == '~' || c == '`') {
      out += c == '^' ? "\\(ha" : (c == '~' ? "\\(ti" : "\\(ga");
    } else {
      out += c;
    }
  }
  return ReplaceAll(out, "…", "...");
}

std::string ManPage(const CommandNode& command) {
  Page page;
  const std::string name = ReplaceAll(command.path(), " ", "-");
  page.Title(name);
  page.Section("name");
  page.Text(fmt::format("{} - {}", name, command.summary()));
  page.Section("synopsis");
  page.Text(UsageLine(command));
  if (!command.examples().empty()) {
    page.Section("examples");
    page.Example(command.examples());
  }
  if (!command.Commands().empty()) page.Section("commands");
  for (const CommandNode* below : command.Commands()) page.Item(below->name(), below->summary());
  if (!command.Arguments().empty()) page.Section("arguments");
  AddItems(command.Arguments(), &page);
  for (const Group& group : GroupsOf(command)) {
    page.Section(group.title == "Options" ? group.title : group.title + " options");
    AddItems(group.flags, &page);
  }
  if (!command.above()) AddTables(&page);
  return page.Take();
}

}  // namespace dossier::cli
