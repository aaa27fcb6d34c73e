// help, completion, man, and __complete for the completion scripts: commands about the program
// itself. None of them loads a library or opens a connection.

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "cli/tree/complete.h"
#include "cli/tree/help_text.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

struct AboutWords {
  std::vector<std::string> words;
};

struct CompletionArguments {
  std::string shell;
};

Error UnknownTopic(const CommandNode& root, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CommandNode* command : root.Commands()) known.emplace_back(command->name());
  for (const HelpTopic& topic : Topics()) known.emplace_back(topic.name);
  const std::string wanted = Join(words, " ");
  return {ErrorCode::kUsage,
          fmt::format("help knows no '{}'{}", wanted, DidYouMean(words.front(), known))};
}

void DeclareHelp(Flags& flags, AboutWords& to) {
  flags.Add("topic", &to.words, "a command, exit-codes, config-keys or environment").Kind(kTopic);
}

Result<int> RunHelp(const AboutWords& given, Context& context) {
  const CommandNode& root = context.command.root();
  if (const CommandNode* command = root.Find(given.words)) {
    context.out << HelpText(*command, HelpLength::kFull);
    return 0;
  }
  const auto text = given.words.size() == 1 ? TopicText(given.words.front()) : std::nullopt;
  if (!text) return tl::unexpected(UnknownTopic(root, given.words));
  context.out << *text;
  return 0;
}

void DeclareCompletion(Flags& flags, CompletionArguments& to) {
  flags.Add("shell", &to.shell, "bash, zsh or fish").Required().OneOf({"bash", "zsh", "fish"});
}

Result<int> RunCompletion(const CompletionArguments& given, Context& context) {
  context.out << CompletionScript(given.shell).value_or("");
  return 0;
}

void DeclareMan(Flags& flags, AboutWords& to) {
  flags.Add("page", &to.words, "a command (default: the program)").Kind(kPage);
}

Result<int> RunMan(const AboutWords& given, Context& context) {
  const CommandNode& root = context.command.root();
  const CommandNode* command = root.Find(given.words);
  if (!command) return tl::unexpected(UnknownTopic(root, given.words));
  context.out << ManPage(*command);
  return 0;
}

void DeclareComplete(Flags& flags, AboutWords& to) {
  flags.Add("words", &to.words, "").Kind(kWord);
}

Result<int> RunComplete(const AboutWords& given, Context& context) {
  const Completions found =
      Complete({.flags = context.flags, .root = context.command.root()}, given.words);
  for (const Completion& completion : found.words) {
    context.out << completion.word;
    if (!completion.about.empty()) context.out << "\t" << completion.about;
    context.out << "\n";
  }
  if (found.files == ValueKind::Files::kFiles) context.out << ":files\n";
  if (found.files == ValueKind::Files::kFolders) context.out << ":folders\n";
  return 0;
}

}  // namespace

Command HelpCommand() {
  return {.name = "help",
          .summary = "help on a command or a topic",
          .binding = Bind(DeclareHelp, RunHelp),
          .signals = Command::Signals::kLeft};
}

Command CompletionCommand() {
  return {.name = "completion",
          .summary = "a script that completes this command",
          .examples =
              "dossier completion bash > ~/.local/share/bash-completion/completions/dossier\n"
              "dossier completion zsh > \"${fpath[1]}/_dossier\"\n"
              "dossier completion fish > ~/.config/fish/completions/dossier.fish",
          .binding = Bind(DeclareCompletion, RunCompletion),
          .signals = Command::Signals::kLeft};
}

Command ManCommand() {
  return {.name = "man",
          .summary = "a manual page, in roff",
          .examples =
              "dossier man | man -l -\n"
              "    the manual page of the program\n"
              "dossier man ask | man -l -\n"
              "    of one command",
          .binding = Bind(DeclareMan, RunMan),
          .signals = Command::Signals::kLeft};
}

Command CompleteCommand() {
  return {.name = "__complete",
          .binding = Bind(DeclareComplete, RunComplete),
          .signals = Command::Signals::kLeft,
          .listed = Command::Listed::kNo};
}

}  // namespace dossier::cli
