#include "research/node/phases.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/files/file.h"
#include "base/result.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/exec/system_layers.h"
#include "research/files/artifacts.h"
#include "research/files/cuts.h"
#include "research/files/languages.h"
#include "research/files/phase_files.h"
#include "research/node/phase0.h"
#include "research/node/phase1.h"
#include "research/node/phase_context.h"
#include "research/node/phase_history.h"
#include "research/setup/config.h"

namespace dossier::research {
namespace {

// Phases 3 and 4: the compile commands, the run commands, the expected outputs.

constexpr CutLimits kLastLines{20, 2'000};  // for error texts

struct CommandList {
  Phase phase;
  std::string_view name;        // "compile": name in log, history and memory
  std::string_view error_type;  // for a command that fails
};
constexpr CommandList kCompile{Phase::kCompile, "compile", "CompilationError"};
constexpr CommandList kRun{Phase::kRun, "run", "RuntimeError"};

// Returns the folder of the build plan, relative to the mount; "" is the mount.
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

// Returns the failed command's stderr, or its stdout if that is empty. Says how it ended if the
// text cannot tell.
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
  std::string output;  // output of all commands, redacted
  std::string errors;  // output of the failed one, redacted; "": none failed
  double seconds = 0;
};

// Runs commands until the first that fails.
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

// Records the result of a list: history for children, a memory event.
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

// Does nothing for a language that is not compiled.
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

constexpr std::string_view kPhaseEvent = "phase.finished";

ParseContext ArtifactContext(const Services& services) {
  const ExecConfig& exec = services.config->exec;
  return {.mount = exec.workspace_mount,
          .language = exec.language,
          .output_name = OutputName(services.run_name),
          .compilers = services.compilers};
}

// Returns "Find the fastest order.\n- write a loop\n- measure it".
std::string PlanText(const Json& plan) {
  std::string text = TextAt(plan, "goal_summary");
  for (const std::string& step : StringsOf(Find(plan, "implementation_strategy"))) {
    text += fmt::format("{}- {}", text.empty() ? "" : "\n", step);
  }
  return text;
}

class PhaseRunner {
 public:
  PhaseRunner(const Services& services, const NodeWork& work, const CancelToken& cancel)
      : context_(services, work, cancel) {}

  Result<PhasesOutcome> RunAll() {
    DOSSIER_ASSIGN_OR_RETURN(const int next, TakeFinished());
    for (int i = next; i <= static_cast<int>(context_.work.last) && !context_.failed(); ++i) {
      const auto phase = static_cast<Phase>(i);
      DOSSIER_RETURN_IF_ERROR(Run(phase));
      DOSSIER_RETURN_IF_ERROR(Finish(phase));
    }
    return std::move(context_.outcome);
  }

  Result<PhasesOutcome> Rerun(const Json& artifacts) {
    DOSSIER_ASSIGN_OR_RETURN(const int next, TakeFinished());
    if (next > static_cast<int>(Phase::kRun) || context_.failed()) {
      return std::move(context_.outcome);
    }
    context_.outcome.artifacts = artifacts;
    context_.outcome.worker_image = context_.work.base_image;
    if (!context_.work.base_workspace.empty()) {
      DOSSIER_RETURN_IF_ERROR(CopyWorkspace(context_.work.base_workspace, context_.work.workspace));
      DOSSIER_RETURN_IF_ERROR(LinkSystem(SystemBeside(context_.work.base_workspace),
                                         SystemBeside(context_.work.workspace)));
    }
    DOSSIER_RETURN_IF_ERROR(TakeArtifacts());
    for (const Phase phase : {Phase::kCoding, Phase::kCompile, Phase::kRun}) {
      if (context_.failed()) break;
      DOSSIER_RETURN_IF_ERROR(phase == Phase::kCoding ? WriteProgram() : Run(phase));
      DOSSIER_RETURN_IF_ERROR(Finish(phase));
    }
    return std::move(context_.outcome);
  }

 private:
  std::string EventKey(Phase phase) const { return context_.Key(PhaseName(phase)); }

  // Reads the outcome of what an earlier process finished, and returns the number of the next
  // phase. A program that did not finish is compiled again in a new workspace; but if a job may
  // still be running in the old one, that job is waited for.
  Result<int> TakeFinished() {
    for (int i = kPhases - 1; i >= 0; --i) {
      const auto phase = static_cast<Phase>(i);
      DOSSIER_ASSIGN_OR_RETURN(const auto event,
                               context_.services.log->Recorded(kPhaseEvent, EventKey(phase)));
      if (!event) continue;
      DOSSIER_ASSIGN_OR_RETURN(PhasesOutcome outcome, ReadOutcome(Json(event->data)));
      const bool failed = !outcome.exc_type.empty() || outcome.failure.has_value();
      if (phase == Phase::kCompile && !failed && !context_.HasJob("phase4/c0")) continue;
      context_.outcome = std::move(outcome);
      if (failed || phase < Phase::kCoding || phase == Phase::kRun) return i + 1;
      DOSSIER_RETURN_IF_ERROR(TakeArtifacts());
      if (phase == Phase::kCoding) DOSSIER_RETURN_IF_ERROR(WriteAll());
      return i + 1;
    }
    return 0;
  }

  Status Run(Phase phase) {
    switch (phase) {
      case Phase::kPlan:
        return Plan();
      case Phase::kInstall:
        return InstallAll();
      case Phase::kCoding:
        return Code();
      case Phase::kCompile:
        DOSSIER_RETURN_IF_ERROR(context_.StartSandbox(context_.outcome.worker_image));
        return Compile(context_, *artifacts_);
      case Phase::kRun:
        DOSSIER_RETURN_IF_ERROR(context_.StartSandbox(context_.outcome.worker_image));
        return RunProgram(context_, *artifacts_);
    }
    return {};
  }

  // A phase that is repeated after a kill has its event already.
  Status Finish(Phase phase) {
    if (context_.services.log->Has(kPhaseEvent, EventKey(phase))) return {};
    return context_.services.log->Add(kPhaseEvent, EventKey(phase), OutcomeJson(context_.outcome));
  }

  Status Plan() {
    DOSSIER_RETURN_IF_ERROR(MakePlan(context_));
    context_.outcome.plan = PlanText(context_.outcome.phase0_plan);
    SetPhaseSummary(Phase::kPlan,
                    context_.failed() ? context_.outcome.exc_info
                                      : CutText(context_.outcome.plan, kPlanInEvent),
                    context_.outcome.history);
    return {};
  }

  Status InstallAll() {
    DOSSIER_RETURN_IF_ERROR(Install(context_));
    const bool failed = context_.failed();
    const std::string text =
        failed
            ? fmt::format("phase 1 failed: {}", CutText(context_.outcome.exc_info, kFailureInEvent))
            : "phase 1 complete";
    SetPhaseSummary(Phase::kInstall, text, context_.outcome.history);
    DOSSIER_RETURN_IF_ERROR(
        context_.Remember(Phase::kInstall, failed ? "phase1_failed" : "phase1_complete", text));
    if (failed) return {};
    DOSSIER_ASSIGN_OR_RETURN(const ImageRef image,
                             context_.sandbox()->Snapshot(context_.work.node_id));
    context_.outcome.worker_image = image.path;
    return {};
  }

  // Phase 2: the program comes from a model.
  Status Code() {
    const bool single = context_.services.config->exec.phase_mode == PhaseMode::kSingle;
    const ParseContext parse = ArtifactContext(context_.services);
    CallRequest request = context_.work.coding;
    request.prefix = context_.work.prefix;
    request.prefix.plan = PlanSection(context_.outcome.phase0_plan);
    request.check = [single, parse](std::string_view payload) -> Status {
      DOSSIER_RETURN_IF_ERROR(ReadProgram(payload, parse, single ? Form::kCode : Form::kArtifacts));
      return {};
    };
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome answer,
                             context_.Ask(Phase::kCoding, std::move(request)));
    if (answer.failure) {
      context_.outcome.failure = answer.failure;
      context_.Fail("PhasePlanError",
                    fmt::format("{}: {}", answer.failure->reason, answer.failure->detail));
      return RememberCoding();
    }
    DOSSIER_ASSIGN_OR_RETURN(Program program, ReadProgram(answer.payload, parse,
                                                          single ? Form::kCode : Form::kArtifacts));
    for (const std::string& warning : program.artifacts.warnings) {
      DOSSIER_RETURN_IF_ERROR(context_.Warn(warning));
    }
    if (!program.plan.empty()) context_.outcome.plan = std::move(program.plan);
    context_.outcome.artifacts = ArtifactsJson(program.artifacts);
    artifacts_ = std::move(program.artifacts);
    return WriteProgram();
  }

  enum class Form : std::uint8_t { kArtifacts, kCode };
  struct Program {
    Artifacts artifacts;
    std::string plan;  // for single mode
  };
  static Result<Program> ReadProgram(std::string_view payload, const ParseContext& context,
                                     Form form) {
    Program program;
    if (form == Form::kArtifacts) {
      DOSSIER_ASSIGN_OR_RETURN(program.artifacts, ParseArtifacts(payload, context));
      return program;
    }
    DOSSIER_ASSIGN_OR_RETURN(PlanAndCode parts, ParsePlanAndCode(payload));
    DOSSIER_ASSIGN_OR_RETURN(program.artifacts, ArtifactsOfCode(parts.code, context));
    program.plan = std::move(parts.plan);
    return program;
  }

  // Reads the artefacts from the outcome, where they were checked before.
  Status TakeArtifacts() {
    DOSSIER_ASSIGN_OR_RETURN(
        artifacts_, ReadArtifacts(context_.outcome.artifacts, ArtifactContext(context_.services)));
    return {};
  }

  Status WriteProgram() {
    context_.outcome.code = SourcesText(artifacts_->files);
    SetArtifactsSummary(*artifacts_, context_.outcome.history);
    PhaseLog log = context_.Log("coding.log");
    DOSSIER_RETURN_IF_ERROR(log.Begin());
    DOSSIER_RETURN_IF_ERROR(WriteAll());
    if (context_.failed()) {
      DOSSIER_RETURN_IF_ERROR(log.Line(context_.outcome.exc_info));
      return RememberCoding();
    }
    for (const ArtifactFile& file : artifacts_->files) {
      DOSSIER_RETURN_IF_ERROR(
          log.Line(fmt::format("{} {} bytes, mode {}", file.path, file.content.size(), file.mode)));
    }
    return RememberCoding();
  }

  // Files that cannot be written, also because of what a program left there, fail only the node.
  Status WriteAll() {
    Status written = PrepareWorkspace(*artifacts_, context_.work.workspace);
    if (written) return {};
    const ErrorCode code = written.error().code;
    if (code != ErrorCode::kInvalidArgument && code != ErrorCode::kPermission) return written;
    context_.Fail("CodingError", written.error().message);
    return {};
  }

  Status RememberCoding() {
    const bool failed = context_.failed();
    const std::string text =
        failed ? fmt::format("coding failed: {}: {}", context_.outcome.exc_type,
                             CutText(context_.outcome.exc_info, kFailureInEvent))
               : fmt::format("coding complete: {} files", artifacts_->files.size());
    SetPhaseSummary(Phase::kCoding, text, context_.outcome.history);
    return context_.Remember(Phase::kCoding, failed ? "coding_failed" : "coding_complete", text);
  }

  PhaseContext context_;
  std::optional<Artifacts> artifacts_;  // from phase 2 on
};

}  // namespace

Result<PhasesOutcome> RunPhases(const Services& services, const NodeWork& work,
                                const CancelToken& cancel) {
  return PhaseRunner(services, work, cancel).RunAll();
}

Result<PhasesOutcome> RerunArtifacts(const Services& services, const NodeWork& work,
                                     const Json& artifacts, const CancelToken& cancel) {
  return PhaseRunner(services, work, cancel).Rerun(artifacts);
}

namespace {

struct TextField {
  std::string_view name;
  std::string PhasesOutcome::* member;
};
constexpr std::array<TextField, 6> kTexts = {{{"plan", &PhasesOutcome::plan},
                                              {"code", &PhasesOutcome::code},
                                              {"term_out", &PhasesOutcome::term_out},
                                              {"exc_type", &PhasesOutcome::exc_type},
                                              {"exc_info", &PhasesOutcome::exc_info},
                                              {"worker_image", &PhasesOutcome::worker_image}}};
struct JsonField {
  std::string_view name;
  Json PhasesOutcome::* member;
};
constexpr std::array<JsonField, 3> kValues = {{{"phase0_plan", &PhasesOutcome::phase0_plan},
                                               {"artifacts", &PhasesOutcome::artifacts},
                                               {"history", &PhasesOutcome::history}}};

tl::unexpected<Error> Wrong(std::string_view field) {
  return MakeError(ErrorCode::kDamaged, "a finished phase of the journal: {} is missing or wrong",
                   field);
}

}  // namespace

JsonObject OutcomeJson(const PhasesOutcome& outcome) {
  JsonObject json;
  for (const TextField& field : kTexts) json[field.name] = outcome.*field.member;
  for (const JsonField& field : kValues) json[field.name] = outcome.*field.member;
  json["timed_out"] = outcome.timed_out;
  json["exec_time"] = outcome.exec_time;
  json["outputs"] = JsonArray(outcome.outputs.begin(), outcome.outputs.end());
  if (outcome.failure) {
    json["failure"] = JsonObject{{"reason", outcome.failure->reason},
                                 {"detail", outcome.failure->detail},
                                 {"reply_path", outcome.failure->reply_path}};
  }
  return json;
}

Result<PhasesOutcome> ReadOutcome(const Json& json) {
  PhasesOutcome outcome;
  for (const TextField& field : kTexts) {
    const auto text = FindString(json, field.name);
    if (!text) return Wrong(field.name);
    outcome.*field.member = *text;
  }
  for (const JsonField& field : kValues) {
    const Json* value = Find(json, field.name);
    if (value == nullptr) return Wrong(field.name);
    outcome.*field.member = *value;
  }
  outcome.timed_out = FindBool(json, "timed_out").value_or(false);
  outcome.exec_time = FindNumber(json, "exec_time").value_or(0);
  const Json* outputs = Find(json, "outputs");
  if (outputs == nullptr || !outputs->is_array()) return Wrong("outputs");
  for (const Json& path : outputs->get_array()) {
    if (!path.is_string()) return Wrong("outputs");
    outcome.outputs.emplace_back(path.get_string());
  }
  if (const Json* failure = Find(json, "failure")) {
    outcome.failure = CallFailure{TextAt(*failure, "reason"), TextAt(*failure, "detail"),
                                  TextAt(*failure, "reply_path")};
  }
  return outcome;
}

}  // namespace dossier::research
