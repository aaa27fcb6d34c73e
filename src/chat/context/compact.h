// Decides when and how requests shorten a long history. The file keeps every message.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CompactionDecision plan,
//                            PlanCompaction(stored, limits, prices, size, *counter));
//   if (plan.trigger != CompactionDecision::Trigger::kNone) {
//     std::optional<std::string> summary;                  // of SummaryCall, by a model
//     const CompactedHistory done = FinishCompaction(plan, summary, model, now, *counter);
//     input.compaction = done.records;                     // the next request and save hold them
//   }
//
// Sizes are tokens; prices are multiples of the plain input price. Thread-safety: pure functions
// over plain data.

#ifndef DOSSIER_CHAT_CONTEXT_COMPACT_H_
#define DOSSIER_CHAT_CONTEXT_COMPACT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "assembly/fit/compaction.h"
#include "chat/document/stored.h"
#include "driver/caller.h"
#include "model/catalog/catalog.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// The config key `compaction`.
struct CompactionLimits {
  enum class Mode { kAuto, kOff } mode = Mode::kAuto;
  std::int64_t soft_tokens = 32'000, hard_tokens = 96'000, keep_turns = 2, summary_tokens = 1'500;
  std::int64_t horizon = 10;  // future turns that the cost estimate assumes
  double min_gain = 0.25;     // as a share of the history
};

// Prices relative to plain input.
struct CachePrices {
  double write = 1, read = 1, output = 1;
};

// Size of the request as it would be sent now, in tokens.
struct RequestTokens {
  std::int64_t whole = 0, reserved_output = 0, window = 0;
};

// The condition of the soft trigger: w·S + r·S·(k−1) + C < r·H·k, with C = r·H + o·A if a summary
// of A tokens has to be written, else 0.
struct CompactionCost {
  double with = 0, without = 0;
  bool pays() const { return with < without; }
};
CompactionCost CostOf(std::int64_t history, std::int64_t after, std::int64_t summary,
                      const CachePrices& prices, std::int64_t horizon);

// The turns that a compaction changes, from 1, and their cost in requests before and after.
struct CompactionFigures {
  std::int64_t turns_from = 0, turns_to = 0;
  std::int64_t tokens_before = 0, tokens_after = 0;
};
JsonObject ToJson(const CompactionFigures& figures);  // {"from", "to", "tokens_before", …}

struct CompactionDecision {
  enum class Trigger { kNone, kSoft, kHard, kByHand } trigger = Trigger::kNone;
  std::string why;  // for kNone; shown by --dry-run
  // Outputs of these messages become one line; unset if there are none.
  std::optional<CompactionRecord> outputs;
  // Messages that a summary has to replace; unset if the line is enough. Its text is still empty.
  std::optional<CompactionRecord> summary;
  std::string transcript;           // the input of the summary
  std::int64_t summary_tokens = 0;  // the most that it may have
  std::int64_t turns = 0;           // number of turns that the summary covers
  CompactionFigures by_rule;        // if only outputs become lines
  CompactionFigures by_summary;     // with the summary, which tokens_after does not include
  std::int64_t tokens_before = 0, tokens_after = 0;  // of the whole history
};

enum class ByHand { kNo, kYes };  // kYes: ignores both triggers

Result<CompactionDecision> PlanCompaction(const Stored& stored, const CompactionLimits& limits,
                                          const CachePrices& prices, const RequestTokens& size,
                                          const tokens::Counter& counter,
                                          ByHand by_hand = ByHand::kNo);

// Makes the call that asks for the summary.
driver::LayoutCall SummaryCall(const CompactionDecision& plan);

// Returns the figures of a plan with a summary of this many tokens, or without one. A dry run
// passes the maximum for the summary, a real one its actual size.
CompactionFigures FiguresOf(const CompactionDecision& plan,
                            std::optional<std::int64_t> summary_tokens);
// Returns the line of a dry run: "would compact: turns 1-14 (38,210 tokens) -> at most 1,500; …".
std::string DryRunLine(const CompactionDecision& plan);

struct CompactedHistory {
  std::vector<CompactionRecord> records;  // to be saved; empty if nothing is done
  CompactionFigures figures;
  std::vector<std::string> warnings;
  std::string line;  // "compacted: turns 1-14 …"; empty if nothing is done
};
// `summary` is unset if the call failed: a hard trigger then leaves a stub with the number of
// turns; a soft one skips the summary with a warning.
CompactedHistory FinishCompaction(const CompactionDecision& plan,
                                  std::optional<std::string_view> summary, std::string_view id,
                                  std::string_view model, std::string_view now,
                                  const tokens::Counter& counter);

// Returns the id for the next compaction of `stored`.
std::int64_t NextCompactionId(const Stored& stored);
// Returns the number of entries that the last compaction added to metadata.dossier.compaction.
std::size_t LastCompactionEntries(const Stored& stored);

// Returns the prices of a model's cache relative to plain input, for the limits of compaction.
//
//   PlanCompaction(stored, limits, CachePricesOf(model.entry), size, counter, ByHand::kNo);
//
// Thread-safety: pure.

CachePrices CachePricesOf(const model::Entry& entry);

// The history of a conversation, as the compactor sees it and as requests hold it.
//
// The id of a message is its index ("7"). Only tool results, and blocks that our turns saved before
// the user's text, can become one line by rule; nothing that a user typed. Thread-safety: pure
// functions over plain data.

// Returns every message after the system message, with its tokens and framing.
std::vector<assembly::HistoryTurn> HistoryTurns(const Stored& stored,
                                                const tokens::Counter& counter,
                                                std::vector<std::string>* warnings);

// Rules for counting and shortening turns; the caller sets the limits. `keep_turns` newest stay.
assembly::CompactionPolicy ViewPolicy(std::span<const assembly::HistoryTurn> turns,
                                      const Stored& stored, std::int64_t keep_turns,
                                      const tokens::Counter& counter);

// Converts the records of the file for these turns. A later record replaces an earlier one that it
// covers.
assembly::Compaction ToCompaction(std::span<const CompactionRecord> records,
                                  std::span<const assembly::HistoryTurn> turns,
                                  const assembly::CompactionPolicy& policy);

std::size_t IndexOf(const assembly::HistoryTurn& turn);  // of its message

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_COMPACT_H_
