// A shorter view of a long history; the history itself never changes.
//
//   CompactionPlan plan = PlanCompaction(turns, compaction, policy);
//   if (plan.step == CompactionPlan::Step::kSummarize) {
//     compaction = *ApplyCompaction(turns, compaction, plan, told, policy);   // told by a model
//   } else if (plan.step == CompactionPlan::Step::kRules) {
//     compaction = *ApplyCompaction(turns, compaction, plan, "", policy);
//   }
//   section.turns = CompactedView(turns, compaction, policy);   // what a request holds instead
//
// Two ways, cheap before dear: by rule, the outputs of old turns become a line each; then the
// oldest turns become a summary, whose text the caller brings. Both are data (ToJson), to be stored
// beside the history: without them the view is the history again, byte for byte. Thread-safety:
// pure functions over plain data.

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

// A turn of the history. Ids are unique and stay what they are while the history grows.
struct HistoryTurn {
  std::string id;
  Turn turn;
  std::int64_t tokens = 0;  // with framing
  std::string output_of;    // of a turn that only reports an output: whose; such a turn can shrink
};

struct CompactionPolicy {
  std::int64_t start = 0;                     // tokens of the view above which something is done
  std::int64_t target = 0;                    // tokens to go down to
  std::size_t keep_first = 0, keep_last = 2;  // turns that stay byte for byte
  std::size_t fresh_exchanges = 3;            // outputs of the newest so many exchanges stay whole
  std::int64_t summary_tokens = 1500;         // what a summary may cost
  std::function<std::int64_t(std::string_view)> count;  // tokens of a text, with framing; required
  // What stands for an output; OutputLine if unset.
  std::function<std::string(const HistoryTurn&)> shorten;
};

// Turns first to last, both included, read as `text`.
struct HistorySummary {
  std::string first, last;  // ids
  std::string text;
  std::int64_t tokens_before = 0, tokens_after = 0;
};

struct Compaction {
  std::vector<std::string> shortened;     // ids of turns whose output is a line now
  std::vector<HistorySummary> summaries;  // in the order of the history, not overlapping

  bool empty() const { return shortened.empty() && summaries.empty(); }
};

struct CompactionPlan {
  // first to last may hold older summaries, which the new one then stands for (merged once they
  // cost more than four times summary_tokens).
  // kNone: small enough. kRules: `shorten` is enough. kSummarize: a summary of first to last is
  // needed too. kStuck: nothing more may go, and it is still above the target.
  enum class Step { kNone, kRules, kSummarize, kStuck } step = Step::kNone;
  std::vector<std::string> shorten;  // ids
  std::string first, last;           // of kSummarize
  std::int64_t tokens_before = 0;    // of the view as it is
  std::int64_t tokens_by_rules = 0;  // with `shorten` alone
  std::int64_t tokens_after = 0;     // as planned, a summary taken at its most
};

// "[output of NAME, 12,345 bytes, omitted; sha256 ab12cd34]"
std::string OutputLine(const HistoryTurn& turn);

// Never splits a tool call from its results; a summary ends before a message of the user, so that
// roles stay valid. `turns` with the same ids and policy give the same plan.
CompactionPlan PlanCompaction(std::span<const HistoryTurn> turns, const Compaction& present,
                              const CompactionPolicy& policy);

// The turns that the summary of `plan` has to tell, as they are.
std::vector<HistoryTurn> Covered(std::span<const HistoryTurn> turns, const CompactionPlan& plan);

// The turns behind a summary.
std::vector<HistoryTurn> Covered(std::span<const HistoryTurn> turns, const HistorySummary& summary);

// `present` with what `plan` does. `summary` is used for kSummarize only.
// Errors: kInvalidArgument if the plan names turns that are not there, or the summary is empty.
Result<Compaction> ApplyCompaction(std::span<const HistoryTurn> turns, const Compaction& present,
                                   const CompactionPlan& plan, std::string_view summary,
                                   const CompactionPolicy& policy);

// The history as a request holds it. A summary opens the message of the user behind it, or is one
// of its own; its block has section "summary", which no budget cuts.
std::vector<Turn> CompactedView(std::span<const HistoryTurn> turns, const Compaction& compaction,
                                const CompactionPolicy& policy);

Json ToJson(const Compaction& compaction);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_COMPACTION_H_
