#include "memory/render/render.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/rounds.h"
#include "memory/consolidate/pressure.h"

namespace dossier::memory {

JsonObject AccountingJson(const RenderAccounting& accounting) {
  JsonArray dropped;
  for (const DroppedItem& item : accounting.dropped) {
    dropped.push_back(
        JsonObject{{"section", item.section}, {"id", item.id}, {"reason", item.reason}});
  }
  JsonObject json{{"budget_chars", nullptr},
                  {"rendered_chars", accounting.rendered_chars},
                  {"task_hint", accounting.task_hint},
                  {"core_count", accounting.core_count},
                  {"recall_count", accounting.recall_count},
                  {"archival_count", accounting.archival_count},
                  {"resource_items", accounting.resource_items},
                  {"core_items", accounting.core_items},
                  {"recall_items", accounting.recall_items},
                  {"archival_items", accounting.archival_items},
                  {"archival_query", accounting.archival_query},
                  {"archival_k", accounting.archival_k},
                  {"dropped", std::move(dropped)},
                  {"seq", accounting.seq}};
  if (accounting.budget_chars) json["budget_chars"] = *accounting.budget_chars;
  if (accounting.budget_tokens) json["budget_tokens"] = *accounting.budget_tokens;
  const double seconds = static_cast<double>(accounting.timing.count()) / 1000.0;
  json["timing"] = JsonObject{{"duration_seconds", seconds}};
  return json;
}

Result<Rendered> Render(const View& view, const StoreLimits& limits, const RenderRequest& request) {
  if (request.budget.tokens && !request.budget.count_tokens) {
    return MakeError(ErrorCode::kInvalidArgument, "a budget in tokens needs a tokenizer");
  }
  const auto now = [&] { return request.stopwatch ? request.stopwatch->Now() : Clock::Steady(); };
  const Clock::Steady start = now();
  DOSSIER_ASSIGN_OR_RETURN(GatheredMemory gathered, GatherMemory(view, limits, request));
  LaidOut laid = LayOut(gathered.material, request.budget);
  Rendered rendered{.text = std::move(laid.text), .accounting = std::move(gathered.accounting)};
  RenderAccounting& accounting = rendered.accounting;
  const auto shown = [&](MemorySection section) {
    return laid.shown[static_cast<std::size_t>(section)];
  };
  accounting.core_items = shown(MemorySection::kCore);
  accounting.recall_items = shown(MemorySection::kRecall);
  accounting.archival_items = shown(MemorySection::kArchival);
  accounting.resource_items = shown(MemorySection::kResource);
  accounting.dropped = std::move(laid.dropped);
  accounting.rendered_chars = static_cast<std::int64_t>(utf8::CodePoints(rendered.text));
  accounting.timing = std::chrono::duration_cast<Millis>(now() - start);
  return rendered;
}

// Collects what a prompt could show from a view.
namespace {

constexpr std::string_view kResourceTag = "RESOURCE_ITEM";
constexpr std::int64_t kResourceChars = 1200;

// Makes a text harmless and valid and indents further lines, so that it cannot look like a section.
std::string Lines(std::string_view text) {
  std::string clean = Harmless(text);
  if (!utf8::IsValid(clean)) clean = utf8::Sanitize(clean);
  return ReplaceAll(clean, "\n", "\n  ");
}

bool IsResource(const Record& record) {
  return std::ranges::find(record.tags, kResourceTag) != record.tags.end();
}

MemoryItem RecordItem(std::string_view head, const Record& record, std::string_view text) {
  MemoryItem item{.id = fmt::format("#{}", record.id),
                  .text = fmt::format("- {}{}", head, Lines(text)),
                  .tail = fmt::format(" {{#{}}}", record.id)};
  if (!record.tags.empty()) {
    item.more = fmt::format(" (tags: {})", Lines(Join(record.tags, ", ")));
  }
  return item;
}

void TakeInOrder(MemoryMaterial::Part& part) {
  part.taking.resize(part.items.size());
  std::iota(part.taking.begin(), part.taking.end(), std::size_t{0});
}

// Printed by key, selected by importance.
MemoryMaterial::Part CorePart(const std::vector<CoreEntry>& entries) {
  MemoryMaterial::Part part;
  std::vector<int> importance;
  for (const CoreEntry& entry : entries) {
    if (IsHiddenKey(entry.key)) continue;
    part.items.push_back(
        {.id = entry.key, .text = fmt::format("- {}: {}", Lines(entry.key), Lines(entry.value))});
    importance.push_back(entry.importance);
  }
  TakeInOrder(part);
  std::ranges::stable_sort(part.taking, std::ranges::greater(),
                           [&](std::size_t index) { return importance[index]; });
  return part;
}

// Summaries of inherited events come first, then the window, oldest first. Selected: summaries,
// then the newest events.
MemoryMaterial::Part RecallPart(const std::vector<Record>& summaries,
                                const std::vector<Record>& window) {
  MemoryMaterial::Part part;
  for (const Record& summary : summaries) {
    part.items.push_back({.id = fmt::format("#{}", summary.id),
                          .text = "- [inherited_summary] " + Lines(summary.text)});
  }
  for (const Record& event : window) {
    part.items.push_back(RecordItem(fmt::format("[{}] ", Lines(event.kind)), event, event.text));
  }
  TakeInOrder(part);
  std::reverse(part.taking.begin() + static_cast<std::ptrdiff_t>(summaries.size()),
               part.taking.end());
  return part;
}

Result<std::vector<Record>> Best(const View& view, const std::string& query, int k,
                                 std::vector<std::string> tags) {
  std::vector<Record> records;
  if (k <= 0) return records;
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<Hit> hits,
      view.Search(
          {.text = query, .k = k, .tiers = {SearchTier::kArchival}, .tags = std::move(tags)}));
  for (Hit& hit : hits) records.push_back(std::move(hit.record));
  return records;
}

// Excludes resources and summaries, which have sections of their own; they may fill up to `others`
// places of a search.
Result<MemoryMaterial::Part> ArchivalPart(const View& view, const StoreLimits& limits,
                                          const std::string& query, std::int64_t others) {
  MemoryMaterial::Part part;
  const auto k = static_cast<std::int64_t>(limits.retrieval_k);
  DOSSIER_ASSIGN_OR_RETURN(
      const std::vector<Record> records,
      Best(view, query, static_cast<int>(std::min<std::int64_t>(k + others, 10'000)), {}));
  for (const Record& record : records) {
    if (std::ssize(part.items) == k) break;
    if (IsResource(record) || record.tier == Tier::kSummary) continue;
    part.items.push_back(
        RecordItem("", record, CutText(record.text, limits.archival_snippet_budget_chars)));
  }
  TakeInOrder(part);
  return part;
}

// Ordered by rank; without a query, by id.
Result<MemoryMaterial::Part> ResourcePart(const View& view, const StoreLimits& limits,
                                          const std::string& query, std::vector<Record> resources) {
  if (query.empty()) {
    std::ranges::sort(resources, {}, &Record::id);
  } else {
    DOSSIER_ASSIGN_OR_RETURN(resources,
                             Best(view, query, limits.retrieval_k, {std::string(kResourceTag)}));
  }
  if (std::cmp_greater(resources.size(), limits.retrieval_k)) {
    resources.resize(static_cast<std::size_t>(std::max(limits.retrieval_k, 0)));
  }
  MemoryMaterial::Part part;
  for (const Record& record : resources) {
    part.items.push_back({.id = fmt::format("#{}", record.id),
                          .text = utf8::Sanitize(Harmless(CutText(record.text, kResourceChars)))});
  }
  TakeInOrder(part);
  return part;
}

std::string StatusLine(const View& view, const StoreLimits& limits, std::size_t window,
                       const ViewCounts& counts) {
  return fmt::format("core {}/{} characters, recall {} of {} events, archival {} records",
                     CoreChars(view.AllCore(), view.branch()), limits.core_max_chars, window,
                     counts.events, counts.archival);
}

}  // namespace

Result<GatheredMemory> GatherMemory(const View& view, const StoreLimits& limits,
                                    const RenderRequest& request) {
  GatheredMemory gathered;
  auto& parts = gathered.material.parts;
  const auto part = [&parts](MemorySection section) -> MemoryMaterial::Part& {
    return parts.at(static_cast<std::size_t>(section));
  };
  const std::string query(TrimSpace(request.query));
  DOSSIER_ASSIGN_OR_RETURN(const ViewCounts counts, view.Counts());
  DOSSIER_ASSIGN_OR_RETURN(std::vector<Record> summaries,
                           view.Records({.tiers = {Tier::kSummary}}));
  std::ranges::reverse(summaries);
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> window, view.Window(limits.recall_max_events));
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<Record> resources,
      view.Records({.tiers = {Tier::kArchival}, .tags = {std::string(kResourceTag)}}));
  const std::int64_t others = std::ssize(resources) + std::ssize(summaries);
  const std::int64_t resource_count = std::ssize(resources);

  if (const auto index = view.Core("RESOURCE_INDEX"); index && !index->value.empty()) {
    part(MemorySection::kIndex).items.push_back({.text = utf8::Sanitize(Harmless(index->value))});
    TakeInOrder(part(MemorySection::kIndex));
  }
  part(MemorySection::kCore) = CorePart(view.AllCore());
  part(MemorySection::kRecall) = RecallPart(summaries, window);
  if (!query.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(part(MemorySection::kArchival),
                             ArchivalPart(view, limits, query, others));
  }
  DOSSIER_ASSIGN_OR_RETURN(part(MemorySection::kResource),
                           ResourcePart(view, limits, query, std::move(resources)));
  if (request.status_line == RenderRequest::StatusLine::kYes) {
    gathered.material.status_line = StatusLine(view, limits, window.size(), counts);
  }
  if (request.help) gathered.material.help = TrimSpace(HelpText(*request.help));

  gathered.accounting = {.budget_chars = request.budget.chars,
                         .budget_tokens = request.budget.tokens,
                         .task_hint = request.hint,
                         .core_count = std::ssize(part(MemorySection::kCore).items),
                         .recall_count = counts.events,
                         .archival_count = counts.archival - resource_count,
                         .archival_query = query,
                         .archival_k = limits.retrieval_k,
                         .seq = view.at()};
  return gathered;
}

// Lays out memory within a budget; pure.
namespace {

constexpr std::array<std::string_view, kMemorySections> kTitles = {
    "Resource Index", "Core Memory", "Recall Memory", "Archival Memory", "Resource Memory"};
constexpr std::array<std::int64_t, kMemorySections> kShares = {15, 30, 25, 20, 10};  // percent
// The order in which sections get the budget that others leave.
constexpr std::array<MemorySection, kMemorySections> kRestOrder = {
    MemorySection::kCore, MemorySection::kRecall, MemorySection::kArchival, MemorySection::kIndex,
    MemorySection::kResource};
constexpr std::string_view kBlankLine = "\n\n";
constexpr std::string_view kRule = "\n\n---\n\n";
constexpr std::uint64_t kLeastCut = 40;  // code points: a shorter part of an item is useless
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 4;
constexpr int kMostPasses = 8;

// Code points and tokens of a text, or the amounts left.
struct Amount {
  std::int64_t chars = 0;
  std::int64_t tokens = 0;

  friend Amount operator+(Amount a, Amount b) { return {a.chars + b.chars, a.tokens + b.tokens}; }
  friend Amount operator-(Amount a, Amount b) { return {a.chars - b.chars, a.tokens - b.tokens}; }
  bool Within(Amount room) const { return chars <= room.chars && tokens <= room.tokens; }
};

Amount Least(Amount a, Amount b) {
  return {std::min(a.chars, b.chars), std::min(a.tokens, b.tokens)};
}
Amount AtLeastZero(Amount a) {
  return {std::max<std::int64_t>(a.chars, 0), std::max<std::int64_t>(a.tokens, 0)};
}

// The tokens of a text may differ from the sum of its parts by about one line break; the whole text
// is counted at the end.
class Measure {
 public:
  explicit Measure(const RenderBudget& budget) : budget_(budget) {}
  Amount Of(std::string_view text) const {
    Amount amount;
    if (text.empty()) return amount;
    if (budget_.chars) amount.chars = static_cast<std::int64_t>(utf8::CodePoints(text));
    if (budget_.tokens) amount.tokens = budget_.count_tokens(text);
    return amount;
  }
  Amount Whole() const {
    return AtLeastZero({budget_.chars.value_or(kNoLimit), budget_.tokens.value_or(kNoLimit)});
  }

 private:
  const RenderBudget& budget_;
};

std::string More(std::size_t count) { return fmt::format("- (+{} more)", count); }

std::string Whole(const MemoryItem& item) { return item.text + item.more + item.tail; }

// Cuts `item` to `room`; returns "" if fewer than kLeastCut code points would remain.
std::string Cut(const MemoryItem& item, Amount room, const Measure& measure) {
  const auto cut = [&item](std::uint64_t keep) {
    return std::string(utf8::Prefix(item.text, keep)) + "…" + item.tail;
  };
  std::uint64_t fits = 0;
  std::uint64_t too_long = utf8::CodePoints(item.text);
  while (fits + 1 < too_long) {
    const std::uint64_t middle = fits + (too_long - fits) / 2;
    (measure.Of(cut(middle)).Within(room) ? fits : too_long) = middle;
  }
  std::string text = cut(fits);
  if (utf8::CodePoints(text) < kLeastCut || !measure.Of(text).Within(room)) return {};
  return text;
}

// One section: what it needs, and which part of it fits an amount.
class Part {
 public:
  Part(MemorySection section, const MemoryMaterial::Part& part, const Measure& measure)
      : section_(section), part_(part), measure_(measure) {
    for (const MemoryItem& item : part.items) costs_.push_back(measure.Of(Whole(item)));
    need_ = Head();
    for (const Amount& cost : costs_) need_ = need_ + cost;
    for (std::size_t i = 1; i < costs_.size(); ++i) need_ = need_ + measure.Of(Between());
  }

  bool present() const { return !part_.items.empty(); }
  Amount need() const { return need_; }

  // Returns the body below its title, at most `room`; "" if not even its item count fits.
  std::string Fit(Amount room, LaidOut& laid) const {
    std::vector<std::string> texts(part_.items.size());
    if (need_.Within(room)) {
      std::ranges::transform(part_.items, texts.begin(), Whole);
      return Print(texts, 0, laid);
    }
    Amount left = room - Head();
    const std::size_t whole = TakeWhole(left, texts);
    const bool has_cut = whole < part_.taking.size() && TakeCut(left, whole, texts);
    std::size_t taken = whole + (has_cut ? 1 : 0);
    const bool counts = taken < part_.taking.size() && IsList();
    if (counts) left = left - MoreLine(part_.taking.size() - taken, taken > 0);
    if (left.chars < 0 || left.tokens < 0) taken = 0;
    for (std::size_t i = 0; i < part_.taking.size(); ++i) {
      const MemoryItem& item = part_.items[part_.taking[i]];
      const bool shown_whole = i < taken && texts[part_.taking[i]] == Whole(item);
      if (!shown_whole) Drop(item.id, i < taken ? "cut" : "budget", laid);
    }
    if (left.chars < 0 || left.tokens < 0) return {};
    return Print(texts, counts ? part_.taking.size() - taken : 0, laid);
  }

 private:
  // The index is a single text, so there is nothing to count.
  bool IsList() const { return section_ != MemorySection::kIndex; }
  std::string_view Between() const {
    return section_ == MemorySection::kResource ? kRule : std::string_view("\n");
  }
  std::string Title() const { return fmt::format("{}:\n", SectionTitle(section_)); }
  Amount Head() const { return measure_.Of(Title()); }
  Amount MoreLine(std::size_t count, bool behind_items) const {
    return measure_.Of(More(count)) + (behind_items ? measure_.Of(Between()) : Amount{});
  }
  void Drop(const std::string& id, std::string_view reason, LaidOut& laid) const {
    laid.dropped.push_back({std::string(SectionTitle(section_)), id, std::string(reason)});
  }

  // Takes items while they fit with the line about the others after them; returns their number.
  std::size_t TakeWhole(Amount& left, std::vector<std::string>& texts) const {
    const Amount between = measure_.Of(Between());
    const Amount more = IsList() ? MoreLine(part_.items.size(), true) : Amount{};
    std::size_t taken = 0;
    for (; taken < part_.taking.size(); ++taken) {
      const std::size_t index = part_.taking[taken];
      const Amount cost = costs_[index] + (taken == 0 ? Amount{} : between);
      if (!(cost + more).Within(left)) break;
      left = left - cost;
      texts[index] = Whole(part_.items[index]);
    }
    return taken;
  }

  // Takes the first item that did not fit, cut to the remaining amount.
  bool TakeCut(Amount& left, std::size_t next, std::vector<std::string>& texts) const {
    const std::size_t behind = part_.taking.size() - next - 1;
    Amount room = left;
    if (next > 0) room = room - measure_.Of(Between());
    if (behind > 0) room = room - MoreLine(behind, true);
    const std::size_t index = part_.taking[next];
    const MemoryItem& item = part_.items[index];
    texts[index] = costs_[index].Within(room) ? Whole(item) : Cut(item, room, measure_);
    if (texts[index].empty()) return false;
    left = left - measure_.Of(texts[index]);
    if (next > 0) left = left - measure_.Of(Between());
    return true;
  }

  std::string Print(const std::vector<std::string>& texts, std::size_t missing,
                    LaidOut& laid) const {
    std::string body;
    std::int64_t shown = 0;
    for (const std::string& text : texts) {
      if (text.empty()) continue;
      if (shown++ > 0) body += Between();
      body += text;
    }
    if (missing > 0) {
      if (shown > 0) body += Between();
      body += More(missing);
    }
    laid.shown[static_cast<std::size_t>(section_)] = shown;
    return body.empty() ? "" : Title() + body;
  }

  const MemorySection section_;
  const MemoryMaterial::Part& part_;
  const Measure& measure_;
  std::vector<Amount> costs_;
  Amount need_;
};

Amount Share(Amount budget, std::int64_t share, std::int64_t of) {
  const auto part = [&](std::int64_t whole) {
    return whole / of * share + whole % of * share / of;
  };
  return {part(budget.chars), part(budget.tokens)};
}

// Returns how much of `budget` each section may use.
std::array<Amount, kMemorySections> Grants(const std::vector<Part>& parts, Amount budget) {
  std::int64_t shares = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) shares += parts[i].present() ? kShares.at(i) : 0;
  std::array<Amount, kMemorySections> grants{};
  if (shares == 0) return grants;
  Amount rest = budget;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].present()) continue;
    grants.at(i) = Least(parts[i].need(), Share(budget, kShares.at(i), shares));
    rest = rest - grants.at(i);
  }
  for (const MemorySection section : kRestOrder) {
    const auto i = static_cast<std::size_t>(section);
    if (!parts[i].present()) continue;
    const Amount more = Least(parts[i].need() - grants.at(i), rest);
    grants.at(i) = grants.at(i) + more;
    rest = rest - more;
  }
  return grants;
}

void Append(std::string_view text, std::string& all) {
  if (text.empty()) return;
  if (!all.empty()) all += kBlankLine;
  all += text;
}

LaidOut LayOutOnce(const MemoryMaterial& material, const Measure& measure, Amount budget) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < kMemorySections; ++i) {
    parts.emplace_back(static_cast<MemorySection>(i), material.parts.at(i), measure);
  }
  const Amount blank = measure.Of(kBlankLine);
  std::string extras;
  LaidOut laid;
  for (const auto& [name, extra] :
       {std::pair("Status", &material.status_line), std::pair("Help", &material.help)}) {
    const Amount cost = measure.Of(*extra) + (extra->empty() ? Amount{} : blank);
    if (cost.Within(budget)) {
      budget = budget - cost;
      Append(*extra, extras);
    } else {
      laid.dropped.push_back({name, "", "budget"});
    }
  }
  const auto present =
      std::ranges::count_if(parts, [](const Part& part) { return part.present(); });
  for (std::ptrdiff_t i = 1; i < present; ++i) budget = AtLeastZero(budget - blank);
  const std::array<Amount, kMemorySections> grants = Grants(parts, budget);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].present()) Append(parts[i].Fit(grants.at(i), laid), laid.text);
  }
  Append(extras, laid.text);
  return laid;
}

}  // namespace

std::string_view SectionTitle(MemorySection section) {
  return kTitles.at(static_cast<std::size_t>(section));
}

LaidOut LayOut(const MemoryMaterial& material, const RenderBudget& budget) {
  const Measure measure(budget);
  const Amount whole = measure.Whole();
  Amount room = whole;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    LaidOut laid = LayOutOnce(material, measure, room);
    const Amount used = measure.Of(laid.text);
    if (used.Within(whole)) return laid;
    room = AtLeastZero(room - AtLeastZero(used - whole) - Amount{1, 1});
  }
  return {};
}

namespace {

MemoryMaterial::Part& PartOf(MemoryMaterial& material, MemorySection section) {
  return material.parts[static_cast<std::size_t>(section)];
}

// Returns the window size at which `limits.recall_max_events` of its events are not elsewhere.
Result<int> WindowSize(const View& view, const StoreLimits& limits,
                       const std::set<std::int64_t>& elsewhere) {
  if (elsewhere.empty()) return limits.recall_max_events;
  const int most = limits.recall_max_events + static_cast<int>(elsewhere.size());
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> window, view.Window(most));
  int size = 0;
  int others = 0;
  for (auto event = window.rbegin(); event != window.rend(); ++event, ++size) {
    if (elsewhere.contains(event->id)) continue;
    if (++others > limits.recall_max_events) break;
  }
  return size;
}

// Removes the items whose ids are in `gone`.
void Remove(const std::set<std::string>& gone, MemoryMaterial::Part* part) {
  constexpr std::size_t kGone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(part->items.size(), kGone);
  std::vector<MemoryItem> kept;
  for (std::size_t i = 0; i < part->items.size(); ++i) {
    if (gone.contains(part->items[i].id)) continue;
    place[i] = kept.size();
    kept.push_back(std::move(part->items[i]));
  }
  part->items = std::move(kept);
  std::erase_if(part->taking, [&](std::size_t at) { return place[at] == kGone; });
  for (std::size_t& at : part->taking) at = place[at];
}

// Returns what is left of `budget` after `text`.
RenderBudget Rest(RenderBudget budget, std::string_view text) {
  if (budget.chars) {
    *budget.chars = std::max<std::int64_t>(
        0, *budget.chars - static_cast<std::int64_t>(utf8::CodePoints(text)));
  }
  if (budget.tokens && !text.empty()) {
    *budget.tokens = std::max<std::int64_t>(0, *budget.tokens - budget.count_tokens(text));
  }
  return budget;
}

// Moves the core sections out of `material`.
MemoryMaterial TakeCore(MemoryMaterial* material) {
  MemoryMaterial core;
  for (const MemorySection section : {MemorySection::kIndex, MemorySection::kCore}) {
    std::swap(PartOf(core, section), PartOf(*material, section));
  }
  return core;
}

void Account(const LaidOut& laid, RenderAccounting* accounting) {
  const auto shown = [&](MemorySection section) {
    return laid.shown[static_cast<std::size_t>(section)];
  };
  accounting->core_items += shown(MemorySection::kCore);
  accounting->recall_items += shown(MemorySection::kRecall);
  accounting->archival_items += shown(MemorySection::kArchival);
  accounting->resource_items += shown(MemorySection::kResource);
  accounting->rendered_chars += static_cast<std::int64_t>(utf8::CodePoints(laid.text));
  std::ranges::copy(laid.dropped, std::back_inserter(accounting->dropped));
}

}  // namespace

Result<Injection> Inject(const View& view, const StoreLimits& limits,
                         const InjectionRequest& request) {
  const RenderRequest& render = request.render;
  if (render.budget.tokens && !render.budget.count_tokens) {
    return MakeError(ErrorCode::kInvalidArgument, "a budget in tokens needs a tokenizer");
  }
  const auto now = [&] { return render.stopwatch ? render.stopwatch->Now() : Clock::Steady(); };
  const Clock::Steady start = now();
  StoreLimits wide = limits;
  DOSSIER_ASSIGN_OR_RETURN(wide.recall_max_events, WindowSize(view, limits, request.elsewhere));
  DOSSIER_ASSIGN_OR_RETURN(GatheredMemory gathered, GatherMemory(view, wide, render));
  std::set<std::string> gone;
  for (const std::int64_t id : request.elsewhere) gone.insert(fmt::format("#{}", id));
  Remove(gone, &PartOf(gathered.material, MemorySection::kRecall));
  Injection out{.accounting = std::move(gathered.accounting)};
  const LaidOut core = LayOut(TakeCore(&gathered.material), render.budget);
  const LaidOut rest = LayOut(gathered.material, Rest(render.budget, core.text));
  Account(core, &out.accounting);
  Account(rest, &out.accounting);
  out.core = core.text;
  out.rest = rest.text;
  out.accounting.timing = std::chrono::duration_cast<Millis>(now() - start);
  return out;
}

}  // namespace dossier::memory
