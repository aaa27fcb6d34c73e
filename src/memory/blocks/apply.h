// A checked block, run against a branch: writes, then reads, in one transaction.
//
//   const ParsedReply reply = ParseReply(text);
//   DOSSIER_ASSIGN_OR_RETURN(const UpdateResult result,
//                            Apply(*store, "root", *reply.block, {.phase = "plan"}));
//   Print(ToJson(BlockResultJson(result)));
//   prompt.results = ResultsText(result.reads);
//
// A write that is refused is an entry of the log with status `error`, the others stand; an error of
// the database undoes the whole block. Thread-safety: as the store's.

#ifndef DOSSIER_MEMORY_BLOCKS_APPLY_H_
#define DOSSIER_MEMORY_BLOCKS_APPLY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "memory/blocks/block.h"
#include "memory/blocks/rounds.h"
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"

namespace dossier::memory {

struct ApplyContext {
  std::string block_id, node_id, phase;
  Actor actor = Actor::kModel;
  Summarizer summarizer;                          // for consolidation
  std::optional<PressureLevel> consolidate_from;  // consolidate afterwards, from this level on
  // Further writes in the same transaction, such as the record of the reply. Called on every try.
  std::function<Status(BranchTransaction& session)> also;
  std::shared_ptr<const Clock> clock = SystemClock();  // for `timing`
};

struct UpdateResult {
  JsonObject results;        // by operation, those that return something
  JsonArray operations_log;  // {type, timestamp, status, seq?, …}, one a write or read
  JsonObject input_updates;  // the block, secrets redacted
  std::vector<Notice> warnings;
  ReadResults reads;
  std::int64_t errors = 0;    // entries of the log with status `error`, and unknown operations
  std::int64_t redacted = 0;  // secrets
  Clock::Wall start, end;
  Millis duration{0};
};

Result<UpdateResult> Apply(Store& store, std::string_view branch, const UpdateBlock& block,
                           const ApplyContext& context);

// Whether the store holds a write of the block with this id. A driver asks this after a crash,
// since it may have been killed after the block was applied and before it noted that.
Result<bool> WasApplied(const Store& store, std::string_view block_id);

// The result: a key for each operation that returns something, then the log and the timing; without
// `schema`.
JsonObject BlockResultJson(const UpdateResult& result);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_APPLY_H_
