#include "assembly/fit/fit.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "assembly/fit/part.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::assembly {
namespace {

// Cuts a transcript: oldest units first, never half a unit.
//
// Thread-safety: pure functions.

// Turns that are kept or dropped together: an exchange, or a tool call with its results.
struct Unit {
  std::size_t begin = 0, end = 0;  // indexes of turns
  std::int64_t tokens = 0;
  bool summary = false;  // never dropped
};

bool HasBlock(const Turn& turn, Block::Type type) {
  return std::any_of(turn.blocks.begin(), turn.blocks.end(),
                     [&](const Block& block) { return block.type == type; });
}

bool IsSummary(const Turn& turn) {
  return !turn.blocks.empty() && turn.blocks.front().section == "summary";
}

// Returns true if a unit begins with turn `i`. Exchanges begin with the transcript's first role, so
// that dropping whole ones keeps the roles alternating.
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

// The marker has the count at the time of the cut, not the newest one: it stays the same until the
// next cut, and with it the cached prefix.
struct CutPoint {
  std::vector<bool> gone;  // by unit
  CutCount left_out{.unit = "turns"};

  bool any() const { return left_out.count > 0; }
};

std::int64_t MarkerTokens(const CutCount& left_out, const Part& part, const FitContext& context) {
  return context.counter.CountText(Marker(left_out, part.rule->name) + "\n\n").tokens +
         context.per_message;
}

// Replays the transcript from its start: whenever it exceeds the grant, the oldest units are
// dropped until it is down to drop_to of the grant. The cut point depends only on the text up to
// then, so it stays in place while the transcript grows by the rest.
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

// Returns the tokens of `turns` including framing.
std::int64_t CountTurns(const std::vector<Turn>& turns, const FitContext& context) {
  std::int64_t tokens = 0;
  for (const Turn& turn : turns) {
    tokens += CountBlocks(turn.blocks, context.counter, context.image) + context.per_message;
  }
  return tokens;
}

// Returns a transcript of at most `grant` tokens; nullopt if the turns that must stay cost more.
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

// Returns the tokens of what must stay: summaries, the last keep.turns, a marker.
std::int64_t LeastHistory(const Part& part, const FitContext& context) {
  const std::vector<Unit> units = SplitUnits(part.turns, context);
  const auto keep = static_cast<std::size_t>(std::max(part.rule->keep_turns, 0));
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].summary || i + keep >= units.size()) tokens += units[i].tokens;
  }
  const auto turns = static_cast<std::int64_t>(part.turns.size());
  const CutCount all{.unit = "turns", .count = turns, .of = turns};
  return std::min(tokens + MarkerTokens(all, part, context), part.full.tokens);
}

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// Returns the largest n in [low, high] for which `fits` holds, if it holds for all smaller ones;
// low - 1 if for none.
template <typename Fits>
std::int64_t Largest(std::int64_t low, std::int64_t high, const Fits& fits) {
  while (low <= high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return low - 1;
}

// Cuts a text to a limit of tokens and characters, by lines or, if a line is too large, by code
// points.
class TextCutter {
 public:
  TextCutter(const Part& part, std::int64_t grant, std::int64_t max_chars,
             const FitContext& context)
      : part_(part), body_(part.body), grant_(grant), max_chars_(max_chars), context_(context) {
    for (std::size_t at = body_.find('\n'); at != body_.npos; at = body_.find('\n', at + 1)) {
      line_ends_.push_back(at);
    }
    line_ends_.push_back(body_.size());
  }

  std::optional<Fitted> Cut() {
    if (auto lines = CutLines()) return lines;
    return CutChars();
  }

 private:
  std::int64_t lines() const { return static_cast<std::int64_t>(line_ends_.size()); }
  std::string_view Head(std::int64_t count) const {
    return count == 0 ? std::string_view() : body_.substr(0, line_ends_[Index(count - 1)]);
  }
  std::string_view Tail(std::int64_t count) const {
    if (count == 0) return {};
    return count == lines() ? body_ : body_.substr(line_ends_[Index(lines() - count - 1)] + 1);
  }
  static std::size_t Index(std::int64_t number) { return static_cast<std::size_t>(number); }

  Fitted Compose(std::string_view head, std::string_view tail, bool has_head, bool has_tail,
                 const CutCount& left_out) const {
    std::string body;
    if (has_head) body = std::string(head) + "\n";
    body += Marker(left_out, part_.rule->name);
    if (has_tail) body += "\n" + std::string(tail);
    Fitted out{.text = Framed(part_.frame, body), .left_out = left_out};
    out.tokens = context_.counter.CountText(out.text).tokens;
    if (max_chars_ != kNoLimit && static_cast<std::int64_t>(utf8::CodePoints(body)) > max_chars_) {
      out.tokens = kNoLimit;
    }
    return out;
  }

  Fitted WithLines(std::int64_t head, std::int64_t tail) const {
    return Compose(Head(head), Tail(tail), head > 0, tail > 0,
                   {.unit = "lines", .count = lines() - head - tail, .of = lines()});
  }

  bool Fits(const Fitted& fitted) const { return fitted.tokens <= grant_; }
  // If a transcript is given as text, its end is the newest.
  bool KeepsEnd() const {
    return part_.rule->fit == Fit::kTail || part_.rule->fit == Fit::kHistory;
  }

  std::optional<Fitted> CutLines() const {
    const std::int64_t most = lines() - 1;
    std::int64_t head = 0, tail = 0;
    if (KeepsEnd()) {
      tail = Largest(1, most, [&](std::int64_t n) { return Fits(WithLines(0, n)); });
    } else if (part_.rule->fit == Fit::kHead) {
      head = Largest(1, most, [&](std::int64_t n) { return Fits(WithLines(n, 0)); });
    } else {
      std::tie(head, tail) = MiddleLines(most);
    }
    if (head + tail == 0) return std::nullopt;
    return WithLines(head, tail);
  }

  // The head gets its share of what marker and frame leave, the tail the rest, and the head gets
  // again what the tail cannot use (its next line is too large).
  std::pair<std::int64_t, std::int64_t> MiddleLines(std::int64_t most) const {
    const Fitted bare = WithLines(0, 0);
    if (!Fits(bare)) return {0, 0};
    const std::int64_t room = std::min(grant_ - bare.tokens, max_chars_);
    const auto share =
        static_cast<std::int64_t>(std::floor(static_cast<double>(room) * part_.rule->keep_ratio));
    std::int64_t head = Largest(1, most, [&](std::int64_t n) {
      return WithLines(n, 0).tokens - bare.tokens <= share && Fits(WithLines(n, 0));
    });
    const std::int64_t tail =
        Largest(1, most - head, [&](std::int64_t n) { return Fits(WithLines(head, n)); });
    head = Largest(head + 1, most - tail, [&](std::int64_t n) { return Fits(WithLines(n, tail)); });
    return {head, tail};
  }

  std::optional<Fitted> CutChars() const {
    const auto total = static_cast<std::int64_t>(utf8::CodePoints(body_));
    const std::int64_t kept =
        Largest(1, total - 1, [&](std::int64_t n) { return Fits(WithChars(n, total)); });
    if (kept == 0) return std::nullopt;
    return WithChars(kept, total);
  }

  Fitted WithChars(std::int64_t kept, std::int64_t total) const {
    std::int64_t head = kept;
    if (KeepsEnd()) head = 0;
    if (part_.rule->fit == Fit::kMiddle) {
      head = static_cast<std::int64_t>(
          std::llround(static_cast<double>(kept) * part_.rule->keep_ratio));
    }
    const std::int64_t tail = kept - head;
    return Compose(utf8::Prefix(body_, static_cast<std::uint64_t>(head)),
                   utf8::Suffix(body_, static_cast<std::uint64_t>(tail)), head > 0, tail > 0,
                   {.unit = "chars", .count = total - kept, .of = total});
  }

  const Part& part_;
  std::string_view body_;
  std::int64_t grant_, max_chars_;
  const FitContext& context_;
  std::vector<std::size_t> line_ends_;  // offsets of the line ends; the last is the end of the text
};

// Returns item indexes in the order of removal: lowest priority first, then the last.
std::vector<std::size_t> ItemsByWorth(const Part& part) {
  std::vector<std::size_t> order(part.items.size());
  std::iota(order.begin(), order.end(), 0);
  const auto priority = [&](std::size_t i) {
    return i < part.item_priorities.size() ? part.item_priorities[i] : 0.5;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return priority(a) != priority(b) ? priority(a) < priority(b) : a > b;
  });
  return order;
}

// The items without the first `gone` of `order`; the marker is where the first one is missing.
Fitted WithItems(const Part& part, const std::vector<std::size_t>& order, std::size_t gone,
                 const FitContext& context) {
  std::vector<bool> missing(part.items.size(), false);
  for (std::size_t i = 0; i < gone; ++i) missing[order[i]] = true;
  const CutCount left_out{.unit = "items",
                          .count = static_cast<std::int64_t>(gone),
                          .of = static_cast<std::int64_t>(part.items.size())};
  std::string body;
  bool marked = false;
  for (std::size_t i = 0; i < part.items.size(); ++i) {
    if (missing[i] && marked) continue;
    if (!body.empty()) body += '\n';
    body += missing[i] ? Marker(left_out, part.rule->name) : part.items[i];
    marked |= missing[i];
  }
  Fitted out{.text = Framed(part.frame, body), .left_out = left_out};
  out.tokens = context.counter.CountText(out.text).tokens;
  const bool too_long = part.rule->cap_chars &&
                        static_cast<std::int64_t>(utf8::CodePoints(body)) > *part.rule->cap_chars;
  if (too_long) out.tokens = kNoLimit;
  return out;
}

std::optional<Fitted> FitItems(const Part& part, std::int64_t grant, const FitContext& context) {
  const std::vector<std::size_t> order = ItemsByWorth(part);
  const auto most = static_cast<std::int64_t>(order.size()) - 1;
  const auto kept = Largest(1, most, [&](std::int64_t n) {
    return WithItems(part, order, order.size() - static_cast<std::size_t>(n), context).tokens <=
           grant;
  });
  if (kept <= 0) return std::nullopt;
  return WithItems(part, order, order.size() - static_cast<std::size_t>(kept), context);
}

std::optional<Fitted> FitFirstOf(const Part& part, std::int64_t grant, const FitContext& context) {
  for (const std::string& form : part.rule->alternatives) {
    const auto found = part.alternatives.find(form);
    if (found == part.alternatives.end()) continue;
    Fitted out{.text = Framed(part.frame, TrimLineEnds(found->second)), .form = found->first};
    out.tokens = context.counter.CountText(out.text).tokens;
    const auto all = static_cast<std::int64_t>(utf8::CodePoints(part.body));
    const auto kept = static_cast<std::int64_t>(utf8::CodePoints(found->second));
    out.left_out = {.unit = "chars", .count = std::max<std::int64_t>(all - kept, 0), .of = all};
    if (out.tokens <= grant) return out;
  }
  return std::nullopt;
}

// Returns the tokens of the shortest form.
std::int64_t LeastForm(const Part& part, const FitContext& context) {
  const std::string* shortest = nullptr;
  for (const std::string& form : part.rule->alternatives) {
    const auto found = part.alternatives.find(form);
    if (found == part.alternatives.end()) continue;
    if (!shortest || found->second.size() < shortest->size()) shortest = &found->second;
  }
  if (!shortest) return part.full.tokens;
  const std::string text = Framed(part.frame, TrimLineEnds(*shortest));
  return std::min(context.counter.CountText(text).tokens, part.full.tokens);
}

bool IsOverCap(const Part& part) {
  return part.rule->cap_chars && !part.fixed() &&
         static_cast<std::int64_t>(utf8::CodePoints(part.body)) > *part.rule->cap_chars;
}

std::optional<Fitted> CutToGrant(const Part& part, std::int64_t grant, const FitContext& context) {
  switch (part.rule->fit) {
    case Fit::kWhole:
      return std::nullopt;
    case Fit::kItems:
      return FitItems(part, grant, context);
    case Fit::kFirstOf:
      return FitFirstOf(part, grant, context);
    case Fit::kHead:
    case Fit::kTail:
    case Fit::kMiddle:
    case Fit::kHistory:
      break;
  }
  return TextCutter(part, grant, part.rule->cap_chars.value_or(kNoLimit), context).Cut();
}

}  // namespace

std::string Marker(const CutCount& left_out, std::string_view name) {
  return fmt::format("[left out: {} of {} {} of {}]", left_out.count, left_out.of, left_out.unit,
                     name);
}

std::optional<Fitted> FitFull(const Part& part, const FitContext& context) {
  if (!part.blocks.empty()) {
    return Fitted{.tokens = CountBlocks(part.blocks, context.counter, context.image)};
  }
  if (!part.turns.empty()) {
    return Fitted{.turns = part.turns, .tokens = CountTurns(part.turns, context)};
  }
  if (IsOverCap(part)) return CutToGrant(part, kNoLimit - 1, context);
  return Fitted{.text = Framed(part.frame, part.body)};
}

void Measure(std::span<Fitted* const> fitted, const FitContext& context) {
  std::vector<std::string_view> texts;
  texts.reserve(fitted.size());
  for (const Fitted* one : fitted) texts.push_back(one->text);
  std::vector<tokens::Measured> measured = context.counter.Measure(texts);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    fitted[i]->tokens = measured[i].tokens;
    fitted[i]->measured = std::make_shared<const tokens::Measured>(std::move(measured[i]));
  }
}

std::optional<Fitted> FitTo(const Part& part, std::int64_t grant, const FitContext& context) {
  if (part.full.tokens <= grant) return part.full;
  if (!part.turns.empty()) return FitHistory(part, grant, context);
  return CutToGrant(part, grant, context);
}

std::int64_t LeastGrant(const Part& part, const FitContext& context) {
  if (part.rule->min) return std::min(*part.rule->min, part.full.tokens);
  if (!part.turns.empty()) return LeastHistory(part, context);
  if (part.rule->fit == Fit::kWhole) return part.full.tokens;
  if (part.rule->fit == Fit::kFirstOf) return LeastForm(part, context);
  if (part.rule->fit == Fit::kItems) {
    if (part.items.size() < 2) return part.full.tokens;
    return std::min(WithItems(part, ItemsByWorth(part), part.items.size() - 1, context).tokens,
                    part.full.tokens);
  }
  // The longest possible marker, and one character beside it.
  const auto all = static_cast<std::int64_t>(utf8::CodePoints(part.body));
  const std::string frame = Framed(
      part.frame, Marker({.unit = "lines", .count = all, .of = all}, part.rule->name) + "\n");
  return std::min(context.counter.CountText(frame).tokens + 1, part.full.tokens);
}

}  // namespace dossier::assembly
