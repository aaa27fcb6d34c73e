#include "cli/line/commands.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/command_line.h"
#include "cli/tree/command_tree.h"

namespace dossier::cli {
namespace {

struct Command {
  const char* name;
  const char* about;  // empty: people are not shown it
  void (*add_flags)(CLI::App& command, Arguments* to);
};

// In the order of the help.
constexpr Command kCommands[] = {
    {"ask", "answer a question over files of any size",
     [](CLI::App& command, Arguments* to) { AddAskCommand(command, &to->ask); }},
    {"chat", "ask a model, once or in a conversation",
     [](CLI::App& command, Arguments* to) { AddChatCommand(command, &to->chat); }},
    {"inspect", "say what a file is before a model reads it",
     [](CLI::App& command, Arguments* to) { AddInspectCommand(command, &to->inspect); }},
    {"pack", "a folder as text for a model, exactly counted",
     [](CLI::App& command, Arguments* to) { AddPackCommand(command, &to->pack); }},
    {"header", "the state of the repository, to head a prompt with",
     [](CLI::App& command, Arguments* to) { AddHeaderCommand(command, &to->header); }},
    {"runs", "what was asked before, step by step",
     [](CLI::App& command, Arguments* to) { AddRunsCommand(command, &to->runs); }},
    {"assemble", "build a prompt from a layout, and say what went in",
     [](CLI::App& command, Arguments* to) { AddAssembleCommand(command, &to->assemble); }},
    {"prompts", "the layouts and templates in force: list, show, check, diff, copy",
     [](CLI::App& command, Arguments* to) { AddPromptsCommand(command, &to->prompts); }},
    {"models", "models: list, test, and run the local one",
     [](CLI::App& command, Arguments* to) { AddModelsCommand(command, &to->models); }},
    {"sandbox", "the walls around code that a model wrote",
     [](CLI::App& command, Arguments* to) { AddSandboxCommand(command, &to->sandbox); }},
    {"doctor", "what works here: sandbox, models, store",
     [](CLI::App& command, Arguments* to) { AddDoctorCommand(command, &to->doctor); }},
    {"tokens", "count the tokens of files, folders or stdin",
     [](CLI::App& command, Arguments* to) { AddTokensCommand(command, &to->tokens); }},
    {"conversations", "stored conversations",
     [](CLI::App& command, Arguments* to) {
       AddConversationsCommand(command, &to->conversations);
     }},
    {"context", "the frozen context of conversations",
     [](CLI::App& command, Arguments* to) {
       AddContextCommand(command, &to->context);
       AddContextRun(command, &to->context_run);
       AddContextRefresh(command, &to->context_refresh);
     }},
    {"memory", "what was learned, kept for the next prompt: facts, events, ranked search",
     [](CLI::App& command, Arguments* to) { AddMemoryCommand(command, &to->memory); }},
    {"agents", "work through tasks: an engineer changes, a reviewer approves, policy holds",
     [](CLI::App& command, Arguments* to) { AddAgentsCommand(command, &to->agents); }},
    {"research", "work on an idea without a person: programs, measurements, plots, a paper",
     [](CLI::App& command, Arguments* to) { AddResearchCommand(command, &to->research); }},
    {"config", "what is configured here, and changing it",
     [](CLI::App& command, Arguments* to) { AddConfigCommand(command, &to->config); }},
    {"trust", "approve a project's configuration, which can run code or redirect data",
     [](CLI::App& command, Arguments* to) { AddTrustCommand(command, &to->trust); }},
    {"paths", "where everything is kept",
     [](CLI::App& command, Arguments* to) { AddPathsCommand(command, &to->paths); }},
    {"help", "help on a command or a topic",
     [](CLI::App& command, Arguments* to) { AddHelpCommand(command, &to->about); }},
    {"completion", "a script that completes this command",
     [](CLI::App& command, Arguments* to) { AddCompletionCommand(command, &to->about); }},
    {"man", "a manual page, in roff",
     [](CLI::App& command, Arguments* to) { AddManCommand(command, &to->about); }},
    {"__complete", "",
     [](CLI::App& command, Arguments* to) { AddCompleteCommand(command, &to->about); }},
};

// These show the flags of any command; a line that is completed names the one whose flags it needs.
constexpr std::string_view kSpeakOfOthers[] = {"help", "man"};

bool Has(std::span<const std::string> words, std::string_view name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

}  // namespace

void BuildTree(CLI::App& app, std::span<const std::string> words, Arguments* arguments) {
  app.set_help_flag("-h", "short help");
  app.set_help_all_flag("--help", "help with examples and all flags");
  app.set_version_flag("-V,--version", std::string(kVersion),
                       "the version (with --json: one object)");
  app.require_subcommand(1);
  app.fallthrough();  // global flags count behind the command's name, too
  AddGlobalFlags(app, &arguments->global);
  const bool all = std::any_of(std::begin(kSpeakOfOthers), std::end(kSpeakOfOthers),
                               [&](std::string_view name) { return Has(words, name); });
  for (const Command& row : kCommands) {
    CLI::App& command = *app.add_subcommand(row.name, row.about);
    if (row.about[0] == '\0') command.group("");
    // A command that is meant stands among the words; that a value may be called the same costs
    // time.
    if (all || Has(words, row.name)) row.add_flags(command, arguments);
  }
  FinishTree(app);
}

}  // namespace dossier::cli
