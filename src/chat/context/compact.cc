#include "chat/context/compact.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>

#include "base/hash.h"
#include "base/text/text.h"
#include "chat/context/frozen.h"
#include "chat/context/plan.h"
#include "chat/document/wire.h"

namespace dossier::chat {
namespace {

constexpr std::int64_t kShortestSummary = 16;  // tokens; a shorter one says nothing

using assembly::HistoryTurn;
using Step = assembly::CompactionPlan::Step;
using Trigger = CompactionDecision::Trigger;

// Plans one compaction.
class CompactionPlanner {
 public:
  CompactionPlanner(const Stored& stored, const CompactionLimits& limits, const CachePrices& prices,
                    const RequestTokens& size, const tokens::Counter& counter, ByHand by_hand)
      : stored_(stored), limits_(limits), prices_(prices), size_(size), by_hand_(by_hand) {
    std::vector<std::string> unused;  // requests give the same warnings
    turns_ = HistoryTurns(stored, counter, &unused);
    policy_ = ViewPolicy(turns_, stored, limits.keep_turns, counter);
    policy_.summary_tokens = limits.summary_tokens;
    present_ = ToCompaction(stored.compaction, turns_, policy_);
  }

  CompactionDecision Run() {
    plan_.tokens_before = plan_.tokens_after = Present();
    plan_.trigger = FindTrigger();
    if (plan_.trigger == Trigger::kNone) return None("the history is below its limits");
    policy_.target = policy_.start = Target();
    // A compaction by hand also shortens a short conversation.
    if (plan_.trigger == Trigger::kByHand) {
      policy_.summary_tokens =
          std::clamp<std::int64_t>(plan_.tokens_before / 4, 1, limits_.summary_tokens);
    }
    // A limit below the usual length of a summary must also be respected.
    if (plan_.trigger == Trigger::kHard) {
      policy_.summary_tokens =
          std::min(limits_.summary_tokens, std::max<std::int64_t>(Target() / 2, kShortestSummary));
    }
    plan_.summary_tokens = policy_.summary_tokens;
    const assembly::CompactionPlan step = assembly::PlanCompaction(turns_, present_, policy_);
    if (step.step == Step::kNone || step.step == Step::kStuck) {
      return None("there is nothing that could be left out");
    }
    plan_.tokens_after = step.tokens_after;
    if (plan_.trigger == Trigger::kSoft && !Worth(step)) return std::move(plan_);
    TakeOutputs(step);
    if (step.step == Step::kSummarize) TakeSummary(step);
    TakeFigures(step);
    return std::move(plan_);
  }

 private:
  CompactionDecision None(std::string why) {
    plan_.trigger = Trigger::kNone;
    plan_.why = std::move(why);
    plan_.tokens_after = plan_.tokens_before;
    return std::move(plan_);
  }

  std::int64_t Present() const {
    std::int64_t tokens = 0;
    for (const assembly::Turn& turn : assembly::CompactedView(turns_, present_, policy_)) {
      tokens += policy_.count(turn.Text());
    }
    return tokens;
  }

  std::int64_t Overflow() const {
    if (size_.window <= 0) return 0;
    return std::max<std::int64_t>(size_.whole + size_.reserved_output - size_.window, 0);
  }

  Trigger FindTrigger() const {
    if (by_hand_ == ByHand::kYes) return Trigger::kByHand;
    if (limits_.mode == CompactionLimits::Mode::kOff) return Trigger::kNone;
    if (Overflow() > 0 || plan_.tokens_before > limits_.hard_tokens) return Trigger::kHard;
    return plan_.tokens_before > limits_.soft_tokens ? Trigger::kSoft : Trigger::kNone;
  }

  // Half of the soft limit, so that the next compaction is some turns away.
  std::int64_t Target() const {
    if (plan_.trigger == Trigger::kByHand) return 0;
    const std::int64_t half = std::min(limits_.soft_tokens, limits_.hard_tokens) / 2;
    return std::max<std::int64_t>(std::min(half, plan_.tokens_before - Overflow()), 0);
  }

  bool Worth(const assembly::CompactionPlan& step) {
    const std::int64_t before = plan_.tokens_before, after = plan_.tokens_after;
    const std::int64_t summary = step.step == Step::kSummarize ? limits_.summary_tokens : 0;
    const double gain = static_cast<double>(before - after) / static_cast<double>(before);
    const CompactionCost cost = CostOf(before, after, summary, prices_, limits_.horizon);
    if (gain >= limits_.min_gain && cost.pays()) return true;
    plan_ = None(fmt::format("{} -> {} tokens would not pay within {} turns", GroupCount(before),
                             GroupCount(after), limits_.horizon));
    return false;
  }

  const HistoryTurn* TurnOf(std::string_view id) const {
    const auto found = std::find_if(turns_.begin(), turns_.end(),
                                    [id](const HistoryTurn& turn) { return turn.id == id; });
    return found == turns_.end() ? nullptr : &*found;
  }

  void TakeOutputs(const assembly::CompactionPlan& step) {
    if (step.shorten.empty()) return;
    CompactionRecord record{.id = NextCompactionId(stored_), .method = "outputs"};
    record.from = IndexOf(*TurnOf(step.shorten.front()));
    record.to = IndexOf(*TurnOf(step.shorten.back()));
    for (const std::string& id : step.shorten) {
      record.tokens_before += TurnOf(id)->tokens;
      record.tokens_after += policy_.count(policy_.shorten(*TurnOf(id)));
    }
    plan_.outputs = std::move(record);
  }

  void TakeSummary(const assembly::CompactionPlan& step) {
    CompactionRecord record{.id = NextCompactionId(stored_), .method = "summary"};
    record.from = IndexOf(*TurnOf(step.first));
    record.to = IndexOf(*TurnOf(step.last));
    for (const HistoryTurn& turn : turns_) {
      const std::size_t index = IndexOf(turn);
      if (index < record.from || index > record.to) continue;
      record.tokens_before += turn.tokens;
      if (turn.turn.role == assembly::Role::kUser) ++plan_.turns;
    }
    for (const HistoryTurn& turn : assembly::Covered(turns_, step)) {
      if (const assembly::HistorySummary* older = SummaryOf(turn)) {
        if (older->first != turn.id) continue;
        plan_.transcript += fmt::format("SUMMARY OF EARLIER TURNS:\n{}\n\n", older->text);
      } else {
        AddToTranscript(turn, step);
      }
    }
    plan_.summary = std::move(record);
  }

  // Returns the older summary that covers a turn: the new one uses it, not the turn. A record whose
  // ends are no turns (a system message was added to the file) covers nothing.
  const assembly::HistorySummary* SummaryOf(const HistoryTurn& turn) const {
    const std::size_t index = IndexOf(turn);
    for (const assembly::HistorySummary& one : present_.summaries) {
      const HistoryTurn *first = TurnOf(one.first), *last = TurnOf(one.last);
      if (first && last && index >= IndexOf(*first) && index <= IndexOf(*last)) return &one;
    }
    return nullptr;
  }

  void AddToTranscript(const HistoryTurn& turn, const assembly::CompactionPlan& step) {
    const bool shortened =
        IsShortened(turn, step) || std::find(present_.shortened.begin(), present_.shortened.end(),
                                             turn.id) != present_.shortened.end();
    std::string role(assembly::RoleName(turn.turn.role));
    std::transform(role.begin(), role.end(), role.begin(),
                   [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    plan_.transcript +=
        fmt::format("{}:\n{}\n\n", role, shortened ? policy_.shorten(turn) : turn.turn.Text());
  }

  void TakeFigures(const assembly::CompactionPlan& step) {
    std::int64_t number = 0;
    for (const HistoryTurn& turn : turns_) {
      if (turn.turn.role == assembly::Role::kUser) ++number;
      const std::size_t index = IndexOf(turn);
      const bool covered =
          plan_.summary && index >= plan_.summary->from && index <= plan_.summary->to;
      if (IsShortened(turn, step)) {
        const std::int64_t after = policy_.count(policy_.shorten(turn));
        Touch(turn, number, after, &plan_.by_rule);
        Touch(turn, number, covered ? 0 : after, &plan_.by_summary);
      } else if (covered) {
        Touch(turn, number, 0, &plan_.by_summary);
      }
    }
  }

  static bool IsShortened(const HistoryTurn& turn, const assembly::CompactionPlan& step) {
    return std::find(step.shorten.begin(), step.shorten.end(), turn.id) != step.shorten.end();
  }

  static void Touch(const HistoryTurn& turn, std::int64_t number, std::int64_t after,
                    CompactionFigures* figures) {
    number = std::max<std::int64_t>(number, 1);
    if (figures->turns_from == 0) figures->turns_from = number;
    figures->turns_to = number;
    figures->tokens_before += turn.tokens;
    figures->tokens_after += after;
  }

  const Stored& stored_;
  const CompactionLimits& limits_;
  const CachePrices& prices_;
  const RequestTokens& size_;
  ByHand by_hand_;
  std::vector<HistoryTurn> turns_;
  assembly::CompactionPolicy policy_;
  assembly::Compaction present_;
  CompactionDecision plan_;
};

std::int64_t PercentSaved(const CompactionFigures& figures) {
  if (figures.tokens_before <= 0) return 0;
  return (figures.tokens_before - figures.tokens_after) * 100 / figures.tokens_before;
}

std::string TurnsOf(const CompactionFigures& figures) {
  return fmt::format("turns {}-{} ({} tokens)", figures.turns_from, figures.turns_to,
                     GroupCount(figures.tokens_before));
}

// The record that replaces the turns of a planned summary; nullopt if they are sent unchanged.
std::optional<CompactionRecord> SummaryRecord(const CompactionDecision& plan,
                                              std::optional<std::string_view> summary,
                                              std::string_view model,
                                              std::vector<std::string>* warnings) {
  if (!plan.summary) return std::nullopt;
  CompactionRecord record = *plan.summary;
  if (summary && !TrimSpace(*summary).empty()) {
    record.text = TrimSpace(*summary);
    record.model = model;
    return record;
  }
  if (plan.trigger != Trigger::kHard) {
    warnings->push_back("the summary of old turns failed; they are sent as they are");
    return std::nullopt;
  }
  record.method = "stub";
  record.text = fmt::format("[{} earlier turns ({} tokens) are left out here]", plan.turns,
                            GroupCount(record.tokens_before));
  warnings->push_back("the summary of old turns failed; a note that counts them stands for them");
  return record;
}

}  // namespace

CompactionCost CostOf(std::int64_t history, std::int64_t after, std::int64_t summary,
                      const CachePrices& prices, std::int64_t horizon) {
  const auto h = static_cast<double>(history), s = static_cast<double>(after);
  const auto k = static_cast<double>(horizon);
  const double call =
      summary > 0 ? prices.read * h + prices.output * static_cast<double>(summary) : 0;
  return {.with = prices.write * s + prices.read * s * (k - 1) + call,
          .without = prices.read * h * k};
}

JsonObject ToJson(const CompactionFigures& figures) {
  return {{"from", figures.turns_from},
          {"to", figures.turns_to},
          {"tokens_before", figures.tokens_before},
          {"tokens_after", figures.tokens_after}};
}

CompactionFigures FiguresOf(const CompactionDecision& plan,
                            std::optional<std::int64_t> summary_tokens) {
  if (!plan.summary || !summary_tokens) return plan.by_rule;
  CompactionFigures figures = plan.by_summary;
  figures.tokens_after += *summary_tokens;
  return figures;
}

std::string DryRunLine(const CompactionDecision& plan) {
  const CompactionFigures figures = FiguresOf(plan, plan.summary_tokens);
  return fmt::format("would compact: {} -> {}{}; saves {}{} %; nothing is changed",
                     TurnsOf(figures), plan.summary ? "at most " : "",
                     GroupCount(figures.tokens_after), plan.summary ? "at least " : "",
                     PercentSaved(figures));
}

std::int64_t NextCompactionId(const Stored& stored) {
  std::int64_t id = 0;
  for (const CompactionRecord& record : stored.compaction) id = std::max(id, record.id);
  return id + 1;
}

std::size_t LastCompactionEntries(const Stored& stored) {
  std::size_t count = 0;
  for (auto record = stored.compaction.rbegin(); record != stored.compaction.rend(); ++record) {
    if (record->id != stored.compaction.back().id) break;
    ++count;
  }
  return count;
}

Result<CompactionDecision> PlanCompaction(const Stored& stored, const CompactionLimits& limits,
                                          const CachePrices& prices, const RequestTokens& size,
                                          const tokens::Counter& counter, ByHand by_hand) {
  if (limits.summary_tokens <= 0 || limits.keep_turns < 0) {
    return MakeError(ErrorCode::kConfig,
                     "compaction: summary_tokens must be above 0 and keep_turns not below it");
  }
  return CompactionPlanner(stored, limits, prices, size, counter, by_hand).Run();
}

driver::LayoutCall SummaryCall(const CompactionDecision& plan) {
  return {.layout = "chat.compaction",
          .sections = {{.name = "transcript", .content = plan.transcript}},
          // An English word is about 1.3 tokens; this leaves some room.
          .values = {{"words", std::to_string(plan.summary_tokens * 2 / 3)}},
          .max_output = plan.summary_tokens};
}

CompactedHistory FinishCompaction(const CompactionDecision& plan,
                                  std::optional<std::string_view> summary, std::string_view id,
                                  std::string_view model, std::string_view now,
                                  const tokens::Counter& counter) {
  CompactedHistory out;
  if (plan.trigger == CompactionDecision::Trigger::kNone) return out;
  std::optional<CompactionRecord> told = SummaryRecord(plan, summary, model, &out.warnings);
  std::optional<std::int64_t> summary_tokens;
  if (plan.outputs) out.records.push_back(*plan.outputs);
  if (told) {
    told->tokens_after = counter.CountText(told->text).tokens;
    summary_tokens = told->tokens_after;
    out.records.push_back(*std::move(told));
  }
  if (out.records.empty()) return out;
  for (CompactionRecord& record : out.records) record.at = now;
  out.figures = FiguresOf(plan, summary_tokens);
  if (out.figures.tokens_after >= out.figures.tokens_before) {
    // A summary may be longer than what it replaces.
    out.records.clear();
    out.line =
        fmt::format("not compacted: {} tokens would become {}",
                    GroupCount(out.figures.tokens_before), GroupCount(out.figures.tokens_after));
    return out;
  }
  out.line = fmt::format(
      "compacted: {} -> {}; saved {} %; original kept; undo: dossier conversations compact {} "
      "--undo",
      TurnsOf(out.figures), GroupCount(out.figures.tokens_after), PercentSaved(out.figures), id);
  return out;
}

CachePrices CachePricesOf(const model::Entry& entry) {
  CachePrices prices;
  const assembly::CacheRules& cache = entry.capability.cache;
  if (cache.mode != assembly::CacheRules::Mode::kNone) {
    prices.read = cache.read;
    if (!cache.write.empty()) prices.write = cache.write.front();
  }
  if (entry.price_input && entry.price_output && *entry.price_input > 0) {
    prices.output =
        static_cast<double>(*entry.price_output) / static_cast<double>(*entry.price_input);
  }
  return prices;
}

namespace {

using assembly::HistoryTurn;

constexpr std::int64_t kFraming = 4;  // tokens of a message besides its text

using Hashes = std::set<std::string, std::less<>>;

// Returns hashes of the blocks that our turns saved in user messages.
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

// The blocks at the start of a message that are in `saved`, and the text after them.
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

// Returns the text of a shortened turn: a line for each block or result, and what the user typed.
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

std::string OutputOf(const StoredMessage& message, const assembly::Turn& turn,
                     const Hashes& saved) {
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
