#include "memory/search/text_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace dossier::memory {

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
  std::vector<TextRow>().swap(rows);  // half of the memory that a search needs at its most
  window_lengths_.reserve(count);
  for (TextNumber text = 0; text < count; ++text) {
    std::uint32_t length = lengths_[text];
    if (HasBefore(text)) length += lengths_[text - 1];
    if (HasAfter(text)) length += lengths_[text + 1];
    window_lengths_.push_back(length);
    total_window_length_ += length;
  }
}

double TextTable::average_length(Unit unit) const {
  if (ids_.empty()) return 0;
  const std::uint64_t total = unit == Unit::kRecord ? total_length_ : total_window_length_;
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
  ForEachText(*table_, Unit::kWindow, postings.records,
              [&](TextNumber, std::uint32_t) { ++postings.windows; });
  return postings;
}

}  // namespace dossier::memory
