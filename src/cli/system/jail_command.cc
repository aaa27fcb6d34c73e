// sandbox exec, sandbox policy: runs a program in the jail, and shows what the command policy says
// about a command line, for authors of roots and rules.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/files/missing_file.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/system/sandbox_command.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"
#include "sandbox/commands/policy.h"

namespace dossier::cli {
namespace {

struct SandboxExecArguments {
  std::vector<std::string> read, write;  // folders, relative to the working folder
  bool network = false;
  std::string mode = "strict";
  std::string cpu, memory, timeout;  // as typed; empty: the library's default
  bool json = false;
  std::vector<std::string> argv;
};

struct SandboxPolicyArguments {
  std::vector<std::string> allow, deny, available;
  std::string root;  // base of the <path>s; empty: the working folder
  bool json = false;
  std::vector<std::string> argv;  // one word with spaces is split as a command line
};

constexpr ValueKind kDir{"DIR", ValueKind::Bytes::kAny, ValueKind::Files::kFolders};
constexpr ValueKind kDuration{"DUR"}, kRule{"RULE"}, kFirstWords{"WORDS"};

void DeclareExec(Flags& flags, SandboxExecArguments& to) {
  flags.Add("--read", &to.read, "a folder that it may read; repeatable").Kind(kDir);
  flags.Add("--write", &to.write, "a folder that it may change; repeatable").Kind(kDir);
  flags.Add("--network", &to.network, "let it use the network");
  flags
      .Add("--sandbox", &to.mode,
           "strict refuses to run code where a wall is missing, degraded runs it")
      .OneOf({"strict", "degraded"})
      .ShowDefault();
  flags.Add("--cpu", &to.cpu, "processor time of all its processes (120s)").Kind(kDuration);
  flags.Add("--max-memory", &to.memory, "memory of all its processes (4G)")
      .Kind(kSize)
      .Formerly("--memory");
  flags.Add("--timeout", &to.timeout, "longest run (120s)").Kind(kTime);
  flags.Add("--json", &to.json, "one object: status, output, layers");
  flags.Add("program", &to.argv, "the program and its arguments, behind --").Required().Kind(kWord);
  flags.EndAtArgument();
}

void DeclarePolicy(Flags& flags, SandboxPolicyArguments& to) {
  flags.Add("--allow", &to.allow, "a rule: 'git log [-n <int>] [<word>...]'").Kind(kRule);
  flags.Add("--available", &to.available, "programs that are allowed").Kind(kFirstWords);
  flags.Add("--deny", &to.deny, "programs that are refused").Kind(kRule);
  flags.Add("--root", &to.root, "the folder that every <path> must lie in").Kind(kDir);
  flags.Add("--json", &to.json, "one object");
  flags.Add("command", &to.argv, "its words, behind --, or one quoted line").Required();
  flags.EndAtArgument();
}

using sandbox::Exit;
using sandbox::JailSpec;
using sandbox::JailStop;

Result<std::string> WorkingFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return MakeErrnoError(error.value(), "the working folder");
  return folder.string();
}

Result<std::vector<std::string>> Absolute(const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    if (error) return tl::unexpected(ExplainMissing(ErrnoError(error.value(), path), path));
    absolute.push_back(real.string());
  }
  return absolute;
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  for (const char* name : {"HOME", "LANG", "TZ", "USER", "TERM"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(fmt::format("{}={}", name, value));
    }
  }
  return environment;
}

// Returns the start folder of the program: this one, if the roots show it or something below it, so
// that relative paths mean the same as outside.
std::string Folder(const JailSpec& spec, const std::string& here) {
  for (const auto* roots : {&spec.write, &spec.read}) {
    for (const std::string& root : *roots) {
      if (here == root || here.starts_with(root + "/") || root.starts_with(here + "/")) return here;
    }
  }
  return {};
}

Result<JailSpec> MakeSpec(const SandboxExecArguments& arguments) {
  if (arguments.argv.empty()) {
    return MakeError(ErrorCode::kUsage, "sandbox exec: no program; it stands behind --");
  }
  JailSpec spec;
  DOSSIER_ASSIGN_OR_RETURN(spec.read, Absolute(arguments.read));
  DOSSIER_ASSIGN_OR_RETURN(spec.write, Absolute(arguments.write));
  DOSSIER_ASSIGN_OR_RETURN(const std::string here, WorkingFolder());
  spec.folder = Folder(spec, here);
  if (arguments.network) spec.network = sandbox::JailNetwork::kAny;
  spec.environment = OwnEnvironment();
  spec.input = STDIN_FILENO;
  if (arguments.mode == "degraded") spec.mode = sandbox::IsolationMode::kDegraded;
  sandbox::JailLimits& limits = spec.limits;
  if (!arguments.cpu.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(limits.cpu, ReadTimeFlag("--cpu", arguments.cpu));
  }
  if (!arguments.memory.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(limits.memory, ReadSizeFlag("--max-memory", arguments.memory));
  }
  if (!arguments.timeout.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(limits.wall, ReadTimeFlag("--timeout", arguments.timeout));
  }
  return spec;
}

int ExitCodeOf(const Exit& exit) {
  switch (exit.stop) {
    case JailStop::kNothing:
      return exit.shell_status();
    case JailStop::kTime:
      return ExitCode(ErrorCode::kTimeout);
    case JailStop::kCancel:
      return ExitCode(ErrorCode::kCancelled);
    case JailStop::kCpu:
    case JailStop::kMemory:
    case JailStop::kProcesses:
      return ExitCode(ErrorCode::kLimit);
  }
  return ExitCode(ErrorCode::kInternal);
}

Json ExitJson(const Exit& exit) {
  return JsonObject{{"schema", "dossier.sandbox.exec/1"},
                    {"status", exit.status},
                    {"signal", exit.signal},
                    {"stopped_by", sandbox::JailStopName(exit.stop)},
                    {"out", utf8::Sanitize(exit.out)},
                    {"err", utf8::Sanitize(exit.err)},
                    {"out_bytes", exit.out_bytes},
                    {"err_bytes", exit.err_bytes},
                    {"out_dropped", exit.out_dropped},
                    {"err_dropped", exit.err_dropped},
                    {"wall_ms", exit.wall.count()},
                    {"cpu_ms", exit.cpu.count()},
                    {"sandbox", exit.report.ToJson()}};
}

Result<int> RunExec(const SandboxExecArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const JailSpec spec, MakeSpec(arguments));
  sandbox::Io io{.cancel = context.cancel};
  if (!arguments.json) {
    io.on_output = [&](sandbox::Stream stream, std::string_view piece) {
      (stream == sandbox::Stream::kOut ? context.out : context.err) << piece << std::flush;
    };
  }
  DOSSIER_ASSIGN_OR_RETURN(const Exit exit, sandbox::RunJailed(spec, arguments.argv, io));
  if (exit.report.mode == sandbox::IsolationMode::kDegraded && !exit.report.gaps.empty()) {
    PrintWarning(context.err, "sandbox: degraded: " + Join(exit.report.gaps, "; "));
  }
  if (exit.stop != JailStop::kNothing) {
    PrintWarning(context.err, fmt::format("{} was ended by the jail: {}", arguments.argv[0],
                                          sandbox::JailStopName(exit.stop)));
  }
  if (arguments.json) context.out << ToJson(ExitJson(exit)) << "\n" << std::flush;
  return ExitCodeOf(exit);
}

Result<sandbox::Argv> ArgvWords(const std::vector<std::string>& argv) {
  if (argv.size() == 1 && argv[0].find(' ') != std::string::npos) {
    return sandbox::LexCommand(argv[0]);
  }
  return argv;
}

Result<int> RunPolicy(const SandboxPolicyArguments& arguments, Context& context) {
  sandbox::PolicyText text{.deny = arguments.deny};
  if (!arguments.allow.empty()) text.allow = arguments.allow;
  if (!arguments.available.empty()) text.available_commands = arguments.available;
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Policy policy, sandbox::MakePolicy(text));
  for (const std::string& warning : policy.warnings) PrintWarning(context.err, warning);
  DOSSIER_ASSIGN_OR_RETURN(const std::string here, WorkingFolder());
  sandbox::CommandJail jail{.root = here};
  if (!arguments.root.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const auto root, Absolute({arguments.root}));
    jail.root = root[0];
  }
  sandbox::Decision decision;
  if (const auto words = ArgvWords(arguments.argv)) {
    decision = sandbox::Judge(policy, *words, jail);
  } else {
    decision.sentence = words.error().message;
  }
  if (arguments.json) {
    JsonArray argv;
    for (const std::string& word : decision.argv) argv.emplace_back(word);
    context.out << ToJson(JsonObject{{"schema", "dossier.sandbox.policy/1"},
                                     {"allowed", decision.allowed},
                                     {"rule", decision.rule},
                                     {"argv", std::move(argv)},
                                     {"reason", decision.sentence}})
                << "\n";
  } else if (decision.allowed) {
    context.out << "allowed by " << decision.rule << "\nruns " << Join(decision.argv, " ") << "\n";
  } else {
    context.out << "refused: " << decision.sentence << "\n";
  }
  context.out.flush();
  return decision.allowed ? 0 : ExitCode(ErrorCode::kRefused);
}

}  // namespace

Command SandboxExecCommand() {
  return {.name = "exec",
          .summary = "run a program behind the walls",
          .binding = Bind(DeclareExec, RunExec)};
}

Command SandboxPolicyCommand() {
  return {.name = "policy",
          .summary = "whether a model might run a command",
          .binding = Bind(DeclarePolicy, RunPolicy)};
}

}  // namespace dossier::cli
