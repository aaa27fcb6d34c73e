// Makes room in memory: moves unimportant core facts and old events to archival memory. No text is
// lost: what was summarised stays searchable.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ConsolidateOutcome outcome,
//       Consolidate(*store, "root", {.level = PressureLevel::kHigh}, summarizer));
//   DOSSIER_RETURN_IF_ERROR(ConsolidateIfNeeded(*store, "root", PressureLevel::kHigh, summarizer));
//
// A model is never called inside a transaction (answer_book.h). Thread-safety: as the store's and
// the summarizer's.

#ifndef DOSSIER_MEMORY_CONSOLIDATE_CONSOLIDATE_H_
#define DOSSIER_MEMORY_CONSOLIDATE_CONSOLIDATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/consolidate/answer_book.h"
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/branch_transaction.h"
#include "memory/store/store.h"

namespace dossier::memory {

// A text made short enough.
//
//   CutWithDots("abcdefgh", 6)                        // "abc..."
//   DOSSIER_ASSIGN_OR_RETURN(const Compressed plan,
//       Compress(*store, summarizer, {.text = text, .max_chars = 400, .hint = "plan"}));
//
// Thread-safety: as the store's and the summarizer's.

// At most `max_chars` code points, the last three `...` where something is missing; below 4 a plain
// prefix.
std::string CutWithDots(std::string_view text, std::int64_t max_chars);

struct CompressRequest {
  std::string text;
  std::int64_t max_chars = 0;
  std::string hint;
  std::string context;  // summaries of idea and plan, 400 code points each
};
struct Compressed {
  std::string text;              // at most max_chars
  int calls = 0;                 // of the model; 0 where it fitted, was kept, or there is none
  std::vector<Notice> warnings;  // summary_failed, summary_cut
};

// A text that fits is unchanged. Else the model shortens it, at most max_compression_iterations
// times, until it fits or stops shrinking, then it is cut; what the model made is kept in the store
// by a hash of all that it depends on. A text beyond the model's window goes to it in pieces.
// Errors: those of the store.
Result<Compressed> Compress(Store& store, const Summarizer& summarizer,
                            const CompressRequest& request);

// The level that consolidation goes by. A full core is pressure by itself: a store of facts alone,
// without one event, would never be above low.
PressureLevel TidyLevel(const Pressure& pressure, const StoreLimits& limits);

struct Consolidation {
  std::vector<std::string> actions_taken;  // "evicted_core_items:2"
  std::int64_t freed_chars = 0;            // code points that left core and the window
  std::int64_t core_items_evicted = 0;
  std::int64_t recall_events_consolidated = 0;
  PressureLevel new_level = PressureLevel::kLow;
};
JsonObject ConsolidationJson(const Consolidation& done);

// How much left the window of recent events.
struct RecallConsolidation {
  std::int64_t events = 0;
  std::int64_t chars = 0;  // code points
};
// This branch's own events and inherited ones, each if they are over the threshold.
Result<RecallConsolidation> ConsolidateRecall(BranchTransaction& session, AnswerBook& answers);

// Does what `level` asks for, inside the transaction of `session`.
Result<Consolidation> ConsolidateIn(BranchTransaction& session, AnswerBook& answers,
                                    PressureLevel level);

struct ConsolidateRequest {
  PressureLevel level = PressureLevel::kHigh;  // what is done is what this level asks for
  WriteContext context{.actor = Actor::kSystem};
};
struct ConsolidateOutcome {
  Consolidation done;
  std::vector<Notice> warnings;
};
Result<ConsolidateOutcome> Consolidate(Store& store, std::string_view branch,
                                       const ConsolidateRequest& request,
                                       const Summarizer& summarizer);
// Consolidates at the branch's current pressure level if that is at least `trigger`; nullopt if it
// is lower.
Result<std::optional<ConsolidateOutcome>> ConsolidateIfNeeded(Store& store, std::string_view branch,
                                                              PressureLevel trigger,
                                                              const Summarizer& summarizer);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_CONSOLIDATE_H_
