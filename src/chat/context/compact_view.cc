#include "chat/context/compact_view.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>

#include "base/hash.h"
#include "chat/context/frozen.h"
#include "chat/context/plan.h"
#include "chat/document/wire.h"

namespace dossier::chat {
namespace {

using assembly::HistoryTurn;

constexpr std::int64_t kFraming = 4;  // tokens of a message beside its text

using Hashes = std::set<std::string, std::less<>>;

// Hashes of the blocks that turns of ours saved in messages of the user.
Hashes SavedBlocks(const Stored& stored) {
  Hashes saved;
  for (const TurnRecord& turn : stored.turns) {
    if (!turn.dynamic.is_array()) continue;
    for (const Json& record : turn.dynamic.get_array()) {
      if (!FindBool(record, "saved").value_or(false)) continue;
      saved.emplace(FindString(record, "sha256").value_or(""));
    }
  }
  return saved;
}

// The blocks at the head of a message that are in `saved`, and the text behind them.
struct Headed {
  std::vector<NamedBlock> blocks;
  std::string_view rest;
};

Headed SplitBlocks(std::string_view text, const Hashes& saved) {
  Headed out{.blocks = {}, .rest = text};
  if (saved.empty() || !text.starts_with("--- Context")) return out;
  for (NamedBlock& block : BlocksOf(text)) {
    if (!out.rest.starts_with(block.text) || !saved.contains(Sha256Hex(block.text))) break;
    out.rest.remove_prefix(block.text.size());
    if (out.rest.starts_with("\n\n")) out.rest.remove_prefix(2);
    out.blocks.push_back(std::move(block));
  }
  return out;
}

std::string NamesOf(const std::vector<NamedBlock>& blocks) {
  std::string out;
  for (const NamedBlock& block : blocks) out += (out.empty() ? "" : ", ") + block.name;
  return out;
}

// What a shortened turn says: a line for each block or result, and what the user typed.
std::string ShortText(const HistoryTurn& turn, const Hashes& saved) {
  if (turn.turn.role != assembly::Role::kUser) return assembly::OutputLine(turn);
  const std::string text = turn.turn.Text();
  const Headed headed = SplitBlocks(text, saved);
  std::string out;
  for (const NamedBlock& block : headed.blocks) {
    HistoryTurn one{.output_of = block.name};
    one.turn.blocks.push_back({.text = block.text});
    out += assembly::OutputLine(one) + "\n\n";
  }
  return out + std::string(headed.rest);
}

std::string OutputOf(const Message& message, const assembly::Turn& turn, const Hashes& saved) {
  if (turn.role == assembly::Role::kTool) {
    const std::string& name = turn.blocks.front().tool_name;
    return name.empty() ? "tool" : name;
  }
  const Json* content = Find(message.json, "content");
  if (turn.role != assembly::Role::kUser || !content || !content->is_string()) return {};
  return NamesOf(SplitBlocks(turn.Text(), saved).blocks);
}

bool Covers(const CompactionRecord& outer, const CompactionRecord& inner) {
  return outer.from <= inner.to && inner.from <= outer.to;
}

}  // namespace

std::size_t IndexOf(const HistoryTurn& turn) {
  std::size_t index = 0;
  std::from_chars(turn.id.data(), turn.id.data() + turn.id.size(), index);
  return index;
}

std::vector<HistoryTurn> HistoryTurns(const Stored& stored, const tokens::Counter& counter,
                                      std::vector<std::string>* warnings) {
  const Hashes saved = SavedBlocks(stored);
  std::vector<HistoryTurn> turns;
  for (std::size_t i = stored.HistoryBegin(); i < stored.messages.size(); ++i) {
    HistoryTurn turn{.id = std::to_string(i), .turn = ToTurn(stored.messages[i], warnings)};
    turn.tokens = counter.CountText(turn.turn.Text()).tokens + kFraming;
    turn.output_of = OutputOf(stored.messages[i], turn.turn, saved);
    turns.push_back(std::move(turn));
  }
  return turns;
}

assembly::CompactionPolicy ViewPolicy(std::span<const HistoryTurn> turns, const Stored& stored,
                                      std::int64_t keep_turns, const tokens::Counter& counter) {
  assembly::CompactionPolicy policy;
  policy.fresh_exchanges = static_cast<std::size_t>(std::max<std::int64_t>(keep_turns, 0));
  policy.keep_last = turns.size();
  std::int64_t seen = 0;
  for (std::size_t i = turns.size(); i > 0 && seen < keep_turns; --i) {
    if (turns[i - 1].turn.role != assembly::Role::kUser) continue;
    ++seen;
    policy.keep_last = turns.size() - (i - 1);
  }
  if (keep_turns <= 0) policy.keep_last = 0;
  policy.count = [&counter](std::string_view text) {
    return counter.CountText(text).tokens + kFraming;
  };
  const auto saved = std::make_shared<const Hashes>(SavedBlocks(stored));
  policy.shorten = [saved](const HistoryTurn& turn) { return ShortText(turn, *saved); };
  return policy;
}

assembly::Compaction ToCompaction(std::span<const CompactionRecord> records,
                                  std::span<const HistoryTurn> turns,
                                  const assembly::CompactionPolicy& policy) {
  assembly::Compaction out;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const CompactionRecord& record = records[i];
    if (record.method == "outputs") {
      for (const HistoryTurn& turn : turns) {
        const std::size_t index = IndexOf(turn);
        if (turn.output_of.empty() || index < record.from || index > record.to) continue;
        if (policy.count(policy.shorten(turn)) < turn.tokens) out.shortened.push_back(turn.id);
      }
      continue;
    }
    const bool replaced = std::any_of(records.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                      records.end(), [&](const CompactionRecord& later) {
                                        return later.method != "outputs" && Covers(later, record);
                                      });
    if (replaced) continue;
    out.summaries.push_back({.first = std::to_string(record.from),
                             .last = std::to_string(record.to),
                             .text = record.text,
                             .tokens_before = record.tokens_before,
                             .tokens_after = record.tokens_after});
  }
  std::stable_sort(out.summaries.begin(), out.summaries.end(),
                   [](const assembly::HistorySummary& a, const assembly::HistorySummary& b) {
                     return std::stoull(a.first) < std::stoull(b.first);
                   });
  return out;
}

std::vector<assembly::Turn> HistoryView(const Stored& stored,
                                        std::span<const CompactionRecord> records,
                                        std::int64_t keep_turns, const tokens::Counter& counter,
                                        std::vector<std::string>* warnings) {
  if (records.empty()) {
    return ToTurns(std::span(stored.messages).subspan(stored.HistoryBegin()), warnings);
  }
  const std::vector<HistoryTurn> turns = HistoryTurns(stored, counter, warnings);
  const assembly::CompactionPolicy policy = ViewPolicy(turns, stored, keep_turns, counter);
  return assembly::CompactedView(turns, ToCompaction(records, turns, policy), policy);
}

}  // namespace dossier::chat
