#include "assembly/fit/report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "assembly/fit/part.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/text.h"

namespace dossier::assembly {
namespace {

constexpr std::size_t kFineStep = 256, kCoarseStep = 4096;  // bytes between two marks
constexpr std::size_t kMarkDigits = 8;

std::size_t NextMark(std::size_t at) { return at + (at < kCoarseStep ? kFineStep : kCoarseStep); }

// Returns the sections in the prompt, in order.
std::vector<const Json*> Present(const Json& report) {
  std::vector<const Json*> out;
  const Json* sections = Find(report, "sections");
  if (!sections || !sections->is_array()) return out;
  for (const Json& section : sections->get_array()) {
    const auto outcome = FindString(section, "outcome");
    if (outcome == "kept" || outcome == "cut") out.push_back(&section);
  }
  return out;
}

bool SamePlace(const Json& a, const Json& b) {
  for (const std::string_view key : {"name", "zone", "role"}) {
    if (FindString(a, key) != FindString(b, key)) return false;
  }
  return true;
}

std::int64_t Number(const Json& section, std::string_view key) {
  return std::max<std::int64_t>(FindInt(section, key).value_or(0), 0);
}

// Returns the number of bytes with which both certainly begin.
std::int64_t CommonBytes(const Json& before, const Json& after) {
  const std::string_view a = FindString(before, "marks").value_or("");
  const std::string_view b = FindString(after, "marks").value_or("");
  std::size_t at = 0, same = 0;
  for (std::size_t digit = 0; digit + kMarkDigits <= std::min(a.size(), b.size());
       digit += kMarkDigits) {
    if (a.substr(digit, kMarkDigits) != b.substr(digit, kMarkDigits)) break;
    same = at = NextMark(at);
  }
  return static_cast<std::int64_t>(same);
}

std::int64_t CacheableTokens(const std::vector<const Json*>& sections) {
  std::int64_t tokens = 0;
  for (const Json* section : sections) {
    const auto zone = FindString(*section, "zone");
    if (zone != "volatile" && zone != "request") tokens += Number(*section, "tokens");
  }
  return tokens;
}

constexpr std::array<std::string_view, 6> kZoneNames = {"tools",   "system",   "stable",
                                                        "history", "volatile", "request"};
constexpr std::array<std::string_view, 7> kFitNames = {"whole", "head",    "tail",    "middle",
                                                       "items", "history", "first-of"};
constexpr std::array<std::string_view, 5> kOutcomeNames = {"kept", "cut", "dropped", "empty",
                                                           "absent"};

constexpr std::int64_t kFreshDays = 180;

// Returns the bytes of a part in the order in which they are sent.
std::string TurnBytes(std::span<const Block> blocks) {
  std::string bytes;
  for (const Block& block : blocks) {
    bytes += '\n' + block.text;
    if (block.type == Block::Type::kText) continue;
    bytes += '\n' + block.call_id + '\n' + block.tool_name + '\n' + block.media_type + '\n' +
             block.url + '\n' + dossier::ToJson(block.arguments);
  }
  return bytes;
}

// `made` holds the bytes if they do not exist in one piece.
std::string_view PartBytes(const Part& part, std::string* made) {
  if (!part.tools.empty()) {
    JsonArray tools;
    for (const ToolSpec& tool : part.tools) {
      tools.push_back(JsonObject{
          {"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}});
    }
    return *made = dossier::ToJson(tools);
  }
  if (!part.blocks.empty()) return *made = TurnBytes(part.blocks);
  if (part.fitted.turns.empty()) return part.fitted.text;
  for (const Turn& turn : part.fitted.turns) {
    *made += RoleName(turn.role);
    *made += TurnBytes(turn.blocks);
    *made += '\n';
  }
  return *made;
}

struct PartSize {
  std::int64_t bytes = 0;
};

// Each prefix hash covers everything before its section, including roles and zones.
std::vector<PartSize> HashParts(std::vector<Part>* parts) {
  std::vector<PartSize> sizes;
  std::string chain = Sha256Hex("");
  for (Part& part : *parts) {
    part.prefix_sha256 = chain;
    PartSize& size = sizes.emplace_back();
    if (!part.present()) continue;
    std::string made;
    const std::string_view bytes = PartBytes(part, &made);
    size.bytes = static_cast<std::int64_t>(bytes.size());
    part.marks = PrefixMarks(bytes, &part.sha256);
    chain = Sha256Hex(fmt::format("{}\n{}\n{}\n{}", chain,
                                  kZoneNames[static_cast<std::size_t>(part.rule->zone)],
                                  RoleName(part.rule->role), part.sha256));
  }
  return sizes;
}

Json LeftOutJson(const Part& part) {
  if (!part.fitted.left_out || !part.present()) return nullptr;
  const CutCount& left_out = *part.fitted.left_out;
  return JsonObject{{"unit", left_out.unit},
                    {"count", left_out.count},
                    {"of", left_out.of},
                    {"tokens", std::max<std::int64_t>(part.full.tokens - part.fitted.tokens, 0)}};
}

JsonObject SectionJson(const Part& part, std::int64_t bytes) {
  const LayoutSection& rule = *part.rule;
  JsonObject out;
  out["name"] = rule.name;
  out["zone"] = kZoneNames[static_cast<std::size_t>(rule.zone)];
  out["role"] = RoleName(rule.role);
  out["priority"] = rule.priority;
  out["required"] = part.required();
  out["trust"] = rule.trust == Trust::kTrusted ? "trusted" : "untrusted";
  out["provenance"] = part.provenance.is_object() ? part.provenance : Json(JsonObject());
  out["tokens_wanted"] = part.full.tokens;
  out["granted"] = JsonObject{
      {"floor", part.grant.floor}, {"weight", part.grant.weight}, {"cascade", part.grant.cascade}};
  out["tokens"] = part.present() ? part.fitted.tokens : 0;
  out["bytes"] = bytes;
  out["outcome"] = kOutcomeNames[static_cast<std::size_t>(part.outcome)];
  out["reason"] = part.reason.empty() ? Json(nullptr) : Json(part.reason);
  out["fit"] = kFitNames[static_cast<std::size_t>(rule.fit)];
  out["form"] = part.fitted.form.empty() ? Json(nullptr) : Json(part.fitted.form);
  out["left_out"] = LeftOutJson(part);
  out["sha256"] = part.sha256.empty() ? Json(nullptr) : Json(part.sha256);
  out["prefix_sha256"] = part.prefix_sha256;
  out["marks"] = part.marks;
  out["turn"] = part.turn;
  return out;
}

JsonObject BudgetJson(const ReportInput& input) {
  const std::int64_t usable = input.budget.allowance - input.tally.framing;
  return {{"window", input.capability.window},
          {"limit", input.budget.limit},
          {"want", input.budget.want},
          {"margin_tokens", input.budget.budget - input.budget.allowance},
          {"framing", input.tally.framing},
          {"usable", usable},
          {"used", input.tally.used},
          {"free", usable - input.tally.used}};
}

// Warns of a section that changes often before ones that change less.
std::vector<AssemblyWarning> VolatileFirst(const std::vector<Part>& parts) {
  std::vector<AssemblyWarning> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LayoutSection& rule = *parts[i].rule;
    const bool often = rule.changes == "turn" || rule.changes == "call";
    if (!parts[i].present() || !often || rule.zone >= Zone::kHistory) continue;
    std::int64_t after = 0;
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      if (parts[j].present()) after += parts[j].fitted.tokens;
    }
    // A repository header has its own code, because users are told to look for it.
    const std::string code = rule.source == "header" ? "header-first" : "volatile-first";
    out.push_back({code, rule.name,
                   fmt::format("{}: {} tokens after {} cannot be cached", code, after,
                               rule.source == "header" ? "the header" : "it")});
  }
  return out;
}

// Returns the days since 1970 of "YYYY-MM-DD"; nullopt if it is not a date.
std::optional<std::int64_t> DayOf(std::string_view date) {
  const std::vector<std::string_view> parts = Split(date, '-');
  int numbers[3] = {};
  if (parts.size() != 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto read = std::from_chars(parts[i].data(), end, numbers[i]);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  }
  const std::chrono::year_month_day day(std::chrono::year(numbers[0]),
                                        std::chrono::month(static_cast<unsigned>(numbers[1])),
                                        std::chrono::day(static_cast<unsigned>(numbers[2])));
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day).time_since_epoch().count();
}

// Warns of an old entry, because provider limits change monthly.
std::vector<AssemblyWarning> OldEntry(const ReportInput& input) {
  const std::string as_of = TextAt(input.capability.entry, "as_of");
  const auto then = DayOf(as_of), now = DayOf(input.options.today);
  if (!then || !now || *now - *then <= kFreshDays) return {};
  return {{"old-entry", "",
           fmt::format("what is known about {} is of {}, {} days old", input.options.model, as_of,
                       *now - *then)}};
}

JsonArray WarningsJson(const ReportInput& input, const std::vector<Part>& parts) {
  std::vector<AssemblyWarning> warnings = input.warnings;
  for (const AssemblyWarning& warning : input.cache.warnings) warnings.push_back(warning);
  for (AssemblyWarning& warning : OldEntry(input)) warnings.push_back(std::move(warning));
  for (AssemblyWarning& warning : VolatileFirst(parts)) warnings.push_back(std::move(warning));
  JsonArray out;
  for (const AssemblyWarning& warning : warnings) {
    out.push_back(
        JsonObject{{"code", warning.code}, {"section", warning.section}, {"text", warning.text}});
  }
  return out;
}

JsonArray RepairsJson(const std::vector<Repair>& repairs) {
  JsonArray out;
  for (const Repair& repair : repairs) {
    out.push_back(
        JsonObject{{"rule", repair.rule}, {"where", repair.where}, {"text", repair.text}});
  }
  return out;
}

std::int64_t StableTokens(const std::vector<Part>& parts) {
  std::int64_t tokens = 0;
  for (const Part& part : parts) {
    if (part.present() && part.rule->zone <= Zone::kStable) tokens += part.fitted.tokens;
  }
  return tokens;
}

JsonArray PointsJson(const CachePlan& plan) {
  JsonArray out;
  for (const CachePoint& point : plan.points) {
    out.push_back(JsonObject{{"after", point.after},
                             {"prefix_tokens", point.prefix_tokens},
                             {"placed", point.why.empty()},
                             {"ttl", point.ttl.empty() ? Json(nullptr) : Json(point.ttl)},
                             {"why", point.why.empty() ? Json(nullptr) : Json(point.why)}});
  }
  return out;
}

// Adds the part of the prompt that a provider should find in its cache after `previous`.
void AddComparison(const CacheRules& rules, const Json& previous, const Json& report,
                   JsonObject* cache) {
  const Comparison difference = Compare(previous, report);
  const std::int64_t whole = difference.common_tokens / rules.step * rules.step;
  // If no cache is known for the model, nothing is expected: not even 0 tokens.
  if (rules.mode != CacheRules::Mode::kNone) {
    (*cache)["expected_cached"] = whole >= rules.min_prefix ? whole : 0;
  }
  if (!difference.found) return;
  (*cache)["first_difference"] = JsonObject{{"section", difference.section},
                                            {"byte", difference.byte},
                                            {"tokens_lost", difference.tokens_lost}};
}

}  // namespace

std::string PrefixMarks(std::string_view bytes, std::string* sha256) {
  std::string marks;
  Sha256 hash;
  std::size_t at = 0;
  for (std::size_t next = NextMark(0); next <= bytes.size(); next = NextMark(next)) {
    hash.Update(bytes.substr(at, next - at));
    at = next;
    Sha256 here = hash;
    marks += here.Hex().substr(0, kMarkDigits);
  }
  hash.Update(bytes.substr(at));
  *sha256 = hash.Hex();
  return marks;
}

Comparison Compare(const Json& before, const Json& after) {
  const std::vector<const Json*> old = Present(before), now = Present(after);
  Comparison out;
  std::size_t i = 0;
  const auto same = [&] {
    return SamePlace(*old[i], *now[i]) && FindString(*old[i], "sha256").has_value() &&
           FindString(*old[i], "sha256") == FindString(*now[i], "sha256");
  };
  for (; i < std::min(old.size(), now.size()) && same(); ++i) {
    out.common_tokens += Number(*now[i], "tokens");
  }
  out.found = i < old.size() || i < now.size();
  if (i < now.size()) {
    out.section = FindString(*now[i], "name").value_or("");
  } else if (i < old.size()) {
    out.section = FindString(*old[i], "name").value_or("");
  }
  if (i < now.size() && i < old.size() && SamePlace(*old[i], *now[i])) {
    out.byte = CommonBytes(*old[i], *now[i]);
    const std::int64_t bytes = std::max<std::int64_t>(Number(*now[i], "bytes"), 1);
    out.common_tokens += static_cast<std::int64_t>(
        static_cast<__int128>(Number(*now[i], "tokens")) * std::min(out.byte, bytes) / bytes);
  }
  out.tokens_lost = std::max<std::int64_t>(CacheableTokens(old) - out.common_tokens, 0);
  return out;
}

Json MakeReport(const ReportInput& input, std::vector<Part>* parts) {
  const std::vector<PartSize> sizes = HashParts(parts);
  JsonArray sections;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    Part& part = (*parts)[i];
    part.turn = part.present() ? input.arranged.turns[i] : -1;
    sections.push_back(SectionJson(part, sizes[i].bytes));
  }
  JsonObject out;
  out["schema"] = "dossier.assembly/1";
  out["layout"] = JsonObject{{"name", input.layout.name},
                             {"path", input.layout.file},
                             {"sha256", input.layout.sha256},
                             {"overrides", boost::json::value_from(input.layout.overrides)}};
  out["model"] = input.options.model;
  out["entry"] = input.capability.entry.is_object() ? input.capability.entry : Json(JsonObject());
  out["tokenizer"] = JsonObject{{"encoding", input.counter.name()},
                                {"exact", input.counter.exact()},
                                {"margin", input.counter.margin()}};
  out["budget"] = BudgetJson(input);
  out["sections"] = std::move(sections);
  JsonObject cache{{"mode", CacheModeName(input.capability.cache.mode)},
                   {"points", PointsJson(input.cache)},
                   {"stable_tokens", StableTokens(*parts)},
                   {"expected_cached", nullptr},
                   {"first_difference", nullptr},
                   {"warm_first", input.layout.cache.warm_first == LayoutCache::WarmFirst::kYes}};
  if (!input.options.previous.is_null()) {
    AddComparison(input.capability.cache, input.options.previous, out, &cache);
  }
  out["cache"] = std::move(cache);
  out["repairs"] = RepairsJson(input.arranged.repairs);
  out["warnings"] = WarningsJson(input, *parts);
  out["messages_sha256"] = Sha256Hex(dossier::ToJson(ToCanonicalJson(input.arranged.messages)));
  return out;
}

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

  // Text added by repairs belongs to what comes first.
  Zone ZoneOf(const Block& block) const {
    const auto found = zones_.find(block.section);
    return found == zones_.end() ? Zone::kStable : found->second;
  }

  // Counts whole messages, so that a prefix is counted as it is sent.
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

  // Finds the last block of each zone, by place in the prompt.
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

  // Returns the turn with which the newest exchange, or the newest tool call, begins.
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

  // A turn with many tool calls exceeds the provider's look-back of 20 blocks: adds a point every
  // 15 blocks, from the end.
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

  // Candidates are ordered by worth; points are reported in prompt order.
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

  // Returns the layout's wish, if the provider supports it.
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

  // From the end: a point lives at least as long as those after it.
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
