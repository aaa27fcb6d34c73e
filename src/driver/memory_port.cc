#include "driver/memory_port.h"

#include "base/text/text.h"

namespace dossier::driver {

MemoryPort::MemoryPort(MemoryUse use, std::string_view branch, std::string_view phase)
    : use_(std::move(use)), branch_(branch.empty() ? memory::kRootBranch : branch), phase_(phase) {}

Result<MemoryPort> MemoryPort::Open(MemoryUse use, std::string_view branch,
                                    std::string_view phase) {
  MemoryPort port(std::move(use), branch, phase);
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const memory::View view, port.Snapshot());
  return port;
}

Result<MemoryPort> MemoryPort::Fork(const std::string& name, std::optional<memory::Seq> at) const {
  DOSSIER_ASSIGN_OR_RETURN(const memory::Branch branch, store().Fork(branch_, name, {.at = at}));
  return MemoryPort(use_, branch.name, phase_);
}

Result<memory::View> MemoryPort::Snapshot(std::optional<memory::Seq> at) const {
  return store().Snapshot(branch_, at);
}

memory::RenderRequest MemoryPort::RequestFor(std::string_view query, const tokens::Counter& counter,
                                             std::int64_t max_tokens) const {
  return {.hint = phase_,
          .query = std::string(TrimSpace(query)),
          .budget = {.chars = limits().memory_budget_chars,
                     .tokens = max_tokens,
                     .count_tokens = [&counter](std::string_view text) {
                       return counter.CountText(text).tokens;
                     }}};
}

Result<std::optional<memory::ConsolidateOutcome>> MemoryPort::MakeRoom() const {
  if (!writes() || !use_.consolidate_from) return std::nullopt;
  return memory::ConsolidateIfNeeded(store(), branch_, *use_.consolidate_from, use_.summarizer);
}

Result<memory::UpdateResult> MemoryPort::Apply(const memory::UpdateBlock& block,
                                               memory::ApplyContext context) const {
  if (context.phase.empty()) context.phase = phase_;
  context.summarizer = use_.summarizer;
  return memory::Apply(store(), branch_, block, context);
}

Status MemoryPort::Write(memory::Actor actor,
                         const std::function<Status(memory::BranchTransaction&)>& write) const {
  return store().Transact(branch_, {.actor = actor, .phase = phase_}, write);
}

Status MemoryPort::Log(memory::LoggedCall call) const {
  if (!logs()) return {};
  call.branch = branch_;
  call.phase = phase_;
  return use_.calls->Append(std::move(call));
}

Status MemoryPort::LogOperations(memory::LoggedCall as, const JsonArray& operations_log) const {
  if (!logs()) return {};
  as.branch = branch_;
  as.phase = phase_;
  return memory::AppendOperations(*use_.calls, as, operations_log);
}

}  // namespace dossier::driver
