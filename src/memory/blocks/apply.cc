#include "memory/blocks/apply.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "memory/blocks/block_run.h"
#include "memory/records/connection.h"
#include "memory/records/redaction.h"

namespace dossier::memory {
namespace {

Micros ToMicros(Clock::Wall time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

bool IsRead(const BlockOperation& operation) {
  return OperationOf(operation.id).access == Access::kRead;
}

Status RunReads(const View& view, const UpdateBlock& block, BlockRun& run) {
  for (const BlockOperation& operation : block.operations) {
    if (IsRead(operation)) DOSSIER_RETURN_IF_ERROR(run.Read(view, operation));
  }
  return {};
}

// Everything of the block, from the beginning: `result` is what it is before any operation.
Status RunAll(BranchTransaction& session, AnswerBook& answers, const UpdateBlock& block,
              const ApplyContext& context, UpdateResult& result) {
  BlockRun run(result);
  for (const BlockOperation& operation : block.operations) {
    if (!IsRead(operation)) DOSSIER_RETURN_IF_ERROR(run.Write(session, answers, operation));
  }
  if (block.Reads()) {
    DOSSIER_ASSIGN_OR_RETURN(const View view, session.Snapshot());
    DOSSIER_RETURN_IF_ERROR(RunReads(view, block, run));
  }
  if (context.also) DOSSIER_RETURN_IF_ERROR(context.also(session));
  if (context.consolidate_from) {
    DOSSIER_RETURN_IF_ERROR(run.ConsolidateFrom(session, answers, *context.consolidate_from));
  }
  return {};
}

UpdateResult Prepared(const UpdateBlock& block, const ApplyContext& context) {
  UpdateResult result{
      .input_updates = block.input, .warnings = block.warnings, .start = context.clock->WallNow()};
  RedactJson(&result.input_updates);
  result.errors = std::ranges::count(block.warnings, "unknown_operation", &Notice::name);
  return result;
}

}  // namespace

Result<UpdateResult> Apply(Store& store, std::string_view branch, const UpdateBlock& block,
                           const ApplyContext& context) {
  const Clock::Steady start = context.clock->Now();
  const UpdateResult prepared = Prepared(block, context);
  UpdateResult result = prepared;
  if (block.Writes() || context.also || context.consolidate_from) {
    AnswerBook answers(context.summarizer);
    const WriteContext writer{.actor = context.actor,
                              .block_id = context.block_id,
                              .node_id = context.node_id,
                              .phase = context.phase};
    DOSSIER_RETURN_IF_ERROR(
        TransactAsking(store, branch, writer, answers,
                       [&](BranchTransaction& session, AnswerBook& book) -> Status {
                         result = prepared;
                         return RunAll(session, book, block, context, result);
                       }));
    std::ranges::copy(answers.warnings(), std::back_inserter(result.warnings));
  } else {  // reads need no transaction
    DOSSIER_ASSIGN_OR_RETURN(const View view, store.Snapshot(branch));
    BlockRun run(result);
    DOSSIER_RETURN_IF_ERROR(RunReads(view, block, run));
  }
  result.end = context.clock->WallNow();
  result.duration = std::chrono::duration_cast<Millis>(context.clock->Now() - start);
  return result;
}

Result<bool> WasApplied(const Store& store, std::string_view block_id) {
  bool found = false;
  DOSSIER_RETURN_IF_ERROR(store.ReadRows([&](const RowAccess& rows) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(
        const auto row,
        ReadInt(rows.connection, "SELECT 1 FROM ops WHERE block_id = ? LIMIT 1", block_id));
    found = row.has_value();
    return {};
  }));
  return found;
}

JsonObject BlockResultJson(const UpdateResult& result) {
  JsonObject json = result.results;
  json["operations_log"] = result.operations_log;
  json["input_updates"] = result.input_updates;
  json["timing"] =
      JsonObject{{"start_timestamp", FormatMicrosTime(ToMicros(result.start))},
                 {"end_timestamp", FormatMicrosTime(ToMicros(result.end))},
                 {"duration_seconds", static_cast<double>(result.duration.count()) / 1000.0}};
  json["warnings"] = NoticesJson(result.warnings);
  if (result.redacted > 0) json["redacted"] = result.redacted;
  return json;
}

}  // namespace dossier::memory
