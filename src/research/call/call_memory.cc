#include "research/call/call_memory.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/rounds.h"
#include "memory/render/render.h"
#include "research/call/values.h"

namespace dossier::research {
namespace {

constexpr std::string_view kApplied = "block.applied";
constexpr std::uint64_t kLongestQuery = 4'000;  // code points; a search uses 32 terms of it

// Returns `block` with only its reads: its writes are in the store already.
memory::UpdateBlock ReadsOf(memory::UpdateBlock block) {
  std::erase_if(block.operations, [](const memory::BlockOperation& operation) {
    return memory::OperationOf(operation.id).access != memory::Access::kRead;
  });
  return block;
}

}  // namespace

CallMemory::CallMemory(CallParts& parts, const CallSite& site, const CallRequest& request)
    : parts_(parts), site_(site), request_(request) {
  const driver::MemoryUse& use = parts.options().memory;
  if (!site.memory_hint.empty() && use.store) {
    port_.emplace(use, request.scope.branch, request.scope.phase);
  }
}

memory::RoundLimits CallMemory::Limits() const {
  memory::RoundLimits limits{.attempts = site_.attempts, .read_rounds = 0};
  if (!on()) return limits;
  limits.read_rounds = port_->limits().max_memory_read_rounds;
  if (site_.role == "code") limits.block = memory::BlockNeed::kRequired;
  const bool memory_first = site_.first == FirstAsked::kMemory &&
                            request_.memory_round == CallRequest::MemoryRound::kBySite;
  if (memory_first) limits.first = memory::FirstRound::kMemoryFirst;
  return limits;
}

std::string CallMemory::Query() const {
  std::string query = request_.memory_query;
  if (query.empty() && !request_.sections.empty()) query = ValueText(request_.sections.front());
  return std::string(utf8::Prefix(TrimSpace(query), kLongestQuery));
}

Status CallMemory::MakeRoom() {
  if (!on()) return {};
  return port_->MakeRoom().map([](const auto&) {});
}

Result<MemoryText> CallMemory::Render() const {
  const CallerOptions& options = parts_.options();
  const memory::StoreLimits& limits = port_->limits();
  std::int64_t chars = site_.memory_chars > 0 ? site_.memory_chars : limits.memory_budget_chars;
  const auto configured = options.budget_chars.find(site_.memory_hint);
  if (configured != options.budget_chars.end()) chars = configured->second;
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, port_->Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(memory::Rendered rendered,
                           memory::Render(view, limits,
                                          {.hint = std::string(site_.memory_hint),
                                           .query = Query(),
                                           .budget = {.chars = chars},
                                           .status_line = memory::RenderRequest::StatusLine::kYes,
                                           .stopwatch = options.clock.get()}));
  return MemoryText{.help = memory::HelpText(memory::HelpForm::kShort),
                    .text = std::move(rendered.text),
                    .accounting = memory::AccountingJson(rendered.accounting)};
}

Result<memory::UpdateResult> CallMemory::RunBlock(const memory::UpdateBlock& block,
                                                  std::string_view place) {
  memory::ApplyContext context{.block_id = std::string(place), .clock = parts_.options().clock};
  if (block.Writes()) {
    DOSSIER_ASSIGN_OR_RETURN(const bool applied, memory::WasApplied(port_->store(), place));
    if (applied) return port_->Apply(ReadsOf(block), std::move(context));
  }
  context.node_id = request_.scope.node;
  context.consolidate_from = port_->use().consolidate_from;
  return port_->Apply(block, std::move(context));
}

Result<std::string> CallMemory::Apply(const memory::ParsedReply& reply, std::string_view place,
                                      const PromptEntry& entry) {
  if (!on() || !reply.block || reply.block->operations.empty()) return std::string();
  DOSSIER_ASSIGN_OR_RETURN(const auto done, parts_.journal().Recorded(kApplied, place));
  if (done) {
    const Json* results = Find(done->data, "results");
    return std::string(results && results->is_string() ? results->get_string() : "");
  }
  DOSSIER_ASSIGN_OR_RETURN(const memory::UpdateResult result, RunBlock(*reply.block, place));
  DOSSIER_RETURN_IF_ERROR(port_->LogOperations(
      {.layer = "block", .node = request_.scope.node, .run = parts_.journal().run()},
      result.operations_log));
  std::string results = memory::ResultsText(result.reads);
  const JsonObject json = memory::BlockResultJson(result);
  if (parts_.options().prompt_logs == CallerOptions::PromptLogs::kOn) {
    DOSSIER_RETURN_IF_ERROR(parts_.logs().WriteOperations(entry, json));
    DOSSIER_RETURN_IF_ERROR(parts_.logs().Append(
        "memory_operations.jsonl",
        {{"place", place}, {"branch", port_->branch()}, {"operations", result.operations_log}}));
  }
  DOSSIER_RETURN_IF_ERROR(parts_.journal().Add(kApplied, place,
                                               {{"node", request_.scope.node},
                                                {"phase", request_.scope.phase},
                                                {"branch", port_->branch()},
                                                {"results", results},
                                                {"operations", result.operations_log}}));
  return results;
}

}  // namespace dossier::research
