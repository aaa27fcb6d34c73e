// Makes room in memory: moves unimportant core facts and old events to archival memory. No text is
// lost: what was summarised stays searchable.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ConsolidateOutcome outcome,
//       Consolidate(*store, "root", {.level = PressureLevel::kHigh}, summarizer));
//   DOSSIER_RETURN_IF_ERROR(ConsolidateIfNeeded(*store, "root", PressureLevel::kHigh, summarizer));
//
// A model is never called inside a transaction (AnswerBook). Thread-safety: as the store's and
// the summarizer's.

#ifndef DOSSIER_MEMORY_CONSOLIDATE_CONSOLIDATE_H_
#define DOSSIER_MEMORY_CONSOLIDATE_CONSOLIDATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/branch_transaction.h"
#include "memory/store/store.h"

namespace dossier::memory {

// A model's answers for work inside a transaction, in which no model may be called. The work asks
// the book; if an answer is missing, the transaction is undone, the model is asked outside of it,
// and the work runs again with the answer at hand.
//
//   AnswerBook answers(summarizer);
//   DOSSIER_RETURN_IF_ERROR(TransactAsking(store, "root", context, answers,
//       [&](BranchTransaction& session, AnswerBook& book) -> Status {
//         const auto summary = book.Summary({.text = text, .max_chars = 400});
//         …
//       }));
//
// Thread-safety: one owner; the work runs while TransactAsking waits.

class AnswerBook {
 public:
  explicit AnswerBook(const Summarizer& summarizer) : summarizer_(summarizer) {}

  // nullopt if there is no model, if it failed, or if its answer is not there yet.
  std::optional<std::string> Summary(const SummaryRequest& request);
  std::optional<std::vector<int>> Ratings(const std::vector<RatedItem>& items);

  // Whether something was asked that has no answer yet.
  bool lacks() const { return !missing_summaries_.empty() || !missing_ratings_.empty(); }
  void Fetch();                     // asks the model for it; call it outside of transactions
  void Close() { closed_ = true; }  // what is asked from now on and has no answer gets none
  const std::vector<Notice>& warnings() const {
    return warnings_;
  }  // summary_failed, rating_failed

 private:
  void FetchSummary(const SummaryRequest& request);
  void FetchRatings(const std::vector<RatedItem>& items);

  const Summarizer& summarizer_;
  bool closed_ = false;
  std::map<SummaryRequest, std::optional<std::string>> summaries_;
  std::map<std::vector<RatedItem>, std::optional<std::vector<int>>> ratings_;
  std::vector<SummaryRequest> missing_summaries_;
  std::vector<std::vector<RatedItem>> missing_ratings_;
  std::vector<Notice> warnings_;
};

// Runs `work` in a transaction until it lacks no answer, a few times, each time from the beginning;
// the last time without a model for what is still missing.
using AskingWork = std::function<Status(BranchTransaction& session, AnswerBook& answers)>;
Status TransactAsking(Store& store, std::string_view branch, const WriteContext& context,
                      AnswerBook& answers, const AskingWork& work);

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
