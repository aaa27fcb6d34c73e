#include "assembly/fit/compaction.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/text/text.h"

namespace dossier::assembly {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
constexpr std::int64_t kMergeAbove = 4;  // multiple of the tokens of a summary

std::size_t IndexOf(std::span<const HistoryTurn> turns, std::string_view id) {
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].id == id) return i;
  }
  return kNowhere;
}

bool HasResult(const Turn& turn) {
  return turn.role == Role::kTool ||
         std::any_of(turn.blocks.begin(), turn.blocks.end(),
                     [](const Block& block) { return block.type == Block::Type::kToolResult; });
}

// A summary may end before a user message.
bool BeginsExchange(const Turn& turn) { return turn.role == Role::kUser && !HasResult(turn); }

// The treatment of one turn.
struct Fate {
  enum class Kind { kAsItIs, kShortened, kCovered } kind = Kind::kAsItIs;
  std::size_t summary = kNowhere;  // for kCovered
};

std::vector<Fate> Fates(std::span<const HistoryTurn> turns, const Compaction& compaction) {
  std::vector<Fate> fates(turns.size());
  const std::set<std::string, std::less<>> shortened(compaction.shortened.begin(),
                                                     compaction.shortened.end());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (shortened.contains(turns[i].id)) fates[i].kind = Fate::Kind::kShortened;
  }
  for (std::size_t s = 0; s < compaction.summaries.size(); ++s) {
    const std::size_t first = IndexOf(turns, compaction.summaries[s].first);
    const std::size_t last = IndexOf(turns, compaction.summaries[s].last);
    // A summary of turns that no longer exist (in an edited history) covers nothing.
    if (first == kNowhere || last == kNowhere || first > last) continue;
    for (std::size_t i = first; i <= last; ++i) fates[i] = {Fate::Kind::kCovered, s};
  }
  return fates;
}

std::string Shortened(const HistoryTurn& turn, const CompactionPolicy& policy) {
  return policy.shorten ? policy.shorten(turn) : OutputLine(turn);
}

// Returns a turn with one line for its output: results keep their ids, other blocks are removed.
Turn ShortTurn(const HistoryTurn& turn, const CompactionPolicy& policy) {
  Turn out{turn.turn.role, {}};
  const std::string line = Shortened(turn, policy);
  for (const Block& block : turn.turn.blocks) {
    if (block.type != Block::Type::kToolResult) continue;
    out.blocks.push_back(block);
    out.blocks.back().text = line;
  }
  if (out.blocks.empty()) {
    const std::string section = turn.turn.blocks.empty() ? "" : turn.turn.blocks.front().section;
    out.blocks.push_back({.text = line, .section = section});
  }
  return out;
}

std::int64_t ShortTokens(const HistoryTurn& turn, const CompactionPolicy& policy) {
  return policy.count(ShortTurn(turn, policy).Text());
}

std::int64_t ViewTokens(std::span<const HistoryTurn> turns, const std::vector<Fate>& fates,
                        const Compaction& compaction, const CompactionPolicy& policy) {
  std::int64_t tokens = 0;
  std::size_t told = kNowhere;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    switch (fates[i].kind) {
      case Fate::Kind::kAsItIs:
        tokens += turns[i].tokens;
        break;
      case Fate::Kind::kShortened:
        tokens += ShortTokens(turns[i], policy);
        break;
      case Fate::Kind::kCovered:
        if (told != fates[i].summary) {
          tokens += policy.count(compaction.summaries[fates[i].summary].text);
        }
        told = fates[i].summary;
        break;
    }
  }
  return tokens;
}

// Turns before this index are in exchanges that are no longer fresh.
std::size_t FreshFrom(std::span<const HistoryTurn> turns, std::size_t exchanges) {
  std::size_t i = turns.size();
  for (std::size_t seen = 0; i > 0 && seen < exchanges;) {
    --i;
    if (BeginsExchange(turns[i].turn)) ++seen;
  }
  return i;
}

class CompactionPlanner {
 public:
  CompactionPlanner(std::span<const HistoryTurn> turns, const Compaction& present,
                    const CompactionPolicy& policy)
      : turns_(turns), present_(present), policy_(policy), fates_(Fates(turns, present)) {
    plan_.tokens_before = plan_.tokens_by_rules = plan_.tokens_after =
        ViewTokens(turns, fates_, present, policy);
  }

  CompactionPlan Run() {
    if (plan_.tokens_before <= policy_.start) return std::move(plan_);
    Shorten();
    plan_.tokens_by_rules = plan_.tokens_after;
    if (plan_.tokens_after <= policy_.target) {
      plan_.step = CompactionPlan::Step::kRules;
      return std::move(plan_);
    }
    if (Summarize()) {
      plan_.step = CompactionPlan::Step::kSummarize;
    } else {
      plan_.step =
          plan_.shorten.empty() ? CompactionPlan::Step::kStuck : CompactionPlan::Step::kRules;
    }
    return std::move(plan_);
  }

 private:
  std::size_t KeptFrom() const {
    return turns_.size() - std::min(policy_.keep_last, turns_.size());
  }

  // Shortens all old outputs at once, because each change invalidates the cached prefix after it.
  void Shorten() {
    const std::size_t end = std::min(KeptFrom(), FreshFrom(turns_, policy_.fresh_exchanges));
    for (std::size_t i = policy_.keep_first; i < end; ++i) {
      if (turns_[i].output_of.empty() || fates_[i].kind != Fate::Kind::kAsItIs) continue;
      const std::int64_t saved = turns_[i].tokens - ShortTokens(turns_[i], policy_);
      if (saved <= 0) continue;
      plan_.shorten.push_back(turns_[i].id);
      fates_[i].kind = Fate::Kind::kShortened;
      plan_.tokens_after -= saved;
    }
  }

  // For a turn that a summary covers: the summary's cost, counted at its first turn.
  std::int64_t TokensOf(std::size_t i) const {
    switch (fates_[i].kind) {
      case Fate::Kind::kAsItIs:
        return turns_[i].tokens;
      case Fate::Kind::kShortened:
        return ShortTokens(turns_[i], policy_);
      case Fate::Kind::kCovered:
        break;
    }
    const bool opens = i == 0 || fates_[i - 1].summary != fates_[i].summary;
    return opens ? policy_.count(present_.summaries[fates_[i].summary].text) : 0;
  }

  bool Covers(std::size_t i) const { return fates_[i].kind == Fate::Kind::kCovered; }

  // Summaries are not merged until there are many, so that the prefix stays.
  bool ShouldMerge() const {
    std::int64_t tokens = 0;
    for (const HistorySummary& summary : present_.summaries) tokens += policy_.count(summary.text);
    return tokens > kMergeAbove * policy_.summary_tokens;
  }

  bool MayEndAt(std::size_t i) const {
    if (i + 1 >= turns_.size() || !BeginsExchange(turns_[i + 1].turn)) return false;
    return !Covers(i) || fates_[i + 1].summary != fates_[i].summary;
  }

  // From the oldest uncovered turn (to merge: from the oldest) to the first good end that is far
  // enough.
  bool Summarize() {
    const bool merge = ShouldMerge();
    std::size_t first = policy_.keep_first;
    while (!merge && first < turns_.size() && Covers(first)) ++first;
    // The last user message before the kept turns must not be separated from its answer.
    while (first < turns_.size() && HasResult(turns_[first].turn)) ++first;
    const std::size_t last_end = KeptFrom();
    std::int64_t gone = 0, gone_at_end = 0;
    std::size_t end = kNowhere;
    for (std::size_t i = first; i < last_end; ++i) {
      if (Covers(i) && !merge) break;
      gone += TokensOf(i);
      if (!MayEndAt(i)) continue;
      end = i;
      gone_at_end = gone;
      if (plan_.tokens_after - gone + policy_.summary_tokens <= policy_.target) break;
    }
    if (end == kNowhere || gone_at_end <= policy_.summary_tokens) return false;
    plan_.first = turns_[first].id;
    plan_.last = turns_[end].id;
    plan_.tokens_after += policy_.summary_tokens - gone_at_end;
    return true;
  }

  std::span<const HistoryTurn> turns_;
  const Compaction& present_;
  const CompactionPolicy& policy_;
  std::vector<Fate> fates_;
  CompactionPlan plan_;
};

std::vector<HistoryTurn> Between(std::span<const HistoryTurn> turns, std::string_view first,
                                 std::string_view last) {
  const std::size_t begin = IndexOf(turns, first), end = IndexOf(turns, last);
  if (begin == kNowhere || end == kNowhere || begin > end) return {};
  return {turns.begin() + static_cast<std::ptrdiff_t>(begin),
          turns.begin() + static_cast<std::ptrdiff_t>(end) + 1};
}

}  // namespace

std::string OutputLine(const HistoryTurn& turn) {
  const std::string text = turn.turn.Text();
  return fmt::format("[output of {}, {} bytes, omitted; sha256 {}]", turn.output_of,
                     GroupDigits(text.size()), Sha256Hex(text).substr(0, 8));
}

CompactionPlan PlanCompaction(std::span<const HistoryTurn> turns, const Compaction& present,
                              const CompactionPolicy& policy) {
  return CompactionPlanner(turns, present, policy).Run();
}

std::vector<HistoryTurn> Covered(std::span<const HistoryTurn> turns, const CompactionPlan& plan) {
  return Between(turns, plan.first, plan.last);
}

std::vector<HistoryTurn> Covered(std::span<const HistoryTurn> turns,
                                 const HistorySummary& summary) {
  return Between(turns, summary.first, summary.last);
}

Result<Compaction> ApplyCompaction(std::span<const HistoryTurn> turns, const Compaction& present,
                                   const CompactionPlan& plan, std::string_view summary,
                                   const CompactionPolicy& policy) {
  Compaction out = present;
  for (const std::string& id : plan.shorten) {
    if (IndexOf(turns, id) == kNowhere) {
      return MakeError(ErrorCode::kInvalidArgument, "the history has no turn {}", id);
    }
    out.shortened.push_back(id);
  }
  if (plan.step != CompactionPlan::Step::kSummarize) return out;
  const std::vector<HistoryTurn> covered = Covered(turns, plan);
  if (covered.empty() || TrimSpace(summary).empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "turns {} to {}: {}", plan.first, plan.last,
                     covered.empty() ? "not in the history" : "the summary is empty");
  }
  HistorySummary added{.first = plan.first, .last = plan.last, .text = std::string(summary)};
  for (const HistoryTurn& turn : covered) added.tokens_before += turn.tokens;
  added.tokens_after = policy.count(summary);
  const std::size_t begin = IndexOf(turns, plan.first), end = IndexOf(turns, plan.last);
  std::erase_if(out.summaries, [&](const HistorySummary& other) {
    const std::size_t at = IndexOf(turns, other.first);
    return at >= begin && at <= end;
  });
  const auto behind = std::find_if(
      out.summaries.begin(), out.summaries.end(),
      [&](const HistorySummary& other) { return IndexOf(turns, other.first) > begin; });
  out.summaries.insert(behind, std::move(added));
  return out;
}

std::vector<Turn> CompactedView(std::span<const HistoryTurn> turns, const Compaction& compaction,
                                const CompactionPolicy& policy) {
  const std::vector<Fate> fates = Fates(turns, compaction);
  std::vector<Turn> out;
  std::vector<Block> told;  // summaries that wait for the next message
  const auto flush = [&] {
    if (!told.empty()) out.push_back({Role::kUser, std::move(told)});
    told.clear();
  };
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (fates[i].kind == Fate::Kind::kCovered) {
      const bool opens = i == 0 || fates[i - 1].summary != fates[i].summary;
      if (opens) {
        told.push_back({.text = compaction.summaries[fates[i].summary].text, .section = "summary"});
      }
      continue;
    }
    Turn turn =
        fates[i].kind == Fate::Kind::kShortened ? ShortTurn(turns[i], policy) : turns[i].turn;
    if (BeginsExchange(turn)) {
      turn.blocks.insert(turn.blocks.begin(), std::make_move_iterator(told.begin()),
                         std::make_move_iterator(told.end()));
      told.clear();
    }
    flush();
    out.push_back(std::move(turn));
  }
  flush();
  return out;
}

Json ToJson(const Compaction& compaction) {
  JsonArray shortened, summaries;
  for (const std::string& id : compaction.shortened) shortened.emplace_back(id);
  for (const HistorySummary& summary : compaction.summaries) {
    summaries.push_back(JsonObject{{"first", summary.first},
                                   {"last", summary.last},
                                   {"text", summary.text},
                                   {"tokens_before", summary.tokens_before},
                                   {"tokens_after", summary.tokens_after}});
  }
  return JsonObject{{"shortened", std::move(shortened)}, {"summaries", std::move(summaries)}};
}

}  // namespace dossier::assembly
