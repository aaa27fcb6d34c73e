#include "cli/tree/man_page.h"

#include <algorithm>

#include "base/text/text.h"
#include "cli/command_line.h"
#include "cli/tree/command_tree.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/help_text.h"
#include "config/keys.h"

namespace dossier::cli {
namespace {

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

void AddGroups(const CLI::App& command, Page* page) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : Options(command)) {
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      groups.push_back(option->get_group());
    }
  }
  for (const std::string& group : groups) {
    page->Section(group == "Options" ? group : group + " options");
    for (const CLI::Option* option : Options(command)) {
      if (option->get_group() == group) page->Item(OptionTitle(*option), OptionText(*option));
    }
  }
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

std::string RoffText(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    // A dot or quote at the start of a line would be a request.
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

std::string ManPage(const CLI::App& command, std::string_view path) {
  Page page;
  const std::string name = ReplaceAll(path, " ", "-");
  page.Title(name);
  page.Section("name");
  page.Text(fmt::format("{} - {}", name, command.get_description()));
  page.Section("synopsis");
  page.Text(UsageLine(command, path));
  if (!command.get_footer().empty()) {
    page.Section("examples");
    page.Example(command.get_footer());
  }
  if (!Commands(command).empty()) page.Section("commands");
  for (const CLI::App* app : Commands(command)) page.Item(app->get_name(), app->get_description());
  if (!Positionals(command).empty()) page.Section("arguments");
  for (const CLI::Option* option : Positionals(command)) {
    page.Item(option->get_name(true), OptionText(*option));
  }
  AddGroups(command, &page);
  if (!command.get_parent()) AddTables(&page);
  return page.Take();
}

}  // namespace dossier::cli
