#include "cli/command_line.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <iostream>
#include <map>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/ask_command.h"
#include "cli/assemble_command.h"
#include "cli/conversations_command.h"
#include "cli/doctor_checks.h"
#include "cli/doctor_command.h"
#include "cli/inspect_flags.h"
#include "cli/interrupt.h"
#include "cli/models_command.h"
#include "cli/prompts_command.h"
#include "cli/pack_command.h"
#include "cli/runs_command.h"
#include "cli/sandbox_command.h"
#include "cli/tokens_command.h"
#include "cli/usage_message.h"

namespace dossier::cli {
namespace {

// CLI11's own words name the flag, but "Could not convert: --budget = abc" does not say what is wanted:
// only numbers are converted.
std::string Sentence(const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";
  std::string text = error.what();
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kConversion) || equals == std::string::npos) return UsageMessage(text);
  return text.replace(equals, 3, " ").substr(kConversion.size()) + ": not a number, or too large";
}

// What is wrong where one of the commands of `command` should stand; empty: something else.
std::string CommandWanted(const CLI::App& command) {
  if (command.get_require_subcommand_min() == 0 || !command.get_subcommands().empty()) return {};
  std::vector<std::string> names;
  for (const CLI::App* known : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!known->get_name().empty()) names.push_back(known->get_name());
  }
  const std::vector<std::string> rest = command.remaining();
  const std::string all = "there are " + Join(names, ", ");
  if (rest.empty() || rest[0].starts_with("-")) return "a command is missing; " + all;
  const auto near = NearestNames(rest[0], names, 1);
  return fmt::format("there is no command {}; {}", utf8::CleanForTerminal(utf8::Sanitize(rest[0])),
                     near.empty() ? all : "did you mean " + near[0] + "?");
}

int UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path = "dossier";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  const std::string wanted = CommandWanted(*command);
  std::cerr << "dossier: " << (wanted.empty() ? Sentence(error) : wanted) << "; see `" << path
            << " --help`\n";
  return 2;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  // Must not pay for anything else.
  if (argc == 2 && (std::string_view(argv[1]) == "--version" || std::string_view(argv[1]) == "-V")) {
    std::cout << "dossier " << kVersion << "\n";
    return 0;
  }
  CLI::App app("Puts the right context in front of a language model, and shows what it did.",
               "dossier");
  app.set_version_flag("-V,--version", std::string("dossier ") + kVersion);
  app.require_subcommand(1);
  app.footer("Start: dossier ask -c FILE \"QUESTION\"   (no key needed: a local model answers)");
  AskArguments ask;
  InspectArguments inspect;
  PackArguments pack;
  RunsArguments runs;
  ModelsArguments models;
  SandboxArguments sandbox;
  DoctorArguments doctor;
  AssembleArguments assemble;
  PromptsArguments prompts;
  TokensArguments tokens;
  ConversationsArguments conversations;
  ContextArguments context;
  AddAskCommand(app, &ask);
  AddInspectCommand(app, &inspect);
  AddPackCommand(app, &pack);
  AddRunsCommand(app, &runs);
  AddAssembleCommand(app, &assemble);
  AddPromptsCommand(app, &prompts);
  AddModelsCommand(app, &models);
  AddSandboxCommand(app, &sandbox);
  AddDoctorCommand(app, &doctor);
  AddTokensCommand(app, &tokens);
  AddConversationsCommand(app, &conversations);
  AddContextCommand(app, &context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  Interrupt interrupt;
  const CancelToken cancel = interrupt.token();
  std::ostream& out = std::cout;
  std::ostream& err = std::cerr;
  const std::map<std::string, std::function<int()>> commands = {
      {"ask",
       [&] {
         ask.argv.assign(argv, argv + argc);
         return RunAsk(ask, cancel, out, err);
       }},
      {"inspect",
       [&] {
         inspect.cancel = cancel;
         return RunInspect(inspect, out, err);
       }},
      {"assemble", [&] { return RunAssemble(assemble, cancel, std::cin, out, err); }},
      {"prompts", [&] { return RunPrompts(prompts, out, err); }},
      {"pack",
       [&] {
         pack.cancel = cancel;
         return RunPack(pack, std::cin, out, err);
       }},
      {"runs", [&] { return RunRuns(runs, out, err); }},
      {"models", [&] { return RunModels(models, cancel, out, err); }},
      {"sandbox", [&] { return RunSandbox(app, sandbox, cancel, out, err); }},
      {"tokens",
       [&] {
         tokens.cancel = cancel;
         return RunTokens(tokens, out, err);
       }},
      {"conversations",
       [&] {
         conversations.stdin_is_terminal = ::isatty(STDIN_FILENO) == 1;
         return RunConversations(conversations, cancel, std::cin, out, err);
       }},
      {"context", [&] { return RunContextCommand(context, cancel, out, err); }},
      {"doctor",
       [&] {
         doctor.extra = ModelChecks();
         return RunDoctor(doctor, out, err);
       }},
  };
  const int code = commands.at(app.get_subcommands().front()->get_name())();
  return interrupt.exit_code() != 0 ? interrupt.exit_code() : code;
}

}  // namespace dossier::cli
