// Scorers that are programs: what a questions file names runs in the jail.

#include <algorithm>
#include <filesystem>

#include "agents/engine/process_jail.h"
#include "cli/evaluation/eval_run.h"
#include "sandbox/jail/jail.h"
#include "sources/commands/context_command.h"

namespace dossier::cli {
namespace {

constexpr Millis kScorerTime{60'000};

std::string ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(std::string(name) + "=")) return variable.substr(name.size() + 1);
  }
  return "";
}

Result<sandbox::JailSpec> SpecFor(const evaluation::AskedTask& asked, const std::string& program) {
  sandbox::JailSpec spec;
  std::error_code failure;
  spec.folder =
      asked.folder.empty() ? std::filesystem::current_path(failure).string() : asked.folder;
  if (failure) return MakeErrnoError(failure.value(), "the current folder");
  spec.environment = sources::CommandEnvironment(sources::CurrentEnvironment(), {}, {});
  const std::string home = ValueOf(spec.environment, "HOME");
  spec.read = agents::ProgramFolders(ValueOf(spec.environment, "PATH"), home, program);
  spec.read.insert(spec.read.begin(), spec.folder);
  std::erase_if(spec.environment, [](const std::string& one) {
    return one.starts_with("HOME=") || one.starts_with("TMPDIR=");
  });
  spec.environment.emplace_back("HOME=/tmp");
  spec.limits.wall = kScorerTime;
  return spec;
}

}  // namespace

evaluation::RunScorer JailedScorer(const CancelToken& cancel) {
  return [cancel](const evaluation::AskedTask& asked, std::string input) -> Result<ProcessResult> {
    const std::vector<std::string> argv = StringsOf(asked.task.meta.if_contains("command"));
    if (argv.empty()) {
      return MakeError(ErrorCode::kConfig, "{}: scorer `command` needs `command: [PROGRAM, …]`",
                       asked.task.id);
    }
    DOSSIER_ASSIGN_OR_RETURN(sandbox::JailSpec spec, SpecFor(asked, argv.front()));
    spec.input = std::move(input);
    DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit,
                             sandbox::RunJailed(spec, argv, {.cancel = cancel}));
    if (exit.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    if (exit.timed_out()) {
      return MakeError(ErrorCode::kTimeout, "the scorer of {} took more than {} s", asked.task.id,
                       kScorerTime.count() / 1000);
    }
    return ProcessResult{
        .exit_code = exit.status, .signal = exit.signal, .out = exit.out, .err = exit.err};
  };
}

}  // namespace dossier::cli
