// A checked block, run against a branch: writes, then reads, in one transaction.
//
//   const ParsedReply reply = ParseReply(text);
//   DOSSIER_ASSIGN_OR_RETURN(const BlockResult result,
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
#include "memory/blocks/results_text.h"
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"

namespace dossier::memory {

struct ApplyContext {
  std::string block_id, node_id, phase;
  Actor actor = Actor::kModel;
  Summarizer summarizer;                          // for consolidation
  std::optional<PressureLevel> consolidate_from;  // afterwards, at this level and above
  // Written in the same transaction: the record of the reply. Runs with each try.
  std::function<Status(Session& session)> also;
  std::shared_ptr<const Clock> clock = SystemClock();  // for `timing`
};

struct BlockResult {
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

Result<BlockResult> Apply(Store& store, std::string_view branch, const Block& block,
                          const ApplyContext& context);

// Whether a write of a block with this id is in the store: what a driver asks after a kill between
// the block and its own record of it.
Result<bool> WasApplied(const Store& store, std::string_view block_id);

// The result: a key for each operation that returns something, then the log and the timing; without
// `schema`.
JsonObject BlockResultJson(const BlockResult& result);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_APPLY_H_
