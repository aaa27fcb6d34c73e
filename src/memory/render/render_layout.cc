// The layout of memory under a budget: pure.

#include <algorithm>
#include <limits>

#include "base/text/utf8.h"
#include "memory/render/render.h"

namespace dossier::memory {
namespace {

constexpr std::array<std::string_view, kMemorySections> kTitles = {
    "Resource Index", "Core Memory", "Recall Memory", "Archival Memory", "Resource Memory"};
constexpr std::array<std::int64_t, kMemorySections> kShares = {15, 30, 25, 20, 10};  // percent
// Who gets what the others leave, first to last.
constexpr std::array<MemorySection, kMemorySections> kRestOrder = {
    MemorySection::kCore, MemorySection::kRecall, MemorySection::kArchival, MemorySection::kIndex,
    MemorySection::kResource};
constexpr std::string_view kBlankLine = "\n\n";
constexpr std::string_view kRule = "\n\n---\n\n";
constexpr std::uint64_t kLeastCut = 40;  // code points: less of an item says nothing
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 4;
constexpr int kMostPasses = 8;

// Code points and tokens, of a text or left for one.
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

// Of one line break more or less, tokens may come out differently than the sum of their parts; the
// whole text is counted at the end.
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

// `item` cut to `room`; "" if less than kLeastCut code points would be left of it.
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

// One section: what it needs, and what of it fits a room.
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

  // The body under its title, at most `room`; "" if not even the number of its items fits.
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
  // The index is one text: there is nothing to count.
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

  // Items that fit with the line about the others behind them; how many.
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

  // The first that did not fit, in what is left.
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

// What each section may take of `budget`.
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

}  // namespace dossier::memory
