#include "memory/search/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace dossier::memory {
namespace {

constexpr double kK1 = 1.2, kB = 0.75;
constexpr double kRoundTo = 1e9;
constexpr double kFirstPlace = 20;

// k1·b / avglen: how much each term of a text reduces the value of a count.
double Slope(const TextTable& table, ScoredUnit unit) {
  return kK1 * kB / std::max(table.average_length(unit), 1e-300);
}

// f / (f + k1·(1−b+b·len/avglen)): the value of a count in a text of that length.
double Saturated(double slope, std::uint32_t f, std::uint32_t length) {
  return f / (f + kK1 * (1 - kB) + slope * length);
}

// The same, precomputed for the small counts and lengths of nearly all texts.
class Saturation {
 public:
  Saturation(const TextTable& table, ScoredUnit unit)
      : lengths_(table.lengths(unit)), slope_(Slope(table, unit)) {
    for (std::uint32_t f = 1; f < kCounts; ++f) {
      for (std::uint32_t length = 0; length < kLengths; ++length) {
        known_[f][length] = Saturated(slope_, f, length);
      }
    }
  }

  double Of(TextNumber text, std::uint32_t f) const {
    const std::uint32_t length = lengths_[text];
    return f < kCounts && length < kLengths ? known_[f][length] : Saturated(slope_, f, length);
  }

 private:
  static constexpr std::uint32_t kCounts = 4, kLengths = 96;

  const std::vector<std::uint32_t>& lengths_;
  double slope_;
  double known_[kCounts][kLengths];  // by count from 1, length
};

// The factor for the saturation of a term.
double TermWeight(const TextTable& table, ScoredUnit unit, const TermPostings& term) {
  return Idf(table.size(), term.texts(unit)) * (kK1 + 1);
}

// Keeps the best `limit` of the texts that it receives.
class Selection {
 public:
  Selection(const TextTable& table, std::size_t limit) : table_(table), limit_(limit) {}

  // A score that is not above this cannot be kept, whatever rounding does.
  double Floor() const {
    return best_.size() == limit_ ? std::max(best_.front().score - 1 / kRoundTo, 0.0) : 0.0;
  }

  void Take(TextNumber text, double score) {
    const RankedText candidate{text, RoundScore(score)};
    const auto is_better = [&](const RankedText& a, const RankedText& b) { return IsBetter(a, b); };
    if (best_.size() == limit_) {
      if (!IsBetter(candidate, best_.front())) return;
      std::ranges::pop_heap(best_, is_better);
      best_.back() = candidate;
    } else {
      best_.push_back(candidate);
    }
    std::ranges::push_heap(best_, is_better);
  }

  std::vector<RankedText> Finish() && {
    std::ranges::sort(best_,
                      [&](const RankedText& a, const RankedText& b) { return IsBetter(a, b); });
    return std::move(best_);
  }

 private:
  bool IsBetter(const RankedText& a, const RankedText& b) const {
    return a.score != b.score ? a.score > b.score : table_.IsNewer(a.text, b.text);
  }

  const TextTable& table_;
  std::size_t limit_;
  std::vector<RankedText> best_;  // a heap, the worst in front
};

}  // namespace

double RoundScore(double score) { return std::round(score * kRoundTo) / kRoundTo; }

double Idf(std::uint64_t texts, std::uint64_t with_term) {
  const auto all = static_cast<double>(texts), with = static_cast<double>(with_term);
  return std::log(1 + (all - with + 0.5) / (with + 0.5));
}

std::vector<RankedText> BestTexts(const TextTable& table, ScoredUnit unit,
                                  std::span<const TermPostings* const> terms,
                                  const std::vector<bool>* allowed, std::size_t limit) {
  if (limit == 0) return {};
  std::vector<double> scores(table.size(), 0.0);
  const Saturation saturation(table, unit);
  for (const TermPostings* term : terms) {
    const double weight = TermWeight(table, unit, *term);
    ForEachText(table, unit, term->records, [&](TextNumber text, std::uint32_t f) {
      scores[text] += weight * saturation.Of(text, f);
    });
  }
  return TakeBest(table, scores, allowed, limit);
}

std::vector<RankedText> TakeBest(const TextTable& table, std::span<const double> scores,
                                 const std::vector<bool>* allowed, std::size_t limit) {
  if (limit == 0) return {};
  Selection best(table, limit);
  constexpr TextNumber kBlock = 64;  // texts skipped together: most are too low
  double floor = 0;
  for (TextNumber start = 0; start < table.size(); start += kBlock) {
    const TextNumber end = std::min(start + kBlock, table.size());
    bool any = false;
    for (TextNumber text = start; text < end; ++text) any |= scores[text] > floor;
    if (!any) continue;
    for (TextNumber text = start; text < end; ++text) {
      if (!(scores[text] > floor) || (allowed != nullptr && !(*allowed)[text])) continue;
      best.Take(text, scores[text]);
      floor = best.Floor();
    }
  }
  return std::move(best).Finish();
}

ScorePart ExplainPart(const TextTable& table, ScoredUnit unit, const TermPostings& term,
                      TextNumber text) {
  std::uint32_t f = term.records.CountIn(text);
  if (unit == ScoredUnit::kWindow) {
    if (table.HasBefore(text)) f += term.records.CountIn(text - 1);
    if (table.HasAfter(text)) f += term.records.CountIn(text + 1);
  }
  return {.f = f,
          .n = term.texts(unit),
          .idf = Idf(table.size(), term.texts(unit)),
          .part = TermWeight(table, unit, term) *
                  Saturated(Slope(table, unit), f, table.length(unit, text))};
}

double PlacePart(double weight, std::size_t rank) {
  return weight / (kFirstPlace + static_cast<double>(rank));
}

std::vector<FusedText> Fuse(const TextTable& table, std::span<const WeightedList> lists,
                            std::size_t k) {
  std::vector<FusedText> fused;
  std::unordered_map<TextNumber, std::size_t> known;  // place in `fused`
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (std::size_t rank = 0; rank < lists[list].texts.size(); ++rank) {
      const TextNumber text = lists[list].texts[rank].text;
      const auto [at, is_new] = known.emplace(text, fused.size());
      if (is_new)
        fused.push_back(
            {.text = text, .ranks = std::vector<std::optional<std::size_t>>(lists.size())});
      FusedText& hit = fused[at->second];
      hit.ranks[list] = rank;
      hit.score += PlacePart(lists[list].weight, rank);
    }
  }
  for (FusedText& hit : fused) hit.score = RoundScore(hit.score);
  std::ranges::sort(fused, [&](const FusedText& a, const FusedText& b) {
    return a.score != b.score ? a.score > b.score : table.IsNewer(a.text, b.text);
  });
  if (fused.size() > k) fused.resize(k);
  return fused;
}

TextTable::TextTable(std::vector<TextRow> rows) {
  std::ranges::sort(rows, {},
                    [](const TextRow& row) { return std::tuple(row.thread, row.at, row.id); });
  const std::size_t count = rows.size();
  ids_.reserve(count);
  lengths_.reserve(count);
  first_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const TextRow& row = rows[i];
    ids_.push_back(row.id);
    lengths_.push_back(row.length);
    first_.push_back(row.thread == 0 || i == 0 || rows[i - 1].thread != row.thread);
    total_length_ += row.length;
  }
  by_id_.resize(count);
  std::iota(by_id_.begin(), by_id_.end(), 0U);
  std::ranges::sort(by_id_, {},
                    [&](TextNumber text) { return std::tuple(rows[text].at, rows[text].id); });
  ages_.resize(count);
  for (std::uint32_t age = 0; age < count; ++age) ages_[by_id_[age]] = age;
  std::ranges::sort(by_id_, {}, [&](TextNumber text) { return ids_[text]; });
  std::vector<TextRow>().swap(rows);  // half of a search's peak memory
  window_lengths_.reserve(count);
  for (TextNumber text = 0; text < count; ++text) {
    std::uint32_t length = lengths_[text];
    if (HasBefore(text)) length += lengths_[text - 1];
    if (HasAfter(text)) length += lengths_[text + 1];
    window_lengths_.push_back(length);
    total_window_length_ += length;
  }
}

double TextTable::average_length(ScoredUnit unit) const {
  if (ids_.empty()) return 0;
  const std::uint64_t total = unit == ScoredUnit::kRecord ? total_length_ : total_window_length_;
  return static_cast<double>(total) / static_cast<double>(ids_.size());
}

std::optional<TextNumber> TextTable::Find(std::int64_t id) const {
  return IdCursor(*this).Find(id);
}

std::optional<TextNumber> IdCursor::Find(std::int64_t id) {
  const std::vector<TextNumber>& order = table_->by_id_;
  const auto id_at = [&](std::size_t place) { return table_->ids_[order[place]]; };
  if (place_ > 0 && id_at(place_ - 1) >= id) place_ = 0;
  std::size_t step = 1;
  while (place_ + step <= order.size() && id_at(place_ + step - 1) < id) {
    place_ += step;
    step *= 2;
  }
  const std::size_t end = std::min(place_ + step, order.size());
  const auto found = std::partition_point(order.begin() + static_cast<std::ptrdiff_t>(place_),
                                          order.begin() + static_cast<std::ptrdiff_t>(end),
                                          [&](TextNumber text) { return table_->ids_[text] < id; });
  place_ = static_cast<std::size_t>(found - order.begin());
  if (place_ == order.size() || id_at(place_) != id) return std::nullopt;
  return order[place_];
}

std::uint32_t Postings::LargeCount(TextNumber text) const {
  return std::ranges::lower_bound(large_, text, {}, &std::pair<TextNumber, std::uint32_t>::first)
      ->second;
}

std::uint32_t Postings::CountIn(TextNumber text) const {
  const auto found = std::ranges::lower_bound(texts_, text);
  if (found == texts_.end() || *found != text) return 0;
  return count(static_cast<std::size_t>(found - texts_.begin()));
}

std::size_t Postings::bytes() const {
  return texts_.capacity() * sizeof(TextNumber) + counts_.capacity() +
         large_.capacity() * sizeof(large_[0]);
}

void Postings::Reserve(std::size_t size) {
  texts_.reserve(size);
  counts_.reserve(size);
}

void Postings::Append(TextNumber text, std::uint32_t count) {
  texts_.push_back(text);
  counts_.push_back(static_cast<std::uint8_t>(std::min<std::uint32_t>(count, kLarge)));
  if (count >= kLarge) large_.emplace_back(text, count);
}

void PostingsBuilder::Add(std::int64_t id, std::uint32_t count) {
  if (id != last_id_) {
    last_id_ = id;
    last_text_ = cursor_.Find(id);
    if (last_text_) places_.emplace_back(*last_text_, 0);
  }
  if (last_text_) places_.back().second += count;
}

TermPostings PostingsBuilder::Finish() && {
  if (!std::ranges::is_sorted(places_)) std::ranges::sort(places_);
  TermPostings postings;
  postings.records.Reserve(places_.size());
  for (const auto& [text, count] : places_) postings.records.Append(text, count);
  ForEachText(*table_, ScoredUnit::kWindow, postings.records,
              [&](TextNumber, std::uint32_t) { ++postings.windows; });
  return postings;
}

}  // namespace dossier::memory
