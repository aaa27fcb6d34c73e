// When a long history is shortened in requests, and how. The file keeps every message.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CompactionDecision plan,
//                            PlanCompaction(stored, limits, prices, size, *counter));
//   if (plan.trigger != CompactionDecision::Trigger::kNone) {
//     std::optional<std::string> summary;                  // of SummaryCall, by a model
//     const CompactedHistory done = FinishCompaction(plan, summary, model, now, *counter);
//     input.compaction = done.records;                     // the next request and save hold them
//   }
//
// Sizes are tokens; prices are shares of the price of plain input. Thread-safety: pure functions
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
  std::int64_t horizon = 10;  // turns to come that are reckoned with
  double min_gain = 0.25;     // share of the history
};

// Prices over that of plain input.
struct CachePrices {
  double write = 1, read = 1, output = 1;
};

// Of the request as it would be sent now, in tokens.
struct RequestTokens {
  std::int64_t whole = 0, reserved_output = 0, window = 0;
};

// The soft trigger's sum: w·S + r·S·(k−1) + C < r·H·k, C = r·H + o·A if a summary of A tokens has
// to be written, else 0.
struct CompactionCost {
  double with = 0, without = 0;
  bool pays() const { return with < without; }
};
CompactionCost CostOf(std::int64_t history, std::int64_t after, std::int64_t summary,
                      const CachePrices& prices, std::int64_t horizon);

// The turns that a compaction touches, from 1, and what they cost in requests before and after.
struct CompactionFigures {
  std::int64_t turns_from = 0, turns_to = 0;
  std::int64_t tokens_before = 0, tokens_after = 0;
};
JsonObject ToJson(const CompactionFigures& figures);  // {"from", "to", "tokens_before", …}

struct CompactionDecision {
  enum class Trigger { kNone, kSoft, kHard, kByHand } trigger = Trigger::kNone;
  std::string why;  // of kNone, for --dry-run
  // Outputs of these messages become a line; unset if none do.
  std::optional<CompactionRecord> outputs;
  // Messages that a summary has to stand for; unset if the line is enough. Its text is missing.
  std::optional<CompactionRecord> summary;
  std::string transcript;           // what the summary has to tell
  std::int64_t summary_tokens = 0;  // what it may cost
  std::int64_t turns = 0;           // that the summary covers
  CompactionFigures by_rule;        // if outputs become lines and nothing else is done
  CompactionFigures by_summary;     // with the summary, whose own tokens are not in tokens_after
  std::int64_t tokens_before = 0, tokens_after = 0;  // of the whole history
};

enum class ByHand { kNo, kYes };  // yes: neither trigger is asked

Result<CompactionDecision> PlanCompaction(const Stored& stored, const CompactionLimits& limits,
                                          const CachePrices& prices, const RequestTokens& size,
                                          const tokens::Counter& counter,
                                          ByHand by_hand = ByHand::kNo);

// The call that asks for the summary.
driver::LayoutCall SummaryCall(const CompactionDecision& plan);

// What a plan comes to: with a summary of so many tokens, or without one. A dry run asks with the
// most that the summary may cost, a real one with what it does cost.
CompactionFigures FiguresOf(const CompactionDecision& plan,
                            std::optional<std::int64_t> summary_tokens);
// "would compact: turns 1-14 (38,210 tokens) -> at most 1,500; …": the line of a dry run.
std::string DryRunLine(const CompactionDecision& plan);

struct CompactedHistory {
  std::vector<CompactionRecord> records;  // to be saved; empty if nothing is done
  CompactionFigures figures;
  std::vector<std::string> warnings;
  std::string line;  // "compacted: turns 1-14 …"; empty if nothing is done
};
// `summary` is unset where the model's call failed: a hard trigger then leaves a stub that counts
// the turns, a soft one does without and warns.
CompactedHistory FinishCompaction(const CompactionDecision& plan,
                                  std::optional<std::string_view> summary, std::string_view id,
                                  std::string_view model, std::string_view now,
                                  const tokens::Counter& counter);

// The id that the next compaction of `stored` gets.
std::int64_t NextCompactionId(const Stored& stored);
// How many entries at the end of metadata.dossier.compaction the last compaction made.
std::size_t LastCompactionEntries(const Stored& stored);

// Prices of a model's cache over those of plain input, for the limits of compaction.
//
//   PlanCompaction(stored, limits, CachePricesOf(model.entry), size, counter, ByHand::kNo);
//
// Thread-safety: pure.

CachePrices CachePricesOf(const model::Entry& entry);

// The history of a conversation as the compactor sees it, and as requests hold it.
//
// Messages keep their index as id ("7"). What can become a line by rule: results of tools, and the
// blocks that a turn of ours saved in front of the user's text; nothing that a user typed.
// Thread-safety: pure functions over plain data.

// Every message behind the system message, with its tokens and framing.
std::vector<assembly::HistoryTurn> HistoryTurns(const Stored& stored,
                                                const tokens::Counter& counter,
                                                std::vector<std::string>* warnings);

// How turns are counted and shortened; limits are the caller's. `keep_turns` newest exchanges stay.
assembly::CompactionPolicy ViewPolicy(std::span<const assembly::HistoryTurn> turns,
                                      const Stored& stored, std::int64_t keep_turns,
                                      const tokens::Counter& counter);

// What the records of the file say about these turns. A later record stands for an earlier one that
// it covers.
assembly::Compaction ToCompaction(std::span<const CompactionRecord> records,
                                  std::span<const assembly::HistoryTurn> turns,
                                  const assembly::CompactionPolicy& policy);

std::size_t IndexOf(const assembly::HistoryTurn& turn);  // of its message

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_COMPACT_H_
