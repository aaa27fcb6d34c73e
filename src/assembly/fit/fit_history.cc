#include "assembly/fit/fit_history.h"

#include <cmath>

namespace dossier::assembly {
namespace {

// Turns that stay or go together: an exchange of the transcript, a tool call with its results.
struct Unit {
  std::size_t begin = 0, end = 0;  // indexes of turns
  std::int64_t tokens = 0;
  bool summary = false;  // never goes
};

bool HasBlock(const Turn& turn, Block::Type type) {
  return std::any_of(turn.blocks.begin(), turn.blocks.end(),
                     [&](const Block& block) { return block.type == type; });
}

bool IsSummary(const Turn& turn) {
  return !turn.blocks.empty() && turn.blocks.front().section == "summary";
}

// True if a unit begins with turn `i`. Exchanges begin with the role that the transcript begins
// with, so that dropping whole ones keeps the roles alternating.
bool BeginsUnit(const std::vector<Turn>& turns, Role lead, std::size_t i) {
  const Turn& turn = turns[i];
  if (turn.role == Role::kTool || HasBlock(turn, Block::Type::kToolResult)) return false;
  if (IsSummary(turn) || IsSummary(turns[i - 1])) return true;
  if (turn.role == Role::kAssistant && HasBlock(turn, Block::Type::kToolCall)) return true;
  return turn.role == lead && turns[i - 1].role != lead;
}

std::vector<Unit> SplitUnits(const std::vector<Turn>& turns, const FitContext& context) {
  std::vector<Unit> units;
  Role lead = turns.front().role;
  if (lead == Role::kSystem || IsSummary(turns.front())) {
    lead = turns.size() > 1 ? turns[1].role : Role::kUser;
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (i == 0 || BeginsUnit(turns, lead, i)) units.push_back({.begin = i, .end = i});
    Unit& unit = units.back();
    unit.end = i + 1;
    unit.tokens +=
        CountBlocks(turns[i].blocks, context.counter, context.image) + context.per_message;
    unit.summary |= IsSummary(turns[i]);
  }
  return units;
}

// The marker names the count at the time of the cut, not the newest one: it stays the same until
// the next cut, and with it the cached prefix.
struct CutPoint {
  std::vector<bool> gone;  // of units
  LeftOut left_out{.unit = "turns"};

  bool any() const { return left_out.count > 0; }
};

std::int64_t MarkerTokens(const LeftOut& left_out, const Part& part, const FitContext& context) {
  return context.counter.CountText(Marker(left_out, part.rule->name) + "\n\n").tokens +
         context.per_message;
}

// Plays the transcript from its start: whenever it outgrows the grant, the oldest units go until it
// is down to drop_to of the grant. The cut point depends on what was said up to then only, so it
// stays where it is while the transcript grows by the rest.
class Replay {
 public:
  Replay(const Part& part, const std::vector<Unit>& units, std::int64_t grant,
         const FitContext& context)
      : part_(part), units_(units), grant_(grant), context_(context) {
    cut_.gone.resize(units.size(), false);
  }

  CutPoint Run() {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      size_ += units_[i].tokens;
      if (Size() > grant_) DropDownTo(i);
    }
    return cut_;
  }

  std::int64_t Size() const {
    return size_ + (cut_.any() ? MarkerTokens(cut_.left_out, part_, context_) : 0);
  }

 private:
  void DropDownTo(std::size_t newest) {
    const auto target =
        static_cast<std::int64_t>(std::floor(static_cast<double>(grant_) * part_.rule->drop_to));
    const auto keep = static_cast<std::size_t>(std::max(part_.rule->keep_turns, 0));
    const std::size_t kept_from = newest + 1 - std::min(newest + 1, keep);
    cut_.left_out.of = static_cast<std::int64_t>(units_[newest].end);
    for (std::size_t i = 0; i < kept_from && Size() > target; ++i) {
      if (cut_.gone[i] || units_[i].summary) continue;
      cut_.gone[i] = true;
      size_ -= units_[i].tokens;
      cut_.left_out.count += static_cast<std::int64_t>(units_[i].end - units_[i].begin);
    }
  }

  const Part& part_;
  const std::vector<Unit>& units_;
  std::int64_t grant_;
  const FitContext& context_;
  CutPoint cut_;
  std::int64_t size_ = 0;
};

void AddMarker(const CutPoint& cut, const Part& part, std::vector<Turn>* turns) {
  Block marker{.text = Marker(cut.left_out, part.rule->name), .section = part.rule->name};
  if (!turns->empty() && turns->back().role == Role::kUser) {
    turns->back().blocks.push_back(std::move(marker));
  } else {
    turns->push_back({Role::kUser, {std::move(marker)}});
  }
}

std::vector<Turn> KeptTurns(const Part& part, const std::vector<Unit>& units, const CutPoint& cut) {
  std::vector<Turn> out;
  bool marked = !cut.any();
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (cut.gone[i]) {
      if (!marked) AddMarker(cut, part, &out);
      marked = true;
      continue;
    }
    for (std::size_t turn = units[i].begin; turn < units[i].end; ++turn) {
      const Turn& from = part.turns[turn];
      const bool join = turn == units[i].begin && i > 0 && cut.gone[i - 1] && !out.empty() &&
                        out.back().role == Role::kUser && from.role == Role::kUser;
      if (join) {
        out.back().blocks.insert(out.back().blocks.end(), from.blocks.begin(), from.blocks.end());
      } else {
        out.push_back(from);
      }
    }
  }
  return out;
}

}  // namespace

std::int64_t CountTurns(const std::vector<Turn>& turns, const FitContext& context) {
  std::int64_t tokens = 0;
  for (const Turn& turn : turns) {
    tokens += CountBlocks(turn.blocks, context.counter, context.image) + context.per_message;
  }
  return tokens;
}

std::optional<Fitted> FitHistory(const Part& part, std::int64_t grant, const FitContext& context) {
  if (part.rule->fit != Fit::kHistory) return std::nullopt;
  const std::vector<Unit> units = SplitUnits(part.turns, context);
  const CutPoint cut = Replay(part, units, grant, context).Run();
  Fitted out{.turns = KeptTurns(part, units, cut)};
  out.tokens = CountTurns(out.turns, context);
  if (cut.any()) out.left_out = cut.left_out;
  if (out.tokens > grant) return std::nullopt;
  return out;
}

std::int64_t LeastHistory(const Part& part, const FitContext& context) {
  const std::vector<Unit> units = SplitUnits(part.turns, context);
  const auto keep = static_cast<std::size_t>(std::max(part.rule->keep_turns, 0));
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].summary || i + keep >= units.size()) tokens += units[i].tokens;
  }
  const auto turns = static_cast<std::int64_t>(part.turns.size());
  const LeftOut all{.unit = "turns", .count = turns, .of = turns};
  return std::min(tokens + MarkerTokens(all, part, context), part.full.tokens);
}

}  // namespace dossier::assembly
