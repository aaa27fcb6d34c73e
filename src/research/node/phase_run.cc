#include "research/node/phase_run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/cuts.h"
#include "research/files/languages.h"
#include "research/files/phase_files.h"
#include "research/node/phase_history.h"

namespace dossier::research {
namespace {

constexpr CutLimits kLastLines{20, 2'000};  // of an error's text

struct CommandList {
  Phase phase;
  std::string_view name;        // "compile": of log, history and memory
  std::string_view error_type;  // of a command that fails
};
constexpr CommandList kCompile{Phase::kCompile, "compile", "CompilationError"};
constexpr CommandList kRun{Phase::kRun, "run", "RuntimeError"};

// The folder of the build plan, relative to the mount; "" is the mount.
std::string FolderOf(const PhaseContext& context, const BuildPlan& build) {
  const std::string& mount = context.services.config->exec.workspace_mount;
  std::string_view folder = build.workdir;
  if (folder == mount) return "";
  if (folder.starts_with(mount + "/")) folder.remove_prefix(mount.size() + 1);
  return std::string(folder.starts_with('/') ? "" : folder);
}

std::string HowItFailed(const std::string& line, const ExecResult& result) {
  if (!result.refused.empty()) return result.refused;
  if (result.timed_out) {
    return fmt::format("`{}` timed out after {:.0f} s", line, result.seconds);
  }
  if (result.out_of_memory) return fmt::format("`{}` ran out of memory", line);
  if (result.signal != 0) return fmt::format("`{}` was ended by signal {}", line, result.signal);
  return fmt::format("`{}` ended with status {}", line, result.status);
}

// What a command that failed said: its stderr, or its stdout where that is empty. How it ended is
// said where its text cannot say it.
std::string ErrorText(const std::string& line, const ExecResult& result) {
  const std::string& said = TrimSpace(result.err).empty() ? result.out : result.err;
  std::string text = CutTail(Redact(utf8::Sanitize(said)), kFailureTail);
  const bool was_ended = result.timed_out || result.out_of_memory || result.signal != 0;
  if (was_ended || TrimSpace(text).empty()) {
    text = fmt::format("{}\n{}", HowItFailed(line, result), text);
  } else if (!text.ends_with('\n')) {
    text += '\n';
  }
  return text;
}

struct ListOutcome {
  std::string output;  // of all commands, redacted
  std::string errors;  // of the one that failed, redacted; "": none did
  double seconds = 0;
};

// Until the first that fails.
Result<ListOutcome> RunList(PhaseContext& context, const CommandList& list,
                            const std::vector<std::string>& commands, const BuildPlan& build) {
  PhaseLog log = context.Log(fmt::format("{}.log", list.name));
  DOSSIER_RETURN_IF_ERROR(log.Begin());
  ListOutcome outcome;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    ExecCommand command{.command = FillCommand(commands[i], build),
                        .folder = FolderOf(context, build),
                        .phase = list.phase};
    const std::string line = command.command;
    const std::string job = fmt::format("{}/c{}", PhaseName(list.phase), i);
    DOSSIER_ASSIGN_OR_RETURN(const ExecResult result, context.Run(std::move(command), log, job));
    outcome.seconds += result.seconds;
    outcome.output += Redact(fmt::format("$ {}\n{}", line, OutputText(result)));
    context.Say(fmt::format("{}: {} ({})", list.name, CutText(line, 80), result.status));
    if (result.status == 0) continue;
    outcome.errors = ErrorText(line, result);
    context.outcome.timed_out = result.timed_out;
    context.Fail(
        result.refused.empty() ? list.error_type : "EnvironmentError",
        fmt::format("{}\n{}", HowItFailed(line, result), CutTail(outcome.output, kLastLines)));
    break;
  }
  context.outcome.term_out = CutNodeOutput(outcome.output);
  SetOutputSummary(list.name, outcome.output, outcome.errors, context.outcome.history);
  return outcome;
}

// What becomes of a list: the history of children, an event of memory.
Status Conclude(PhaseContext& context, const CommandList& list, std::string_view well) {
  const bool failed = context.failed();
  const std::string text =
      failed ? fmt::format("{} failed: {}: {}", list.name, context.outcome.exc_type,
                           CutText(context.outcome.exc_info, kFailureInEvent))
             : fmt::format("{} complete: {}", list.name, well);
  SetPhaseSummary(list.phase, text, context.outcome.history);
  return context.Remember(list.phase,
                          fmt::format("{}_{}", list.name, failed ? "failed" : "complete"), text);
}

}  // namespace

Status Compile(PhaseContext& context, const Artifacts& artifacts) {
  if (!IsCompiled(artifacts.build.language)) {
    SetPhaseSummary(Phase::kCompile, "nothing to compile", context.outcome.history);
    return {};
  }
  DOSSIER_RETURN_IF_ERROR(RunList(context, kCompile, artifacts.compile_commands, artifacts.build));
  return Conclude(
      context, kCompile,
      fmt::format("{} with {}", artifacts.build.compiler, Join(artifacts.build.cflags, " ")));
}

Status RunProgram(PhaseContext& context, const Artifacts& artifacts) {
  DOSSIER_ASSIGN_OR_RETURN(const ListOutcome ran,
                           RunList(context, kRun, artifacts.run_commands, artifacts.build));
  context.outcome.exec_time = ran.seconds;
  std::vector<std::string>& outputs = context.outcome.outputs;
  std::optional<std::string> missing;
  for (const std::string& path : artifacts.expected_outputs) {
    auto reason = MissingOutput(context.work.workspace, path);
    if (!reason) {
      outputs.push_back(path);
    } else if (!missing) {
      missing = std::move(reason);
    }
  }
  if (missing && !context.failed()) {
    context.Fail("RuntimeError", fmt::format("{}\n{}", *missing, CutTail(ran.output, kLastLines)));
    SetOutputSummary(kRun.name, ran.output, *missing + "\n", context.outcome.history);
  }
  return Conclude(context, kRun, Join(outputs, ", ") + " written");
}

}  // namespace dossier::research
