#include "research/call/call_memory.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/results_text.h"
#include "memory/consolidate/consolidate.h"
#include "memory/render/render.h"
#include "research/call/values.h"

namespace dossier::research {
namespace {

constexpr std::string_view kApplied = "block.applied";
constexpr std::uint64_t kLongestQuery = 4'000;  // code points; a search takes 32 terms of it

// `block` with its reads alone: its writes are in the store already.
memory::UpdateBlock ReadsOf(memory::UpdateBlock block) {
  std::erase_if(block.operations, [](const memory::BlockOperation& operation) {
    return memory::OperationOf(operation.id).access != memory::Access::kRead;
  });
  return block;
}

}  // namespace

std::string_view CallMemory::Branch() const {
  return request_.scope.branch.empty() ? memory::kRootBranch
                                       : std::string_view(request_.scope.branch);
}

memory::RoundLimits CallMemory::Limits() const {
  memory::RoundLimits limits{.attempts = site_.attempts, .read_rounds = 0};
  if (!on()) return limits;
  limits.read_rounds = parts_.options().memory->limits().max_memory_read_rounds;
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
  const CallerOptions& options = parts_.options();
  if (!on() || !options.consolidate_from) return {};
  return memory::ConsolidateIfNeeded(*options.memory, Branch(), *options.consolidate_from,
                                     options.summarizer)
      .map([](const auto&) {});
}

Result<MemoryText> CallMemory::Render() const {
  const CallerOptions& options = parts_.options();
  const memory::StoreLimits& limits = options.memory->limits();
  std::int64_t chars = site_.memory_chars > 0 ? site_.memory_chars : limits.memory_budget_chars;
  const auto configured = options.budget_chars.find(site_.memory_hint);
  if (configured != options.budget_chars.end()) chars = configured->second;
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, options.memory->Snapshot(Branch()));
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
  const CallerOptions& options = parts_.options();
  const memory::ApplyContext context{.block_id = std::string(place),
                                     .node_id = request_.scope.node,
                                     .phase = request_.scope.phase,
                                     .summarizer = options.summarizer,
                                     .consolidate_from = options.consolidate_from,
                                     .clock = options.clock};
  if (block.Writes()) {
    DOSSIER_ASSIGN_OR_RETURN(const bool applied, memory::WasApplied(*options.memory, place));
    if (applied) {
      return memory::Apply(*options.memory, Branch(), ReadsOf(block),
                           {.block_id = context.block_id, .clock = options.clock});
    }
  }
  return memory::Apply(*options.memory, Branch(), block, context);
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
  std::string results = memory::ResultsText(result.reads);
  const JsonObject json = memory::BlockResultJson(result);
  if (parts_.options().prompt_logs == CallerOptions::PromptLogs::kOn) {
    DOSSIER_RETURN_IF_ERROR(parts_.logs().WriteOperations(entry, json));
    DOSSIER_RETURN_IF_ERROR(parts_.logs().Append(
        "memory_operations.jsonl",
        {{"place", place}, {"branch", Branch()}, {"operations", result.operations_log}}));
  }
  DOSSIER_RETURN_IF_ERROR(parts_.journal().Add(kApplied, place,
                                               {{"node", request_.scope.node},
                                                {"branch", Branch()},
                                                {"results", results},
                                                {"operations", result.operations_log}}));
  return results;
}

}  // namespace dossier::research
