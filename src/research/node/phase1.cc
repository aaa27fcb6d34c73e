#include "research/node/phase1.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/cuts.h"
#include "research/files/phase_files.h"
#include "research/files/replies.h"
#include "research/node/phase0.h"
#include "research/node/phase_history.h"

namespace dossier::research {
namespace {

constexpr std::string_view kStepEvent = "phase1.step";
constexpr std::size_t kMaxConditions = 20;
constexpr std::size_t kMaxModuleName = 200;

std::string_view KindText(InstallStep::Kind kind) {
  switch (kind) {
    case InstallStep::Kind::kCommand:
      return "command";
    case InstallStep::Kind::kCheck:
      return "check";
    case InstallStep::Kind::kReplayed:
      return "replayed";
  }
  return "";
}

// Accepts a dotted name without anything that a shell or Python would interpret.
bool IsModuleName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxModuleName &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsWordByte(c) || c == '.'; });
}

// What one step recorded in the journal.
struct StepRecord {
  std::vector<InstallStep> results;
  std::string end;  // "": the loop continues; "done"; else why the phase fails
};

JsonObject RecordJson(const StepRecord& record) {
  JsonArray results;
  for (const InstallStep& step : record.results) results.push_back(StepJson(step));
  return {{"results", std::move(results)}, {"end", record.end}};
}

Result<StepRecord> ReadRecord(const Json& json) {
  StepRecord record;
  record.end = FindString(json, "end").value_or("");
  const Json* results = Find(json, "results");
  if (results == nullptr || !results->is_array()) {
    return MakeError(ErrorCode::kDamaged, "a step of the journal has no results");
  }
  for (const Json& value : results->get_array()) {
    DOSSIER_ASSIGN_OR_RETURN(InstallStep step, ReadStep(value));
    record.results.push_back(std::move(step));
  }
  return record;
}

class Installer {
 public:
  explicit Installer(PhaseContext& context)
      : context_(context),
        plan_(context.outcome.phase0_plan),
        exec_(*ExecOf(context)),
        log_(context.Log("download.log")) {}

  Status Run() {
    DOSSIER_RETURN_IF_ERROR(GoOn());
    while (end_.empty() && recorded_ < exec_.phase1_max_steps && !context_.failed()) {
      DOSSIER_RETURN_IF_ERROR(Step(recorded_));
    }
    if (!context_.failed() && end_ != "done") {
      context_.Fail("DownloadError",
                    end_.empty()
                        ? fmt::format("phase 1 was not done after {} steps", exec_.phase1_max_steps)
                        : end_);
    }
    SetStepsSummary(steps_, plan_, context_.outcome.history);
    return {};
  }

 private:
  static const ExecConfig* ExecOf(const PhaseContext& context) {
    return &context.services.config->exec;
  }

  std::string StepKey(int step) const { return context_.Key(fmt::format("phase1/{}", step)); }

  // Reads the steps of an earlier process, and restores the sandbox to the state after them.
  Status GoOn() {
    std::vector<InstallStep> known;
    for (;;) {
      DOSSIER_ASSIGN_OR_RETURN(const auto event,
                               context_.services.log->Recorded(kStepEvent, StepKey(recorded_)));
      if (!event) break;
      DOSSIER_ASSIGN_OR_RETURN(StepRecord record, ReadRecord(Json(event->data)));
      known.insert(known.end(), record.results.begin(), record.results.end());
      end_ = record.end;
      ++recorded_;
    }
    if (recorded_ == 0) DOSSIER_RETURN_IF_ERROR(context_.ClearSandbox());
    DOSSIER_RETURN_IF_ERROR(StartSandbox());
    if (recorded_ == 0) DOSSIER_RETURN_IF_ERROR(context_.CopyData());
    const std::string mark =
        ReadWorkspaceFile(context_.work.workspace, std::string(kInstallMark), 64).value_or("");
    const bool is_there = recorded_ == 0 || mark == std::to_string(recorded_);
    if (!is_there) {
      DOSSIER_RETURN_IF_ERROR(context_.ClearSandbox());
      DOSSIER_RETURN_IF_ERROR(StartSandbox());
      DOSSIER_RETURN_IF_ERROR(context_.CopyData());
    }
    const SandboxFacts facts = context_.sandbox()->Facts();
    if (!facts.warning.empty()) DOSSIER_RETURN_IF_ERROR(context_.Warn(facts.warning));
    steps_ = known;
    if (!is_there) DOSSIER_RETURN_IF_ERROR(Replay(known));
    return Mark();
  }

  Status StartSandbox() { return context_.StartSandbox("", SandboxSpec::Use::kInstall); }

  // A command whose result changed is reported to the model as a separate step.
  Status Replay(const std::vector<InstallStep>& known) {
    DOSSIER_RETURN_IF_ERROR(context_.Warn("phase 1: a new sandbox; its commands run again"));
    for (const InstallStep& step : known) {
      if (step.kind != InstallStep::Kind::kCommand) continue;
      DOSSIER_ASSIGN_OR_RETURN(InstallStep again,
                               RunStep(step.command, InstallStep::Kind::kReplayed));
      if (again.exit_code == step.exit_code) continue;
      again.notes =
          fmt::format("run again after a restart; before, its exit code was {}", step.exit_code);
      replayed_.push_back(again);
      steps_.push_back(std::move(again));
    }
    return {};
  }

  Status Mark() const {
    constexpr std::string_view kFolder = kInstallMark.substr(0, kInstallMark.find('/'));
    DOSSIER_RETURN_IF_ERROR(MakeOwnFolder(context_.work.workspace, kFolder));
    return WriteOwnFile(context_.work.workspace, kInstallMark, std::to_string(recorded_));
  }

  Json Progress(int step) const {
    JsonArray history;
    for (const InstallStep& done : steps_) {
      JsonObject entry = StepJson(done);
      entry.erase("kind");
      history.push_back(std::move(entry));
    }
    return JsonObject{
        {"step", step + 1}, {"max_steps", exec_.phase1_max_steps}, {"history", std::move(history)}};
  }

  CallRequest Request(int step) const {
    const NodeWork& work = context_.work;
    CallRequest request{.site = "phase1_step",
                        .label = fmt::format("phase1_step{}", step),
                        .alias = fmt::format("phase1_step{}_prompt", step),
                        .prefix = work.prefix,
                        .memory_query = work.coding.memory_query};
    request.prefix.plan = PlanSection(plan_);
    JsonObject seed;
    for (const std::string_view key :
         {"download_commands_seed", "compile_plan", "compile_commands", "run_commands"}) {
      if (const Json* value = Find(plan_, key)) seed[key] = *value;
    }
    request.sections.push_back({.name = "phase_plan", .value = std::move(seed)});
    request.sections.push_back({.name = "constraints", .value = Json(Constraints())});
    request.sections.push_back({.name = "progress", .value = Progress(step)});
    const Json* guidance = Find(plan_, "phase_guidance");
    const Json* phase1 = guidance == nullptr ? nullptr : Find(*guidance, "phase1");
    if (phase1 != nullptr) request.sections.push_back({.name = "guidance", .value = *phase1});
    request.check = [](std::string_view payload) -> Status {
      DOSSIER_RETURN_IF_ERROR(ParseInstallReply(payload));
      return {};
    };
    return request;
  }

  std::string Constraints() const {
    const SandboxFacts facts = context_.sandbox()->Facts();
    const bool is_root = facts.root == SandboxFacts::Root::kYes;
    const bool network = exec_.network != NetworkPolicy::kNever;
    return fmt::format(
        "- The workspace is {}; only what lies below it is kept{}.\n"
        "- {}\n- {}\n- One command may take {} seconds.\n",
        exec_.workspace_mount,
        !is_root                ? ""
        : facts.kind == "local" ? ", and what is installed into the system's folders"
                                : ", and what is installed into the image",
        is_root ? "Commands are root: package managers work, sudo is not needed."
                : "Commands are not root: no package managers, no sudo. Install Python packages "
                  "with `python3 -m pip install --target " +
                      exec_.workspace_mount + "/.pydeps`, other things from source.",
        network ? "The network is open in this phase." : "There is no network.", exec_.timeout);
  }

  Status Step(int step) {
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome answer,
                             context_.Ask(Phase::kInstall, Request(step)));
    if (answer.failure) {
      context_.outcome.failure = answer.failure;
      context_.Fail("DownloadError",
                    fmt::format("{}: {}", answer.failure->reason, answer.failure->detail));
      return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(const InstallReply reply, ParseInstallReply(answer.payload));
    StepRecord record{.results = std::exchange(replayed_, {})};
    const std::size_t before = steps_.size();
    DOSSIER_RETURN_IF_ERROR(Act(reply, record.end));
    record.results.insert(record.results.end(),
                          steps_.begin() + static_cast<std::ptrdiff_t>(before), steps_.end());
    DOSSIER_RETURN_IF_ERROR(Record(step, record, answer.payload));
    end_ = record.end;
    return {};
  }

  Status Act(const InstallReply& reply, std::string& end) {
    const bool done = reply.done == InstallReply::Done::kYes;
    if (!reply.command.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(InstallStep result,
                               RunStep(reply.command, InstallStep::Kind::kCommand));
      if (!reply.notes.empty() && result.notes.empty()) result.notes = reply.notes;
      steps_.push_back(std::move(result));
    } else if (!done) {
      end = "phase 1: the reply has no command and does not say that it is done";
      return {};
    }
    if (!done) return {};
    if (!steps_.empty() && steps_.back().exit_code != 0) {
      end = fmt::format("phase 1 was called done after a command that failed: {} (exit code {})",
                        CutText(steps_.back().command, kFailureInEvent), steps_.back().exit_code);
      return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(const bool holds, ConditionsHold());
    if (holds) end = "done";
    return {};
  }

  std::vector<std::string> Conditions() const {
    std::vector<std::string> conditions =
        PlanTexts(plan_, "phase_guidance", "phase1", "done_conditions");
    if (conditions.size() > kMaxConditions) conditions.resize(kMaxConditions);
    const Json* build = Find(plan_, "compile_plan");
    const bool uses_python =
        !PlanTexts(plan_, "dependencies", "", "pip").empty() || exec_.language == "python" ||
        (build != nullptr && ToLowerAscii(FindString(*build, "language").value_or("")) == "python");
    if (!uses_python) return conditions;
    for (const std::string& module : exec_.phase1_required_imports) {
      if (IsModuleName(module)) {
        conditions.push_back(fmt::format("python3 -c 'import {}'", module));
      }
    }
    return conditions;
  }

  // The first condition that fails becomes a step, and the loop continues.
  Result<bool> ConditionsHold() {
    for (const std::string& condition : Conditions()) {
      DOSSIER_ASSIGN_OR_RETURN(InstallStep check, RunStep(condition, InstallStep::Kind::kCheck));
      if (check.exit_code == 0) continue;
      if (check.exit_code == 126 || check.exit_code == 127) {
        DOSSIER_RETURN_IF_ERROR(context_.Warn(
            fmt::format("phase 1: the condition `{}` could not be checked (exit code {})",
                        CutText(condition, kFailureInEvent), check.exit_code)));
        continue;
      }
      check.notes = "a condition of the plan that does not hold yet";
      steps_.push_back(std::move(check));
      return false;
    }
    return true;
  }

  Result<InstallStep> RunStep(const std::string& line, InstallStep::Kind kind) {
    DOSSIER_ASSIGN_OR_RETURN(const ExecResult result,
                             context_.Run({.command = line, .phase = Phase::kInstall}, log_));
    InstallStep step{.step = static_cast<int>(steps_.size()) + 1,
                     .command = Redact(line),
                     .exit_code = result.status,
                     .stdout_summary = CutTail(Redact(utf8::Sanitize(result.out)), kCommandSummary),
                     .stderr_summary = CutTail(Redact(utf8::Sanitize(result.err)), kCommandSummary),
                     .notes = result.note,
                     .kind = kind};
    if (!result.refused.empty()) step.notes = result.refused;
    if (result.timed_out) step.notes = "timed out";
    context_.Say(fmt::format("phase 1: {} ({})", CutText(step.command, 80), step.exit_code));
    return step;
  }

  // The journal is written first: what it contains is not repeated.
  Status Record(int step, const StepRecord& record, std::string_view payload) {
    DOSSIER_RETURN_IF_ERROR(
        context_.services.log->Add(kStepEvent, StepKey(step), RecordJson(record)));
    recorded_ = step + 1;
    DOSSIER_RETURN_IF_ERROR(Mark());
    std::string lines;
    for (const InstallStep& result : record.results) {
      JsonObject line = StepJson(result);
      line["node"] = context_.work.node_id;
      lines += ToJson(line) + "\n";
    }
    DOSSIER_RETURN_IF_ERROR(AppendToFile(context_.WorkerFile("phase1_steps.jsonl"), lines));
    const JsonObject reply{
        {"node", context_.work.node_id}, {"step", step + 1}, {"reply", Redact(payload)}};
    return AppendToFile(context_.WorkerFile("phase1_llm_outputs.jsonl"), ToJson(reply) + "\n");
  }

  PhaseContext& context_;
  const Json& plan_;
  const ExecConfig& exec_;
  PhaseLog log_;
  std::vector<InstallStep> steps_;     // all steps that the model is shown
  std::vector<InstallStep> replayed_;  // those not yet in the journal
  int recorded_ = 0;                   // number of steps in the journal
  std::string end_;                    // the last step's `end`
};

}  // namespace

JsonObject StepJson(const InstallStep& step) {
  return {{"step", step.step},
          {"command", step.command},
          {"exit_code", step.exit_code},
          {"stdout_summary", step.stdout_summary},
          {"stderr_summary", step.stderr_summary},
          {"notes", step.notes},
          {"kind", KindText(step.kind)}};
}

Result<InstallStep> ReadStep(const Json& json) {
  InstallStep step;
  const auto number = FindInt(json, "step"), exit_code = FindInt(json, "exit_code");
  const auto command = FindString(json, "command");
  if (!number || !exit_code || !command) {
    return MakeError(ErrorCode::kDamaged, "a step of the journal lacks step, command or exit_code");
  }
  step.step = static_cast<int>(*number);
  step.command = *command;
  step.exit_code = static_cast<int>(*exit_code);
  step.stdout_summary = FindString(json, "stdout_summary").value_or("");
  step.stderr_summary = FindString(json, "stderr_summary").value_or("");
  step.notes = FindString(json, "notes").value_or("");
  const std::string_view kind = FindString(json, "kind").value_or("");
  for (const auto known : {InstallStep::Kind::kCheck, InstallStep::Kind::kReplayed}) {
    if (kind == KindText(known)) step.kind = known;
  }
  return step;
}

Result<InstallReply> ParseInstallReply(std::string_view payload) {
  DOSSIER_ASSIGN_OR_RETURN(const RelaxedJson read, ParseRelaxedJson(payload));
  if (!read.value.is_object()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply is no object {{command, done, notes}}");
  }
  const Json* command = Find(read.value, "command");
  const Json* done = Find(read.value, "done");
  if (command == nullptr && done == nullptr) {
    return MakeError(ErrorCode::kInvalidArgument, "the reply has neither command nor done");
  }
  if (command != nullptr && !command->is_string() && !command->is_null()) {
    return MakeError(ErrorCode::kInvalidArgument, "command must be a text: one line of shell");
  }
  if (done != nullptr && !done->is_bool() && !done->is_null()) {
    return MakeError(ErrorCode::kInvalidArgument, "done must be true or false");
  }
  InstallReply reply;
  reply.command = TrimSpace(FindString(read.value, "command").value_or(""));
  reply.notes = FindString(read.value, "notes").value_or("");
  if (FindBool(read.value, "done").value_or(false)) reply.done = InstallReply::Done::kYes;
  return reply;
}

Status Install(PhaseContext& context) { return Installer(context).Run(); }

}  // namespace dossier::research
