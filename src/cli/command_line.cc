#include "cli/command_line.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/files/missing_file.h"
#include "base/json/json.h"
#include "base/process/build_info.h"
#include "base/process/child.h"
#include "cli/commands.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/standard_streams.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/tree/help_text.h"
#include "cli/tree/parser.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {
namespace {

// Used if it is not yet known which command is meant, or what its flags are.
bool AsksForJson(const std::vector<std::string>& argv) {
  const auto end = std::find(argv.begin(), argv.end(), "--");
  return std::find(argv.begin(), end, "--json") != end;
}

// Prints "dossier 0.1.0", or with --json one object.
void PrintVersion(const std::vector<std::string>& argv, std::ostream& out) {
  if (!AsksForJson(argv)) {
    out << "dossier " << kVersion << "\n";
    return;
  }
  out << ToJson(JsonObject{{"schema", "dossier.version/1"},
                           {"name", "dossier"},
                           {"version", kVersion},
                           {"build", BuildId()}})
      << "\n";
}

// Applies the global flags that take effect before a command runs.
Status Prepare(const GlobalFlags& flags, LogBuffer& log) {
  // The path of the log file is relative to the folder where the command was typed.
  if (!flags.log_file.empty()) {
    DOSSIER_RETURN_IF_ERROR(log.Open(flags.log_file, LogBuffer::Form::kText));
  }
  if (!flags.folder.empty() && chdir(flags.folder.c_str()) != 0) {
    return tl::unexpected(ExplainMissing(ErrnoError(errno, "-C " + flags.folder), flags.folder));
  }
  return {};
}

int RunCommand(const CommandNode& command, const GlobalFlags& flags,
               const std::vector<std::string>& argv, std::ostream& out, std::ostream& err) {
  std::optional<Interrupt> interrupt;
  if (command.signals() != Command::Signals::kLeft) interrupt.emplace();
  Context context{.flags = flags,
                  .command = command,
                  .interrupt = interrupt ? &*interrupt : nullptr,
                  .cancel = interrupt ? interrupt->token() : CancelToken(),
                  .in = std::cin,
                  .out = out,
                  .err = err,
                  .argv = argv,
                  .failure = FormOf(command.AsksForJson())};
  const Result<int> result = command.Run(context);
  out << std::flush;
  const int code = result ? *result : Fail(result.error(), context.failure, out, err);
  const bool in_order = command.signals() == Command::Signals::kOrder;
  if (interrupt && interrupt->exit_code() != 0 && !in_order) return interrupt->exit_code();
  return flags.compat ? CompatExitCode(code) : code;
}

int Run(const std::vector<std::string>& argv, std::ostream& out, std::ostream& err,
        LogBuffer& log) {
  // This must be fast: it does nothing else.
  if (argv.size() == 2 && (argv[1] == "--version" || argv[1] == "-V")) {
    PrintVersion(argv, out);
    return 0;
  }
  GlobalFlags global;
  const CommandNode root(RootCommand(&global));
  const auto words = std::span(argv).subspan(std::min<std::size_t>(argv.size(), 1));
  const auto line = ParseLine(root, words);
  if (!line) return Fail(line.error(), FormOf(AsksForJson(argv)), out, err);
  switch (line->wish) {
    case ParsedLine::Wish::kVersion:
      PrintVersion(argv, out);
      return 0;
    case ParsedLine::Wish::kFirstScreen:
      out << HelpText(*line->command, HelpLength::kScreen);
      return 0;
    case ParsedLine::Wish::kShortHelp:
      out << HelpText(*line->command, HelpLength::kShort);
      return 0;
    case ParsedLine::Wish::kFullHelp:
      out << HelpText(*line->command, HelpLength::kFull);
      return 0;
    case ParsedLine::Wish::kRun:
      break;
  }
  if (const Status ready = Prepare(global, log); !ready) {
    return Fail(ready.error(), FormOf(AsksForJson(argv)), out, err);
  }
  global.log = &log;
  return RunCommand(*line->command, global, argv, out, err);
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a closed stdout is reported as a failed write
  AllowManyFiles();
  LogBuffer log(std::cerr.rdbuf());
  OutputBuffer buffer(STDOUT_FILENO);
  TerminalFilter out_filter(&buffer, STDOUT_FILENO), err_filter(&log, STDERR_FILENO);
  std::ostream out(&out_filter), err(&err_filter);
  err << std::unitbuf;
  // Output that bypasses the context takes the same route.
  std::streambuf* const unfiltered = std::cerr.rdbuf(&err_filter);
  const int code = Run({argv, argv + argc}, out, err, log);
  std::cerr.rdbuf(unfiltered);
  out << std::flush;
  return buffer.ExitCode(code, err);
}

}  // namespace dossier::cli
