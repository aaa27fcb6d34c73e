#include "research/node/phase_context.h"

#include <fmt/format.h>

#include <utility>

#include "base/files/file.h"
#include "base/text/redact.h"
#include "memory/store/branch_transaction.h"
#include "research/files/cuts.h"
#include "research/files/phase_files.h"
#include "research/files/run_folder.h"
#include "research/setup/exec_backends.h"

namespace dossier::research {
namespace {

constexpr std::string_view kJobQueued = "job.queued";

}  // namespace

Result<CallOutcome> PhaseContext::Ask(Phase phase, CallRequest request) {
  request.scope = work.scope;
  request.scope.phase = PhaseName(phase);
  request.prefix.resources = services.resources[static_cast<std::size_t>(phase)];
  return services.caller->Call(request, cancel);
}

Status PhaseContext::StartSandbox(const std::string& image, SandboxSpec::Use use) {
  if (sandbox_ && image_ == image) return {};
  StopSandbox();
  DOSSIER_ASSIGN_OR_RETURN(sandbox_, services.backend(work.worker));
  SandboxSpec spec = SandboxOf(services.config->exec, work.workspace, services.environment);
  spec.environment.insert(spec.environment.end(), work.environment.begin(), work.environment.end());
  spec.binds = services.binds;
  spec.image = image;
  spec.use = use;
  image_ = image;
  return sandbox_->Start(spec);
}

void PhaseContext::StopSandbox() noexcept {
  if (sandbox_) sandbox_->Stop();
  sandbox_.reset();
}

Status PhaseContext::ClearSandbox() {
  StopSandbox();
  DOSSIER_RETURN_IF_ERROR(RemoveAll(SystemBeside(work.workspace)));
  return RemoveAll(work.workspace);
}

Status PhaseContext::CopyData() const {
  if (services.data.empty()) return {};
  return CopyWorkspace(services.data, fmt::format("{}/{}", work.workspace, kInputFolder));
}

Result<ExecResult> PhaseContext::Run(ExecCommand command, PhaseLog& log, std::string_view job) {
  if (!command.time_limit) command.time_limit = Millis(services.config->exec.timeout * 1000);
  if (!job.empty()) {
    const std::string key = Key(job);
    DOSSIER_ASSIGN_OR_RETURN(const auto queued, services.log->Recorded(kJobQueued, key));
    if (queued) {
      command.queued_job = FindString(Json(queued->data), "job").value_or("");
    }
    command.queue_key = key;
    command.on_queued = [this, key](std::string_view id) {
      return services.log->Add(kJobQueued, key, {{"node", work.node_id}, {"job", id}});
    };
  }
  DOSSIER_ASSIGN_OR_RETURN(ExecResult result, sandbox_->Run(command, cancel));
  DOSSIER_RETURN_IF_ERROR(log.Add(command, result));
  return result;
}

bool PhaseContext::HasJob(std::string_view job) const {
  return services.log->Has(kJobQueued, Key(job));
}

Status PhaseContext::Remember(Phase phase, std::string_view kind, std::string_view text) {
  if (services.memory == nullptr) return {};
  const std::string branch =
      work.scope.branch.empty() ? std::string(memory::kRootBranch) : work.scope.branch;
  const memory::WriteContext context{.actor = memory::Actor::kSystem,
                                     .node_id = work.node_id,
                                     .phase = std::string(PhaseName(phase))};
  memory::Record record{.tier = memory::Tier::kRecall,
                        .kind = std::string(kind),
                        .text = std::string(text),
                        .ref = work.node_id,
                        .phase = context.phase};
  return services.memory->Transact(branch, context,
                                   [&](memory::BranchTransaction& session) -> Status {
                                     DOSSIER_RETURN_IF_ERROR(session.Add(record));
                                     return {};
                                   });
}

Status PhaseContext::Warn(std::string_view text) {
  Say(text);
  return services.log->Add("warning", "", {{"node", work.node_id}, {"text", text}});
}

void PhaseContext::Say(std::string_view text) const {
  if (services.progress) services.progress(fmt::format("{:.8}: {}", work.node_id, text));
}

void PhaseContext::Fail(std::string_view type, std::string_view info) {
  outcome.exc_type = type;
  outcome.exc_info = Redact(info);
}

std::string PhaseContext::Key(std::string_view step) const {
  return fmt::format("{}/{}", work.node_id, step);
}

PhaseLog PhaseContext::Log(std::string_view name) const {
  return PhaseLog(
      fmt::format("{}/{}/{}", services.run_folder, run_files::PhaseLogs(work.node_id), name));
}

std::string PhaseContext::WorkerFile(std::string_view name) const {
  return fmt::format("{}/{}/{}", services.run_folder, run_files::Worker(work.worker), name);
}

}  // namespace dossier::research
