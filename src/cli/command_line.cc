#include "cli/command_line.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include "cli/chat/chat_command.h"
#include "cli/line/commands.h"
#include "cli/system/doctor_checks.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/standard_streams.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command_tree.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/failure.h"
#include "cli/tree/help_text.h"

namespace dossier::cli {
namespace {

using Commands = std::map<std::string, std::function<int()>>;

// Those that neither wait nor start anything: they run before signals are taken over.
Commands QuickCommands(const CLI::App& app, Arguments& arguments, std::ostream& out,
                       std::ostream& err) {
  return {
      {"help", [&] { return RunHelp(app, arguments.about, out, err); }},
      {"completion", [&] { return RunCompletion(arguments.about, out, err); }},
      {"man", [&] { return RunMan(app, arguments.about, out, err); }},
      {"__complete", [&] { return RunComplete(app, arguments.about, arguments.global, out); }},
      {"config", [&] { return RunConfig(arguments.config, arguments.global, out, err); }},
      {"trust", [&] { return RunTrust(arguments.trust, arguments.global, out, err); }},
      {"paths", [&] { return RunPaths(arguments.paths, arguments.global, out, err); }},
  };
}

Commands WorkingCommands(const CLI::App& app, Arguments& arguments, Interrupt& interrupt,
                         const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  return {
      {"ask", [&] { return RunAsk(arguments.ask, arguments.global, cancel, out, err); }},
      {"chat", [&] { return RunChat(arguments.chat, arguments.global, interrupt, out, err); }},
      {"inspect",
       [&] {
         arguments.inspect.cancel = cancel;
         return RunInspect(arguments.inspect, out, err);
       }},
      {"assemble",
       [&] {
         return RunAssemble(arguments.assemble, arguments.global, cancel, std::cin, out, err);
       }},
      {"header", [&] { return RunHeader(arguments.header, arguments.global, cancel, out, err); }},
      {"prompts", [&] { return RunPrompts(arguments.prompts, out, err); }},
      {"pack",
       [&] {
         arguments.pack.cancel = cancel;
         return RunPack(arguments.pack, std::cin, out, err);
       }},
      {"runs", [&] { return RunRuns(arguments.runs, arguments.global, out, err); }},
      {"models",
       [&] {
         arguments.models.offline = arguments.global.offline;
         return RunModels(arguments.models, cancel, out, err);
       }},
      {"sandbox", [&] { return RunSandbox(app, arguments.sandbox, cancel, out, err); }},
      {"tokens",
       [&] {
         arguments.tokens.cancel = cancel;
         return RunTokens(arguments.tokens, out, err);
       }},
      {"conversations",
       [&] {
         return RunConversations(arguments.conversations, arguments.global, cancel, out, err);
       }},
      {"context",
       [&] {
         if (arguments.context_run.chosen) {
           arguments.context_run.cancel = cancel;
           return RunContextRun(arguments.context_run, arguments.global, out, err);
         }
         if (!arguments.context_refresh.action.empty()) {
           return RunContextRefresh(arguments.context_refresh, arguments.global, cancel, out, err);
         }
         return RunContextCommand(arguments.context, arguments.global, cancel, out, err);
       }},
      {"memory", [&] { return RunMemory(arguments.memory, arguments.global, cancel, out, err); }},
      {"agents",
       [&] { return RunAgents(arguments.agents, arguments.global, cancel, std::cin, out, err); }},
      {"research",
       [&] { return RunResearch(arguments.research, arguments.global, cancel, out, err); }},
      {"doctor",
       [&] {
         arguments.doctor.extra = ModelChecks();
         return RunDoctor(arguments.doctor, out, err);
       }},
  };
}

// Where it is not known yet which command is meant, or what its flags are.
bool AsksForJson(const std::vector<std::string>& argv) {
  const auto end = std::find(argv.begin(), argv.end(), "--");
  return std::find(argv.begin(), end, "--json") != end;
}

// Parses; a code if that was all there is to do.
std::optional<int> Parse(CLI::App& app, const std::vector<std::string>& argv, std::ostream& out,
                         std::ostream& err) {
  std::string path;
  try {
    // CLI11 takes the words from the back.
    std::vector<std::string> words(argv.rbegin(), argv.rend() - 1);
    app.parse(std::move(words));
  } catch (const CLI::CallForVersion&) {
    PrintVersion(argv, out);
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    const CLI::App& command = LastCommand(app, &path);
    out << HelpText(command, path, HelpLength::kFull);
    return 0;
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = LastCommand(app, &path);
    out << HelpText(command, path, HelpLength::kShort);
    return 0;
  } catch (const CLI::ParseError& error) {
    return Fail({ErrorCode::kUsage, UsageMessage(app, error)}, FormOf(AsksForJson(argv)), out, err);
  }
  ApplyTwins(app);
  return std::nullopt;
}

// What the global flags change before a command runs.
Status Prepare(const GlobalFlags& flags, LogBuffer& log) {
  // The log file is seen from where the command was typed.
  if (!flags.log_file.empty()) {
    DOSSIER_RETURN_IF_ERROR(log.Open(flags.log_file, LogBuffer::Form::kText));
  }
  if (!flags.folder.empty() && chdir(flags.folder.c_str()) != 0) {
    return MakeErrnoError(errno, "-C " + flags.folder);
  }
  return {};
}

int Run(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err,
        LogBuffer& log) {
  // Must not pay for anything else.
  if (argv.size() == 2 && (argv[1] == "--version" || argv[1] == "-V")) {
    PrintVersion(argv, out);
    return 0;
  }
  CLI::App app("Puts the right context in front of a language model, and shows what it did.",
               "dossier");
  Arguments arguments;
  BuildTree(app, argv, &arguments);
  if (const auto code = Parse(app, argv, out, err)) return *code;
  GlobalFlags& global = arguments.global;
  if (const Status ready = Prepare(global, log); !ready) {
    return Fail(ready.error(), FormOf(AsksForJson(argv)), out, err);
  }
  global.log = &log;
  arguments.ask.argv = argv;
  arguments.agents.argv = argv;
  const std::string name = app.get_subcommands().front()->get_name();
  const auto finish = [&](int code) { return global.compat ? CompatExitCode(code) : code; };
  const Commands quick = QuickCommands(app, arguments, out, err);
  if (const auto command = quick.find(name); command != quick.end()) {
    return finish(command->second());
  }
  Interrupt interrupt;
  const CancelToken cancel = interrupt.token();
  const int code = WorkingCommands(app, arguments, interrupt, cancel, out, err).at(name)();
  return interrupt.exit_code() != 0 ? interrupt.exit_code() : finish(code);
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a closed stdout shows as a failed write
  LogBuffer log(std::cerr.rdbuf());
  OutputBuffer buffer(STDOUT_FILENO);
  std::ostream out(&buffer), err(&log);
  err << std::unitbuf;
  const int code = Run({argv, argv + argc}, out, err, log);
  return buffer.ExitCode(code, err);
}

}  // namespace dossier::cli
