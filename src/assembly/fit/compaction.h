// Makes a shorter view of a long history; the history itself never changes.
//
//   CompactionPlan plan = PlanCompaction(turns, compaction, policy);
//   if (plan.step == CompactionPlan::Step::kSummarize) {
//     compaction = *ApplyCompaction(turns, compaction, plan, told, policy);   // told by a model
//   } else if (plan.step == CompactionPlan::Step::kRules) {
//     compaction = *ApplyCompaction(turns, compaction, plan, "", policy);
//   }
//   section.turns = CompactedView(turns, compaction, policy);   // what a request holds instead
//
// Cheap steps come first: by rule, old outputs become one line each; then the oldest turns become a
// summary, whose text the caller provides. Both are data (ToJson), stored beside the history;
// without it the view is the history, byte for byte. Thread-safety: pure functions over plain data.

#ifndef DOSSIER_ASSEMBLY_FIT_COMPACTION_H_
#define DOSSIER_ASSEMBLY_FIT_COMPACTION_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::assembly {

// A turn of the history. Ids are unique and do not change while the history grows.
struct HistoryTurn {
  std::string id;
  Turn turn;
  std::int64_t tokens = 0;  // including framing
  std::string output_of;    // source, if the turn only reports an output; such a turn can shrink
};

struct CompactionPolicy {
  std::int64_t start = 0;                     // compact above this; tokens of the view
  std::int64_t target = 0;                    // target size in tokens
  std::size_t keep_first = 0, keep_last = 2;  // turns that stay unchanged, byte for byte
  std::size_t fresh_exchanges = 3;            // outputs of this many newest exchanges stay whole
  std::int64_t summary_tokens = 1500;         // most tokens of a summary
  std::function<std::int64_t(std::string_view)> count;  // tokens of a framed text; required
  // Makes the line that replaces an output; OutputLine if unset.
  std::function<std::string(const HistoryTurn&)> shorten;
};

// A summary `text` that replaces the turns first to last, both included.
struct HistorySummary {
  std::string first, last;  // ids
  std::string text;
  std::int64_t tokens_before = 0, tokens_after = 0;
};

struct Compaction {
  std::vector<std::string> shortened;     // ids of turns whose output is now one line
  std::vector<HistorySummary> summaries;  // in history order, not overlapping

  bool empty() const { return shortened.empty() && summaries.empty(); }
};

struct CompactionPlan {
  // The range first to last may contain older summaries, which the new one then replaces (they are
  // merged once they cost more than four times summary_tokens). kNone: small enough. kRules:
  // `shorten` is enough. kSummarize: a summary of first to last is needed too. kStuck: nothing more
  // may go, and the view is still above the target.
  enum class Step { kNone, kRules, kSummarize, kStuck } step = Step::kNone;
  std::vector<std::string> shorten;  // ids
  std::string first, last;           // for kSummarize
  std::int64_t tokens_before = 0;    // of the current view
  std::int64_t tokens_by_rules = 0;  // with only `shorten` applied
  std::int64_t tokens_after = 0;     // as planned, with a summary of the maximum size
};

// "[output of NAME, 12,345 bytes, omitted; sha256 ab12cd34]"
std::string OutputLine(const HistoryTurn& turn);

// Plans the next step. Never splits a tool call from its results; a summary ends before a user
// message, so that roles stay valid. `turns` with the same ids and policy give the same plan.
CompactionPlan PlanCompaction(std::span<const HistoryTurn> turns, const Compaction& present,
                              const CompactionPolicy& policy);

// Returns the turns that the summary of `plan` has to cover, unchanged.
std::vector<HistoryTurn> Covered(std::span<const HistoryTurn> turns, const CompactionPlan& plan);

// Returns the turns that a summary replaces.
std::vector<HistoryTurn> Covered(std::span<const HistoryTurn> turns, const HistorySummary& summary);

// Returns `present` with the changes of `plan`. `summary` is used for kSummarize only. Errors:
// kInvalidArgument if the plan names turns that do not exist, or the summary is empty.
Result<Compaction> ApplyCompaction(std::span<const HistoryTurn> turns, const Compaction& present,
                                   const CompactionPlan& plan, std::string_view summary,
                                   const CompactionPolicy& policy);

// Returns the history as a request holds it. A summary is put at the start of the user message
// after it, or is a message of its own; its block has section "summary", which no budget cuts.
std::vector<Turn> CompactedView(std::span<const HistoryTurn> turns, const Compaction& compaction,
                                const CompactionPolicy& policy);

Json ToJson(const Compaction& compaction);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_COMPACTION_H_
