#include "cli/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>

#include "base/text.h"
#include "cli/ask_command.h"
#include "cli/inspect_flags.h"
#include "cli/interrupt.h"
#include "cli/runs_command.h"
#include "cli/terminal.h"

namespace dossier::cli {
namespace {

// CLI11's own words name the flag; ours adds where help is.
int UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path = "dossier";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  std::cerr << "dossier: " << error.what() << "; see `" << path << " --help`\n";
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
  RunsArguments runs;
  InspectArguments inspect;
  AddAskCommand(app, &ask);
  AddInspectCommand(app, &inspect);
  AddRunsCommand(app, &runs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  Interrupt interrupt;
  int code = 0;
  if (app.got_subcommand("ask")) {
    ask.argv.assign(argv, argv + argc);
    code = RunAsk(ask, interrupt.token(), std::cout, std::cerr);
  } else if (app.got_subcommand("inspect")) {
    inspect.cancel = interrupt.token();
    code = RunInspect(inspect, std::cout, std::cerr);
  } else if (app.got_subcommand("runs")) {
    code = RunRuns(runs, std::cout, std::cerr);
  }
  return interrupt.exit_code() != 0 ? interrupt.exit_code() : code;
}

}  // namespace dossier::cli
