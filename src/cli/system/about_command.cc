#include "cli/system/about_command.h"

#include <algorithm>

#include "base/process/build_id.h"
#include "base/text/text.h"
#include "cli/command_line.h"
#include "cli/system/offers.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command_tree.h"
#include "cli/tree/complete.h"
#include "cli/tree/help_text.h"
#include "cli/tree/man_page.h"
#include "cli/tree/shell_scripts.h"

namespace dossier::cli {
namespace {

std::string PathOf(const CLI::App& app, const std::vector<std::string>& words) {
  std::string path = app.get_name();
  for (const std::string& word : words) path += " " + word;
  return path;
}

Error UnknownTopic(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::App* command : Commands(app)) known.push_back(command->get_name());
  for (const Topic& topic : Topics()) known.emplace_back(topic.name);
  const std::string wanted = Join(words, " ");
  const auto near = NearestNames(words.front(), known, 1);
  return {ErrorCode::kUsage, fmt::format("help knows no '{}'{}", wanted,
                                         near.empty() ? "" : "; did you mean " + near[0] + "?")};
}

}  // namespace

void AddHelpCommand(CLI::App& help, AboutArguments* arguments) {
  help.add_option("topic", arguments->words, "a command, exit-codes, config-keys or environment")
      ->type_name("TOPIC");
}

void AddCompletionCommand(CLI::App& completion, AboutArguments* arguments) {
  completion.add_option("shell", arguments->shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

void AddManCommand(CLI::App& man, AboutArguments* arguments) {
  man.add_option("page", arguments->words, "a command (default: the program)")->type_name("PAGE");
}

void AddCompleteCommand(CLI::App& complete, AboutArguments* arguments) {
  complete.add_option("words", arguments->words)->allow_extra_args();
}

void PrintVersion(const std::vector<std::string>& argv, std::ostream& out) {
  if (std::find(argv.begin(), argv.end(), "--json") == argv.end()) {
    out << "dossier " << kVersion << "\n";
    return;
  }
  out << ToJson(JsonObject{{"schema", "dossier.version/1"},
                           {"name", "dossier"},
                           {"version", kVersion},
                           {"build", BuildId()}})
      << "\n";
}

int RunHelp(const CLI::App& app, const AboutArguments& arguments, std::ostream& out,
            std::ostream& err) {
  if (const CLI::App* command = FindCommand(app, arguments.words)) {
    out << HelpText(*command, PathOf(app, arguments.words), HelpLength::kFull);
    return 0;
  }
  const auto text = arguments.words.size() == 1 ? TopicText(arguments.words.front()) : std::nullopt;
  if (!text) return PrintError(err, UnknownTopic(app, arguments.words));
  out << *text;
  return 0;
}

int RunCompletion(const AboutArguments& arguments, std::ostream& out, std::ostream& err) {
  const auto script = CompletionScript(arguments.shell);
  if (!script) {
    return PrintError(err, {ErrorCode::kUsage, "completion is for bash, zsh or fish"});
  }
  out << *script;
  return 0;
}

int RunMan(const CLI::App& app, const AboutArguments& arguments, std::ostream& out,
           std::ostream& err) {
  const CLI::App* command = FindCommand(app, arguments.words);
  if (!command) return PrintError(err, UnknownTopic(app, arguments.words));
  out << ManPage(*command, PathOf(app, arguments.words));
  return 0;
}

int RunComplete(const CLI::App& app, const AboutArguments& arguments, const GlobalFlags& flags,
                std::ostream& out) {
  const Completions found = Complete(
      app, arguments.words, [&](std::string_view kind) { return Offer(app, kind, flags); });
  for (const Completion& completion : found.words) {
    out << completion.word;
    if (!completion.about.empty()) out << "\t" << completion.about;
    out << "\n";
  }
  if (found.files == Completions::Files::kFiles) out << ":files\n";
  if (found.files == Completions::Files::kFolders) out << ":folders\n";
  return 0;
}

}  // namespace dossier::cli
