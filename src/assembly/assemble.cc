#include "assembly/assemble.h"

#include <cmath>
#include <limits>

#include "assembly/fit/arrange.h"
#include "assembly/fit/fit.h"
#include "assembly/fit/gather.h"
#include "assembly/fit/part.h"
#include "assembly/fit/report.h"
#include "base/text/text.h"

namespace dossier::assembly {
namespace {

constexpr int kMaxShrinks = 8;
constexpr std::int64_t kShrinkExtra = 8;  // tokens
constexpr int kMaxGrowths = 4;
constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

std::int64_t WithMargin(std::int64_t tokens, double margin) {
  return tokens::Count{.tokens = tokens, .margin = margin}.upper();
}

// Returns the most tokens that stay within `budget` with the margin added.
std::int64_t WithoutMargin(std::int64_t budget, double margin) {
  auto tokens = static_cast<std::int64_t>(std::floor(static_cast<double>(budget) / (1.0 + margin)));
  // Rounding may be off by one, and the guarantee uses upper().
  while (tokens > 0 && WithMargin(tokens, margin) > budget) --tokens;
  while (WithMargin(tokens + 1, margin) <= budget) ++tokens;
  return tokens;
}

Result<BudgetNumbers> ResolveBudget(const Layout& layout, const Budget& budget,
                                    const Capability& capability, double margin) {
  const std::int64_t reserve = budget.reserve_output.value_or(
      layout.reserve_output.value_or(std::min(capability.max_output, capability.window / 2)));
  BudgetNumbers out;
  out.limit = std::min(capability.window - reserve,
                       capability.max_input.value_or(std::numeric_limits<std::int64_t>::max()));
  if (out.limit <= 0) {
    return MakeError(ErrorCode::kConfig,
                     "reserve_output {} leaves nothing of a window of {} tokens",
                     GroupCount(reserve), GroupCount(capability.window));
  }
  const auto share = static_cast<std::int64_t>(std::floor(
      static_cast<double>(capability.window) * budget.window_share.value_or(layout.window_share)));
  const bool by_share = budget.window_share.has_value();
  out.want = budget.tokens.value_or(by_share ? share : layout.budget_tokens.value_or(share));
  out.budget = std::max<std::int64_t>(std::min(out.limit, out.want), 0);
  out.allowance = WithoutMargin(out.budget, margin);
  return out;
}

// Assembles one prompt, step by step.
class Assembler {
 public:
  Assembler(const Layout& layout, const BudgetNumbers& budget, const Capability& capability,
            const tokens::Counter& counter, const AssembleOptions& options, GatheredParts gathered)
      : layout_(layout),
        budget_(budget),
        capability_(capability),
        counter_(counter),
        options_(options),
        fit_{counter, capability.tokens_per_message, capability.image_tokens.value_or(0)},
        warnings_(std::move(gathered.warnings)),
        parts_(std::move(gathered.parts)) {}

  Result<Assembled> Run() {
    DOSSIER_RETURN_IF_ERROR(RenderLead());
    DOSSIER_RETURN_IF_ERROR(MeasureParts());
    ArrangeUncut();
    if (tally_.total() > budget_.allowance || HasTokenCap()) {
      DOSSIER_RETURN_IF_ERROR(ShareRoom());
      DOSSIER_RETURN_IF_ERROR(ShrinkUntilItFits());
      UseWhatIsLeft();
    }
    return Finish();
  }

 private:
  Status RenderLead() {
    if (layout_.lead.empty() || capability_.assistant_first) return {};
    const auto found = layout_.templates.find(layout_.lead);
    if (found == layout_.templates.end()) {
      return MakeError(ErrorCode::kConfig, "{}: lead template {} not found", layout_.file,
                       layout_.lead);
    }
    DOSSIER_ASSIGN_OR_RETURN(lead_,
                             RenderTemplate(found->second, options_.variables, options_.boundary));
    return {};
  }

  Status CheckImages(const Part& part) const {
    const auto is_image = [](const Block& block) { return block.type == Block::Type::kImage; };
    bool found = std::any_of(part.blocks.begin(), part.blocks.end(), is_image);
    for (const Turn& turn : part.turns) {
      found |= std::any_of(turn.blocks.begin(), turn.blocks.end(), is_image);
    }
    return found ? CheckTakesImages(capability_, options_.model) : Status();
  }

  Status MeasureParts() {
    std::vector<Fitted*> texts;
    for (Part& part : parts_) {
      if (!part.present()) continue;
      DOSSIER_RETURN_IF_ERROR(CheckImages(part));
      if (!part.tools.empty()) {
        part.full.tokens = CountTools(part.tools, counter_);
        continue;
      }
      std::optional<Fitted> full = FitFull(part, fit_);
      if (!full) {
        if (part.required()) return CapTooSmall(part);
        part.outcome = PartOutcome::kDropped;
        part.reason = "under-min";
        continue;
      }
      part.full = std::move(*full);
      if (!part.full.text.empty()) texts.push_back(&part.full);
    }
    Measure(texts, fit_);
    for (Part& part : parts_) {
      if (!part.present() || !part.tools.empty()) continue;
      const bool too_small = part.required() && TokenCap(part) < LeastGrant(part, fit_);
      if (too_small) return CapTooSmall(part);
      TakeFull(&part);
    }
    return {};
  }

  static void TakeFull(Part* part) {
    part->fitted = part->full;
    part->outcome = part->full.left_out ? PartOutcome::kCut : PartOutcome::kKept;
    part->reason = part->full.left_out ? "over-share" : "";
  }

  static tl::unexpected<Error> CapTooSmall(const Part& part) {
    return MakeError(ErrorCode::kConfig,
                     "section {}: it is required, and its cap cannot hold even the marker of a cut",
                     part.rule->name);
  }

  void ArrangeAndCount() {
    arranged_ = Arrange(parts_, capability_, lead_);
    tally_ = CountRequest(arranged_.messages, capability_, counter_);
  }

  // As ArrangeAndCount, while all present parts are uncut; finds the blank lines that join them.
  void ArrangeUncut() {
    ArrangeAndCount();
    const std::int64_t blank_line = counter_.CountText("\n\n").tokens;
    int last_turn = -1;
    bool has_system = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      part.joint = 0;
      if (!part.present() || (part.fitted.text.empty() && part.blocks.empty())) continue;
      const int turn = arranged_.turns[i];
      const bool joined = turn < 0 ? has_system : turn <= last_turn;
      if (joined) part.joint = blank_line;
      has_system |= turn < 0;
      last_turn = std::max(last_turn, turn);
    }
  }

  std::int64_t Excess() const { return tally_.total() - budget_.allowance; }

  // Returns the most tokens that the layout allows the part, including its frame.
  static std::int64_t TokenCap(const Part& part) {
    if (part.fixed()) return kNoCap;
    return std::min(part.rule->cap.value_or(kNoCap), part.rule->tokens.value_or(kNoCap));
  }

  bool HasTokenCap() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
      return part.present() && part.full.tokens > TokenCap(part);
    });
  }

  // Returns tokens that are not shared out: framing, lead and fillers, and all fixed parts. What
  // the arrangement adds to the sum of its parts is only known after counting them together.
  std::int64_t FixedTokens() const {
    std::int64_t shared = 0;
    for (const Part& part : parts_) {
      if (!part.present() || part.fixed()) continue;
      shared += part.full.tokens + part.joint;
    }
    const std::int64_t fixed = tally_.total() - shared;
    // The sum may exceed the count of the whole, which must not make fixed parts look smaller.
    std::int64_t least = capability_.tokens_per_request;
    for (const Part& part : parts_) {
      if (part.present() && part.fixed()) least += part.full.tokens;
    }
    return std::max(fixed, least);
  }

  Status ShareRoom() {
    for (Part& part : parts_) {
      if (!part.present() || part.fixed()) continue;
      part.least = LeastGrant(part, fit_);
      cascade_.push_back(&part);
    }
    // Ties go by layout order, regardless of zone.
    std::stable_sort(cascade_.begin(), cascade_.end(),
                     [](const Part* a, const Part* b) { return a->place < b->place; });
    std::vector<BudgetDemand> demands;
    for (const Part* part : cascade_) demands.push_back(MakeDemand(*part));
    const std::vector<Part*> by_place = cascade_;
    const std::vector<std::size_t> order = CascadeOrder(demands);
    for (std::size_t i = 0; i < order.size(); ++i) cascade_[i] = by_place[order[i]];

    // A dropped part removes its joints and its framing too, so the others share again.
    while (true) {
      DOSSIER_RETURN_IF_ERROR(MakeRoomForRequired());
      DOSSIER_ASSIGN_OR_RETURN(const Shared shared, ShareOnce(by_place));
      if (shared == Shared::kAll) break;
      ArrangeUncut();
    }
    for (Part* part : by_place) {
      if (!part->present() || Refit(part, part->grant.total())) continue;
      DOSSIER_RETURN_IF_ERROR(Drop(part, "under-min"));
    }
    return {};
  }

  enum class Shared { kAll, kSomeDropped };

  Result<Shared> ShareOnce(const std::vector<Part*>& by_place) {
    std::vector<Part*> sharing;
    std::vector<BudgetDemand> demands;
    for (Part* part : by_place) {
      if (!part->present()) continue;
      sharing.push_back(part);
      demands.push_back(MakeDemand(*part));
    }
    const std::vector<Grant> grants = ShareOut(budget_.allowance - FixedTokens(), demands);
    Shared result = Shared::kAll;
    for (std::size_t i = 0; i < sharing.size(); ++i) {
      sharing[i]->grant = grants[i];
      if (!grants[i].dropped) continue;
      DOSSIER_RETURN_IF_ERROR(Drop(sharing[i], "under-min"));
      result = Shared::kSomeDropped;
    }
    return result;
  }

  // Returns the least tokens for required parts that may be cut.
  std::int64_t RequiredFloors() const {
    std::int64_t tokens = 0;
    for (const Part& part : parts_) {
      if (!part.present() || part.fixed() || !part.required()) continue;
      const BudgetDemand demand = MakeDemand(part);
      tokens += std::min(demand.floor, demand.wanted);
    }
    return tokens;
  }

  // Optional parts also cost framing, joints and repairs. If too little is left for required parts,
  // optional ones are dropped, the least valuable first.
  Status MakeRoomForRequired() {
    while (FixedTokens() + RequiredFloors() > budget_.allowance) {
      Part* loser = FindLoser();
      if (!loser || loser->required()) return OverBudget();
      DOSSIER_RETURN_IF_ERROR(Drop(loser, "over-budget"));
      ArrangeUncut();
    }
    return {};
  }

  BudgetDemand MakeDemand(const Part& part) const {
    const LayoutSection& rule = *part.rule;
    const bool required = part.required();
    BudgetDemand out;
    out.wanted = std::min(part.full.tokens, TokenCap(part)) + part.joint;
    out.floor = rule.tokens.value_or(rule.floor);
    out.least = part.least + part.joint;
    if (required) out.floor = std::max(out.floor, out.least);
    out.weight = rule.weight;
    out.priority = required ? 2 : rule.priority;
    const auto named = std::find(layout_.cascade.begin(), layout_.cascade.end(), rule.name);
    if (named != layout_.cascade.end()) {
      out.cascade_place = static_cast<int>(named - layout_.cascade.begin());
    }
    return out;
  }

  // Fits `part` to `grant` tokens, including its joint. Returns false if not even the least fits.
  bool Refit(Part* part, std::int64_t grant) {
    const std::int64_t room = std::min(grant - part->joint, TokenCap(*part));
    std::optional<Fitted> fitted = FitTo(*part, room, fit_);
    if (!fitted) return false;
    part->fitted = std::move(*fitted);
    if (!part->fitted.text.empty() && !part->fitted.measured) {
      Fitted* const cut[] = {&part->fitted};
      Measure(cut, fit_);
    }
    part->outcome = part->fitted.left_out ? PartOutcome::kCut : PartOutcome::kKept;
    part->reason = part->fitted.left_out ? "over-share" : "";
    return true;
  }

  Status Drop(Part* part, std::string_view reason) {
    if (part->required()) return OverBudget();
    part->fitted = {};
    part->outcome = PartOutcome::kDropped;
    part->reason = reason;
    return {};
  }

  // The rendered whole decides; joints and repairs may have added to it.
  Status ShrinkUntilItFits() {
    ArrangeAndCount();
    while (Excess() > 0) {
      Part* loser = FindLoser();
      if (!loser) return OverBudget();
      const std::int64_t grant = loser->fitted.tokens + loser->joint - Excess() - kShrinkExtra;
      const bool may_shrink = loser->rule->fit != Fit::kWhole && ++loser->shrunk <= kMaxShrinks;
      if (!may_shrink || grant <= 0 || !Refit(loser, grant)) {
        DOSSIER_RETURN_IF_ERROR(Drop(loser, "over-budget"));
      }
      ArrangeAndCount();
    }
    return {};
  }

  // Returns the part to shrink: cut ones before whole ones, low priority before high, later before
  // earlier.
  Part* FindLoser() {
    Part* loser = nullptr;
    const auto worth = [](const Part& part) {
      return std::tuple(part.required(), part.outcome != PartOutcome::kCut, part.rule->priority,
                        -static_cast<std::int64_t>(part.place));
    };
    for (Part& part : parts_) {
      if (!part.present() || part.fixed()) continue;
      if (!loser || worth(part) < worth(*loser)) loser = &part;
    }
    return loser;
  }

  // Gives tokens that whole lines, items and turns left unused to parts that are cut. A history is
  // excluded: its unused tokens keep its cut point, and with it the cache, in place.
  void UseWhatIsLeft() {
    // The second round uses what the first one left because of joints that did not occur.
    for (int round = 0; round < 2; ++round) {
      for (Part* part : cascade_) {
        if (Excess() >= 0) return;
        const bool cut =
            part->outcome == PartOutcome::kCut || part->outcome == PartOutcome::kDropped;
        if (cut && part->turns.empty() && !part->rule->tokens) GiveRest(part);
      }
    }
  }

  void GiveRest(Part* part) {
    const bool returns = part->outcome == PartOutcome::kDropped;
    const std::int64_t had =
        returns ? -capability_.tokens_per_message - counter_.CountText("\n\n").tokens
                : part->fitted.tokens + part->joint;
    std::int64_t grant = had - Excess();
    // Most dropped parts are known not to fit without examining their text.
    if (grant < part->least) return;
    const Fitted before = part->fitted;
    const PartOutcome outcome = part->outcome;
    const std::string_view reason = part->reason;
    bool arranged = false;
    // Repairs that quote a text make it grow by more than its own tokens, so one try may go too
    // far.
    for (int tries = 0; tries < kMaxGrowths; ++tries) {
      if (!Refit(part, grant) || part->fitted.tokens <= before.tokens) break;
      ArrangeAndCount();
      arranged = true;
      if (Excess() <= 0) {
        part->grant.dropped = false;
        part->grant.cascade += part->fitted.tokens - before.tokens;
        return;
      }
      grant -= Excess();
    }
    part->fitted = before;
    part->outcome = outcome;
    part->reason = reason;
    if (arranged) ArrangeAndCount();
  }

  // Returns an error with sizes, largest first, and the budget that would suffice.
  tl::unexpected<Error> OverBudget() {
    std::vector<const Part*> sizes;
    for (const Part& part : parts_) {
      if (part.required() && part.full.tokens > 0) sizes.push_back(&part);
    }
    std::stable_sort(sizes.begin(), sizes.end(),
                     [](const Part* a, const Part* b) { return a->full.tokens > b->full.tokens; });
    std::string list;
    for (const Part* part : sizes) {
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", part->rule->name,
                          GroupCount(part->full.tokens));
    }
    // Counts what they need without all others.
    for (Part& part : parts_) {
      if (part.full.tokens == 0) continue;
      TakeFull(&part);
      if (!part.required()) part.outcome = PartOutcome::kDropped;
    }
    ArrangeUncut();
    const std::int64_t needed = FixedTokens() + RequiredFloors();
    const std::string more_room =
        options_.more_room == AssembleOptions::MoreRoom::kLargerModel
            ? "take a model with a larger window"
            : "raise --budget to " + GroupCount(WithMargin(needed, counter_.margin()));
    return MakeError(
        ErrorCode::kTooLong, "the prompt needs {} tokens, {} fit: {} or shorten {} (required: {})",
        GroupCount(needed - tally_.framing), GroupCount(budget_.allowance - tally_.framing),
        more_room, sizes.empty() ? "the prompt" : sizes.front()->rule->name, list);
  }

  // The receiver of the messages may change their texts.
  static void ForgetCounts(Messages* messages) {
    for (Block& block : messages->system) block.measured.reset();
    for (Turn& turn : messages->turns) {
      for (Block& block : turn.blocks) block.measured.reset();
    }
  }

  Assembled Finish() {
    Assembled out;
    const CachePlan cache =
        PlanCache(parts_, layout_.cache, capability_, counter_, &arranged_.messages);
    out.report = MakeReport({.layout = layout_,
                             .options = options_,
                             .capability = capability_,
                             .counter = counter_,
                             .budget = budget_,
                             .tally = tally_,
                             .arranged = arranged_,
                             .cache = cache,
                             .warnings = warnings_},
                            &parts_);
    out.messages = std::move(arranged_.messages);
    ForgetCounts(&out.messages);
    out.tokens = tally_.total();
    out.tokens_exact = counter_.exact();
    out.headroom = budget_.allowance - out.tokens;
    out.warm_first = layout_.cache.warm_first;
    return out;
  }

  const Layout& layout_;
  const BudgetNumbers& budget_;
  const Capability& capability_;
  const tokens::Counter& counter_;
  const AssembleOptions& options_;
  FitContext fit_;
  std::vector<AssemblyWarning> warnings_;
  std::vector<Part> parts_;  // in prompt order
  std::vector<Part*> cascade_;
  std::string lead_;
  Arranged arranged_;
  Tally tally_;
};

}  // namespace

Status CheckTakesImages(const Capability& capability, std::string_view model) {
  if (capability.image_tokens) return {};
  return MakeError(
      ErrorCode::kConfig,
      "the model{}{} takes no images: its entry in the model data does not say what one costs "
      "(`image: {{tokens: N}}`, beside `window`, in a file of yours that models.data names)",
      model.empty() ? "" : " ", model);
}

Result<Assembled> Assemble(const Layout& layout, std::span<const Section> sections,
                           const Budget& budget, const Capability& capability,
                           const tokens::Counter& counter, const AssembleOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const BudgetNumbers numbers,
                           ResolveBudget(layout, budget, capability, counter.margin()));
  DOSSIER_ASSIGN_OR_RETURN(GatheredParts gathered, Gather(layout, sections, options));
  return Assembler(layout, numbers, capability, counter, options, std::move(gathered)).Run();
}

}  // namespace dossier::assembly
