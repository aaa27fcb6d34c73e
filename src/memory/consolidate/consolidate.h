// Makes room in memory: moves unimportant core facts and old events to archival memory. No text is
// lost: summarised records stay searchable.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ConsolidateOutcome outcome,
//       Consolidate(*store, "root", {.level = PressureLevel::kHigh}, summarizer));
//   DOSSIER_RETURN_IF_ERROR(ConsolidateIfNeeded(*store, "root", PressureLevel::kHigh, summarizer));
//
// A model is never called inside a transaction (see AnswerBook). Thread-safety: that of the store
// and of the summarizer.

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

// Supplies a model's answers to work inside a transaction, where no model may be called. The work
// asks the book; if an answer is missing, the transaction is undone, the model is called outside
// it, and the work runs again with the answer available.
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

  // Returns nullopt if there is no model, if it failed, or if its answer is not available yet.
  std::optional<std::string> Summary(const SummaryRequest& request);
  std::optional<std::vector<int>> Ratings(const std::vector<RatedItem>& items);

  // Returns true if some request has no answer yet.
  bool lacks() const { return !missing_summaries_.empty() || !missing_ratings_.empty(); }
  // Calls the model for the missing answers; only outside transactions. `store` keeps compressions.
  void Fetch(Store& store);
  void Close() { closed_ = true; }  // later requests without an answer get none
  // summary_failed, summary_cut, rating_failed
  const std::vector<Notice>& warnings() const { return warnings_; }

 private:
  Result<std::string> AskSummary(Store& store, SummaryRequest request);
  void FetchSummary(Store& store, const SummaryRequest& request);
  void FetchRatings(const std::vector<RatedItem>& items);

  const Summarizer& summarizer_;
  bool closed_ = false;
  std::map<SummaryRequest, std::optional<std::string>> summaries_;
  std::map<std::vector<RatedItem>, std::optional<std::vector<int>>> ratings_;
  std::vector<SummaryRequest> missing_summaries_;
  std::vector<std::vector<RatedItem>> missing_ratings_;
  std::vector<Notice> warnings_;
};

// Runs `work` in a transaction until no answer is missing. It retries a few times, each time from
// the beginning; the last time it runs without the answers that are still missing.
using AskingWork = std::function<Status(BranchTransaction& session, AnswerBook& answers)>;
Status TransactAsking(Store& store, std::string_view branch, const WriteContext& context,
                      AnswerBook& answers, const AskingWork& work);

// Compresses a text that is too long.
//
//   CutWithDots("abcdefgh", 6)                        // "abc..."
//   DOSSIER_ASSIGN_OR_RETURN(const Compressed plan,
//       Compress(*store, summarizer, {.text = text, .max_chars = 400, .hint = "plan"}));
//
// Thread-safety: that of the store and of the summarizer.

// Returns at most `max_chars` code points. The last three are `...` if text is missing; below 4 it
// returns a plain prefix.
std::string CutWithDots(std::string_view text, std::int64_t max_chars);

struct CompressRequest {
  std::string text;
  std::int64_t max_chars = 0;
  std::string hint;
  std::string context;  // summaries of the idea and the plan, 400 code points each
};
struct Compressed {
  std::string text;  // at most max_chars code points
  int calls = 0;     // model calls; 0 if the text fitted, was stored, or there is no model
  std::vector<Notice> warnings;  // summary_failed, summary_cut
};

// A text that fits is unchanged. Otherwise the model shortens it at most max_compression_iterations
// times, until it fits or stops shrinking; then it is cut. The model's result is stored under a
// hash of everything it depends on. A text larger than the model's window is sent in pieces.
// Errors: those of the store.
Result<Compressed> Compress(Store& store, const Summarizer& summarizer,
                            const CompressRequest& request);

// Returns the level that decides about consolidation. A full core counts as pressure by itself,
// because a store with facts but no events would otherwise never be above low.
PressureLevel TidyLevel(const Pressure& pressure, const StoreLimits& limits);

struct Consolidation {
  std::vector<std::string> actions_taken;  // "evicted_core_items:2"
  std::int64_t freed_chars = 0;            // code points removed from core and the window
  std::int64_t core_items_evicted = 0;
  std::int64_t recall_events_consolidated = 0;
  PressureLevel new_level = PressureLevel::kLow;
};
JsonObject ConsolidationJson(const Consolidation& done);

// The amount that left the window of recent events.
struct RecallConsolidation {
  std::int64_t events = 0;
  std::int64_t chars = 0;  // code points
};
// Consolidates this branch's own events and the inherited ones, each if they exceed the threshold.
Result<RecallConsolidation> ConsolidateRecall(BranchTransaction& session, AnswerBook& answers);

// Does what `level` requires, inside the transaction of `session`.
Result<Consolidation> ConsolidateIn(BranchTransaction& session, AnswerBook& answers,
                                    PressureLevel level);

struct ConsolidateRequest {
  PressureLevel level = PressureLevel::kHigh;  // decides what is done
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
