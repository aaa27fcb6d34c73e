#include "cli/system/jail_command.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "cli/wiring/quantity_flags.h"
#include "sandbox/commands/policy.h"

namespace dossier::cli {
namespace {

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
    if (error) return MakeErrnoError(error.value(), path);
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

// Where the program starts: here, if the roots show this place.
std::string Folder(const JailSpec& spec, const std::string& here) {
  for (const auto* roots : {&spec.write, &spec.read}) {
    for (const std::string& root : *roots) {
      if (here == root || here.starts_with(root + "/")) return here;
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
  if (arguments.mode == "degraded") spec.mode = sandbox::Mode::kDegraded;
  spec.disabled_layers = arguments.disabled_layers;
  sandbox::JailLimits& limits = spec.limits;
  if (!arguments.cpu.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(limits.cpu, ReadTimeFlag("--cpu", arguments.cpu));
  }
  if (!arguments.memory.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(limits.memory, ReadSizeFlag("--memory", arguments.memory));
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

Result<int> Exec(const SandboxExecArguments& arguments, std::ostream& out, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const JailSpec spec, MakeSpec(arguments));
  sandbox::Io io{.cancel = arguments.cancel};
  if (!arguments.json) {
    io.on_output = [&](sandbox::Stream stream, std::string_view piece) {
      (stream == sandbox::Stream::kOut ? out : err) << piece << std::flush;
    };
  }
  DOSSIER_ASSIGN_OR_RETURN(const Exit exit, sandbox::RunJailed(spec, arguments.argv, io));
  if (exit.report.mode == sandbox::Mode::kDegraded && !exit.report.gaps.empty()) {
    PrintWarning(err, "sandbox: degraded: " + Join(exit.report.gaps, "; "));
  }
  if (exit.stop != JailStop::kNothing) {
    PrintWarning(err, fmt::format("{} was ended by the jail: {}", arguments.argv[0],
                                  sandbox::JailStopName(exit.stop)));
  }
  if (arguments.json) out << ToJson(ExitJson(exit)) << "\n" << std::flush;
  return ExitCodeOf(exit);
}

Result<sandbox::Argv> Words(const std::vector<std::string>& argv) {
  if (argv.size() == 1 && argv[0].find(' ') != std::string::npos) {
    return sandbox::LexCommand(argv[0]);
  }
  return argv;
}

Result<int> JudgeCommand(const SandboxPolicyArguments& arguments, std::ostream& out,
                         std::ostream& err) {
  sandbox::PolicyText text{.deny = arguments.deny};
  if (!arguments.allow.empty()) text.allow = arguments.allow;
  if (!arguments.available.empty()) text.available_commands = arguments.available;
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Policy policy, sandbox::MakePolicy(text));
  for (const std::string& warning : policy.warnings) PrintWarning(err, warning);
  DOSSIER_ASSIGN_OR_RETURN(const std::string here, WorkingFolder());
  sandbox::CommandJail jail{.root = here};
  if (!arguments.root.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const auto root, Absolute({arguments.root}));
    jail.root = root[0];
  }
  sandbox::Decision decision;
  if (const auto words = Words(arguments.argv)) {
    decision = sandbox::Judge(policy, *words, jail);
  } else {
    decision.sentence = words.error().message;
  }
  if (arguments.json) {
    JsonArray argv;
    for (const std::string& word : decision.argv) argv.emplace_back(word);
    out << ToJson(JsonObject{{"schema", "dossier.sandbox.policy/1"},
                             {"allowed", decision.allowed},
                             {"rule", decision.rule},
                             {"argv", std::move(argv)},
                             {"reason", decision.sentence}})
        << "\n";
  } else if (decision.allowed) {
    out << "allowed by " << decision.rule << "\nruns " << Join(decision.argv, " ") << "\n";
  } else {
    out << "refused: " << decision.sentence << "\n";
  }
  out.flush();
  return decision.allowed ? 0 : ExitCode(ErrorCode::kRefused);
}

}  // namespace

int RunSandboxExec(const SandboxExecArguments& arguments, std::ostream& out, std::ostream& err) {
  const Result<int> code = Exec(arguments, out, err);
  return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
}

int RunSandboxPolicy(const SandboxPolicyArguments& arguments, std::ostream& out,
                     std::ostream& err) {
  const Result<int> code = JudgeCommand(arguments, out, err);
  return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
}

void AddSandboxExecCommand(CLI::App& sandbox, SandboxExecArguments* arguments) {
  CLI::App& exec = *sandbox.add_subcommand("exec", "run a program in the jail");
  exec.add_option("--read", arguments->read, "a folder that it may read; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  exec.add_option("--write", arguments->write, "a folder that it may change; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  exec.add_flag("--network", arguments->network, "let it use the network");
  exec.add_option("--sandbox", arguments->mode, "strict, or degraded where layers are missing")
      ->check(CLI::IsMember({"strict", "degraded"}))
      ->capture_default_str();
  exec.add_option("--cpu", arguments->cpu, "processor time of all its processes (120s)")
      ->type_name("DUR");
  exec.add_option("--memory", arguments->memory, "memory of all its processes (4G)")
      ->type_name("SIZE");
  exec.add_option("--timeout", arguments->timeout, "longest run (120s)")->type_name("DUR");
  exec.add_flag("--json", arguments->json, "one object: status, output, layers");
  exec.add_option("program", arguments->argv, "the program and its arguments, behind --")
      ->required();
  exec.positionals_at_end();
}

void AddSandboxPolicyCommand(CLI::App& sandbox, SandboxPolicyArguments* arguments) {
  CLI::App& policy = *sandbox.add_subcommand("policy", "what the command policy says of a command");
  policy.add_option("--allow", arguments->allow, "a rule: 'git log [-n <int>] [<word>...]'")
      ->type_name("RULE")
      ->allow_extra_args(false);
  policy.add_option("--available", arguments->available, "first words that are allowed")
      ->type_name("WORDS")
      ->allow_extra_args(false);
  policy.add_option("--deny", arguments->deny, "first words that are refused")
      ->type_name("RULE")
      ->allow_extra_args(false);
  policy.add_option("--root", arguments->root, "the folder that every <path> must lie in")
      ->type_name("DIR");
  policy.add_flag("--json", arguments->json, "one object");
  policy.add_option("command", arguments->argv, "its words behind --, or one quoted line")
      ->required();
  policy.positionals_at_end();
}

}  // namespace dossier::cli
