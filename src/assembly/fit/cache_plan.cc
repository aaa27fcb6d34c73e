#include "assembly/fit/cache_plan.h"

#include <map>
#include <set>

#include "assembly/fit/tally.h"
#include "base/clock.h"
#include "base/text/text.h"

namespace dossier::assembly {
namespace {

// A block of the prompt: turn 0 is the system text, turn n the n-th turn.
struct Place {
  std::size_t turn = 0, block = 0;

  auto operator<=>(const Place&) const = default;
};

struct Candidate {
  std::string_view after;
  Place place;
  Zone zone;
};

Millis LifetimeOf(const std::string& ttl) { return ParseDuration(ttl).value_or(Millis(0)); }

class CachePlanner {
 public:
  CachePlanner(std::span<const Part> parts, const LayoutCache& wanted, const Capability& capability,
               const tokens::Counter& counter, Messages* messages)
      : wanted_(wanted),
        capability_(capability),
        rules_(capability.cache),
        counter_(counter),
        messages_(*messages) {
    for (const Part& part : parts) zones_[part.rule->name] = part.rule->zone;
  }

  CachePlan Run() {
    if (rules_.mode != CacheRules::Mode::kExplicit || rules_.breakpoints <= 0) return {};
    Measure();
    FindCandidates();
    Choose();
    SetLifetimes();
    return std::move(plan_);
  }

 private:
  std::vector<Block>& BlocksOf(std::size_t turn) {
    return turn == 0 ? messages_.system : messages_.turns[turn - 1].blocks;
  }

  // What repairs add stands with what comes first.
  Zone ZoneOf(const Block& block) const {
    const auto found = zones_.find(block.section);
    return found == zones_.end() ? Zone::kStable : found->second;
  }

  // Tokens of whole messages, so that a prefix is counted as it is sent.
  void Measure() {
    std::int64_t total = capability_.tokens_per_request + CountTools(messages_.tools, counter_);
    before_turn_.push_back(total);
    if (!messages_.system.empty()) {
      total += CountBlocks(messages_.system, counter_, capability_.image_tokens.value_or(0)) +
               capability_.tokens_per_message;
    }
    for (const Turn& turn : messages_.turns) {
      before_turn_.push_back(total);
      total += CountBlocks(turn.blocks, counter_, capability_.image_tokens.value_or(0)) +
               capability_.tokens_per_message;
    }
  }

  std::int64_t PrefixTokens(const Place& place) {
    const auto start = std::span<const Block>(BlocksOf(place.turn)).first(place.block + 1);
    return before_turn_[place.turn] + capability_.tokens_per_message +
           CountBlocks(start, counter_, capability_.image_tokens.value_or(0));
  }

  // The last block of each zone, by the places of the prompt.
  void FindCandidates() {
    std::map<Zone, Place> last;
    for (std::size_t turn = 0; turn <= messages_.turns.size(); ++turn) {
      const std::vector<Block>& blocks = BlocksOf(turn);
      for (std::size_t block = 0; block < blocks.size(); ++block) {
        last[turn == 0 ? Zone::kSystem : ZoneOf(blocks[block])] = {turn, block};
      }
    }
    if (last.contains(Zone::kSystem)) Add("system", last[Zone::kSystem], Zone::kSystem);
    if (last.contains(Zone::kStable)) Add("stable", last[Zone::kStable], Zone::kStable);
    if (!last.contains(Zone::kHistory)) return;
    const Place end = last[Zone::kHistory];
    if (const std::size_t newest = NewestTurn(end.turn); newest > 1) {
      const std::size_t before = newest - 1;
      const std::vector<Block>& blocks = BlocksOf(before);
      if (!blocks.empty() && ZoneOf(blocks.back()) == Zone::kHistory) {
        Add("history", {before, blocks.size() - 1}, Zone::kHistory);
      }
    }
    Add("newest", end, Zone::kHistory);
    AddSteps(end);
  }

  void Add(std::string_view after, Place place, Zone zone) {
    const bool known = std::any_of(candidates_.begin(), candidates_.end(),
                                   [&](const Candidate& other) { return other.place == place; });
    if (!known) candidates_.push_back({after, place, zone});
  }

  // The turn with which the newest exchange, or the newest tool call, begins.
  std::size_t NewestTurn(std::size_t end) {
    for (std::size_t turn = end; turn > 0; --turn) {
      const Turn& at = messages_.turns[turn - 1];
      const auto has = [&](Block::Type type) {
        return std::any_of(at.blocks.begin(), at.blocks.end(),
                           [&](const Block& block) { return block.type == type; });
      };
      if (at.role == Role::kUser && !has(Block::Type::kToolResult)) return turn;
      if (at.role == Role::kAssistant && has(Block::Type::kToolCall)) return turn;
    }
    return 0;
  }

  // A turn with many tool calls outgrows the provider's look-back: one more point each 15 of its 20
  // blocks, from the end.
  void AddSteps(Place end) {
    const int stride = std::max(1, rules_.look_back * 3 / 4);
    int since = 0;
    for (std::size_t turn = end.turn; turn > 0; --turn) {
      const std::size_t from = turn == end.turn ? end.block + 1 : BlocksOf(turn).size();
      for (std::size_t block = from; block-- > 0;) {
        if (ZoneOf(BlocksOf(turn)[block]) != Zone::kHistory) return;
        if (since++ % stride == 0 && since > 1) Add("step", {turn, block}, Zone::kHistory);
      }
    }
  }

  // Candidates stand by worth; points are told in prompt order.
  void Choose() {
    std::map<Place, CachePoint> points;
    int slots = rules_.breakpoints;
    for (const Candidate& candidate : candidates_) {
      CachePoint point{.after = candidate.after, .prefix_tokens = PrefixTokens(candidate.place)};
      if (point.prefix_tokens < rules_.min_prefix) {
        point.why = "below-minimum";
      } else if (slots == 0) {
        point.why = "no-slot";
      } else {
        --slots;
        placed_[candidate.place] = candidate.zone;
      }
      points[candidate.place] = point;
    }
    for (auto& [place, point] : points) {
      if (point.why.empty()) lifetime_of_[place] = plan_.points.size();
      plan_.points.push_back(std::move(point));
    }
  }

  // What the layout asks for, if the provider has it.
  std::string Wanted(Zone zone) {
    const std::string& wanted = zone == Zone::kSystem   ? wanted_.system_ttl
                                : zone == Zone::kStable ? wanted_.stable_ttl
                                                        : wanted_.history_ttl;
    const std::string fallback = rules_.ttl.empty() ? "" : rules_.ttl.front();
    if (wanted.empty()) return fallback;
    const auto same = [&](const std::string& ttl) { return LifetimeOf(ttl) == LifetimeOf(wanted); };
    const auto found = std::find_if(rules_.ttl.begin(), rules_.ttl.end(), same);
    if (found != rules_.ttl.end()) return *found;
    if (warned_.insert(wanted).second) {
      plan_.warnings.push_back(
          {"cache-ttl", "",
           fmt::format("the provider keeps no prefix for {}: {} is asked for", wanted, fallback)});
    }
    return fallback;
  }

  // From the end: a point lives at least as long as those behind it.
  void SetLifetimes() {
    std::string longest;
    for (auto it = placed_.rbegin(); it != placed_.rend(); ++it) {
      std::string ttl = Wanted(it->second);
      if (LifetimeOf(ttl) < LifetimeOf(longest)) ttl = longest;
      longest = ttl;
      BlocksOf(it->first.turn)[it->first.block].cache = ttl;
      plan_.points[lifetime_of_[it->first]].ttl = ttl;
    }
  }

  const LayoutCache& wanted_;
  const Capability& capability_;
  const CacheRules& rules_;
  const tokens::Counter& counter_;
  Messages& messages_;
  std::map<std::string, Zone, std::less<>> zones_;
  std::vector<std::int64_t> before_turn_;  // tokens before each turn; 0 is the system text
  std::vector<Candidate> candidates_;      // by worth
  std::map<Place, Zone> placed_;
  std::map<Place, std::size_t> lifetime_of_;  // index in plan_.points
  std::set<std::string> warned_;
  CachePlan plan_;
};

}  // namespace

CachePlan PlanCache(std::span<const Part> parts, const LayoutCache& wanted,
                    const Capability& capability, const tokens::Counter& counter,
                    Messages* messages) {
  return CachePlanner(parts, wanted, capability, counter, messages).Run();
}

std::string_view CacheModeName(CacheRules::Mode mode) {
  switch (mode) {
    case CacheRules::Mode::kNone:
      return "none";
    case CacheRules::Mode::kExplicit:
      return "explicit";
    case CacheRules::Mode::kAutomatic:
      return "automatic";
  }
  return "none";
}

}  // namespace dossier::assembly
