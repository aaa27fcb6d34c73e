// Runs a checked block against a branch: first its writes, then its reads, in one transaction.
//
//   const ParsedReply reply = ParseReply(text);
//   DOSSIER_ASSIGN_OR_RETURN(const UpdateResult result,
//                            Apply(*store, "root", *reply.block, {.phase = "plan"}));
//   Print(ToJson(BlockResultJson(result)));
//   prompt.results = ResultsText(result.reads);
//
// A refused write becomes a log entry with status `error` and the other writes are kept; a database
// error undoes the whole block. Thread-safety: that of the store.

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
  Summarizer summarizer;                          // used by consolidation
  std::optional<PressureLevel> consolidate_from;  // consolidate after the block from this level on
  // Further writes in the same transaction, such as recording the reply. Runs again on each retry.
  std::function<Status(BranchTransaction& session)> also;
  std::shared_ptr<const Clock> clock = SystemClock();  // for `timing`
};

struct UpdateResult {
  JsonObject results;        // by operation; only operations that return something
  JsonArray operations_log;  // {type, timestamp, status, seq?, …}, one for each write or read
  JsonObject input_updates;  // the block with secrets redacted
  std::vector<Notice> warnings;
  ReadResults reads;
  std::int64_t errors = 0;    // log entries with status `error`, and unknown operations
  std::int64_t redacted = 0;  // number of secrets redacted
  Clock::Wall start, end;
  Millis duration{0};
};

Result<UpdateResult> Apply(Store& store, std::string_view branch, const UpdateBlock& block,
                           const ApplyContext& context);

// Returns true if the store contains a write of the block with this id. A driver checks this after
// a crash, which may have come after the block was applied but before the driver recorded that.
Result<bool> WasApplied(const Store& store, std::string_view block_id);

// Returns the result as JSON: a key for each operation that returns something, then the log and the
// timing. It has no `schema` member.
JsonObject BlockResultJson(const UpdateResult& result);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_APPLY_H_
