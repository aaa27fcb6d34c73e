// BM25 over texts and over windows of neighbours, and the fusion of ranked lists. It works on
// arrays alone and needs no database.
//
//   const TextTable& table = …;
//   const std::vector<const TermPostings*> terms = …;   // of the query
//   const std::vector<WeightedList> lists = {
//       {kRecordsWeight, BestTexts(table, ScoredUnit::kRecord, terms, nullptr)},
//       {kWindowsWeight, BestTexts(table, ScoredUnit::kWindow, terms, nullptr)}};
//   for (const FusedText& hit : Fuse(table, lists, /*k=*/10)) Use(table.id(hit.text), hit.score);
//
// The same input gives the same bits. Thread-safety: pure functions.

#ifndef DOSSIER_MEMORY_SEARCH_RANKING_H_
#define DOSSIER_MEMORY_SEARCH_RANKING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "memory/records/types.h"

namespace dossier::memory {

// The texts that a search ranks, by number: lengths, neighbours, age, and the texts that contain a
// term.
//
//   const TextTable table({{.id = 7, .at = 100, .thread = 1, .length = 9},
//                          {.id = 8, .at = 200, .thread = 1, .length = 6}});
//   PostingsBuilder linker(table);
//   linker.Add(7);                                  // once for each occurrence in #7
//   const TermPostings postings = std::move(linker).Finish();
//
// Texts of one thread have consecutive numbers, oldest first, so the neighbours of a text are the
// adjacent numbers. It takes 24 bytes for each text and 5 bytes for each posting.
// Thread-safety: immutable once made.

using TextNumber = std::uint32_t;  // index of a text in its table, from 0

struct TextRow {
  std::int64_t id = 0;  // unique in a table
  Micros at = 0;
  std::uint32_t thread = 0;  // 0: none, the text has no neighbours
  std::uint32_t length = 0;  // in terms
};

// The unit that is scored: a text, or a text joined with its neighbours (one before and one after
// by (time, id) in the same thread).
enum class ScoredUnit : std::uint8_t { kRecord, kWindow };

class TextTable {
 public:
  // At most 2^31 rows, in any order.
  explicit TextTable(std::vector<TextRow> rows);

  TextNumber size() const { return static_cast<TextNumber>(ids_.size()); }
  std::int64_t id(TextNumber text) const { return ids_[text]; }
  std::uint32_t length(ScoredUnit unit, TextNumber text) const { return lengths(unit)[text]; }
  const std::vector<std::uint32_t>& lengths(ScoredUnit unit) const {
    return unit == ScoredUnit::kRecord ? lengths_ : window_lengths_;
  }
  double average_length(ScoredUnit unit) const;
  std::uint64_t total_length() const { return total_length_; }
  // Returns true if the text before (after) this one is a neighbour.
  bool HasBefore(TextNumber text) const { return !first_[text]; }
  bool HasAfter(TextNumber text) const { return text + 1 < size() && !first_[text + 1]; }
  // Compares by (time, id).
  bool IsNewer(TextNumber a, TextNumber b) const { return ages_[a] > ages_[b]; }

  std::optional<TextNumber> Find(std::int64_t id) const;

 private:
  friend class IdCursor;

  std::vector<std::int64_t> ids_;
  std::vector<std::uint32_t> lengths_, window_lengths_;
  std::vector<std::uint32_t> ages_;  // rank by (time, id), 0 the oldest
  std::vector<bool> first_;          // true for the first text of a thread
  std::vector<TextNumber> by_id_;
  std::uint64_t total_length_ = 0, total_window_length_ = 0;
};

// Looks up ids that mostly ascend; each search starts where the last one ended.
class IdCursor {
 public:
  explicit IdCursor(const TextTable& table) : table_(&table) {}
  std::optional<TextNumber> Find(std::int64_t id);

 private:
  const TextTable* table_;
  std::size_t place_ = 0;  // in by_id_
};

// The texts that contain a term, ascending, each with the number of occurrences.
class Postings {
 public:
  std::size_t size() const { return texts_.size(); }
  TextNumber text(std::size_t i) const { return texts_[i]; }
  std::uint32_t count(std::size_t i) const {
    return counts_[i] < kLarge ? counts_[i] : LargeCount(texts_[i]);
  }
  std::uint32_t CountIn(TextNumber text) const;  // 0 if the term is not in it
  std::size_t bytes() const;

  void Reserve(std::size_t size);
  void Append(TextNumber text, std::uint32_t count);  // after all others

 private:
  static constexpr std::uint8_t kLarge = 255;
  std::uint32_t LargeCount(TextNumber text) const;

  std::vector<TextNumber> texts_;
  std::vector<std::uint8_t> counts_;
  std::vector<std::pair<TextNumber, std::uint32_t>> large_;  // counts of kLarge or more
};

struct TermPostings {
  Postings records;
  std::uint32_t windows = 0;  // number of windows that contain the term

  std::uint32_t texts(ScoredUnit unit) const {
    return unit == ScoredUnit::kRecord ? static_cast<std::uint32_t>(records.size()) : windows;
  }
};

// Collects the places of a term; ids that are not in the table are ignored.
class PostingsBuilder {
 public:
  explicit PostingsBuilder(const TextTable& table) : table_(&table), cursor_(table) {}
  void Add(std::int64_t id, std::uint32_t count = 1);
  TermPostings Finish() &&;

 private:
  const TextTable* table_;
  IdCursor cursor_;
  std::optional<std::int64_t> last_id_;
  std::optional<TextNumber> last_text_;
  std::vector<std::pair<TextNumber, std::uint32_t>> places_;
};

// Calls `take(TextNumber, count)` for each `unit` of a text that contains the term, ascending.
template <typename Take>
void ForEachText(const TextTable& table, ScoredUnit unit, const Postings& postings,
                 const Take& take) {
  if (unit == ScoredUnit::kRecord) {
    for (std::size_t i = 0; i < postings.size(); ++i) take(postings.text(i), postings.count(i));
    return;
  }
  // counts[i] belongs to the window around text `first` + i; a posting affects three windows.
  std::int64_t first = 0;
  std::uint32_t counts[3] = {0, 0, 0};
  const auto move_to = [&](std::int64_t next) {
    for (int shift = 0; shift < 3 && first < next; ++shift, ++first) {
      if (counts[0] > 0) take(static_cast<TextNumber>(first), counts[0]);
      counts[0] = counts[1];
      counts[1] = counts[2];
      counts[2] = 0;
    }
    first = next;
  };
  for (std::size_t i = 0; i < postings.size(); ++i) {
    const TextNumber text = postings.text(i);
    const std::uint32_t count = postings.count(i);
    move_to(std::int64_t{text} - 1);
    if (table.HasBefore(text)) counts[0] += count;
    counts[1] += count;
    if (table.HasAfter(text)) counts[2] += count;
  }
  move_to(first + 3);
}

inline constexpr std::size_t kListLimit = 200;  // fusion uses this many texts of a list
inline constexpr double kRecordsWeight = 1.5;
inline constexpr double kWindowsWeight = 1.0;
inline constexpr double kVectorsWeight = 1.0;

// Rounds to 1e-9; scores that round to the same value are equal.
double RoundScore(double score);

// Returns the weight of a term that `with_term` of `texts` texts contain; it is never below 0.
double Idf(std::uint64_t texts, std::uint64_t with_term);

struct RankedText {
  TextNumber text = 0;
  double score = 0;  // rounded
};

// Returns the best `limit` texts by the sum of their terms' parts; on ties the newer first.
// `allowed`, unless null, says which texts may be in the list; it changes no score.
std::vector<RankedText> BestTexts(const TextTable& table, ScoredUnit unit,
                                  std::span<const TermPostings* const> terms,
                                  const std::vector<bool>* allowed, std::size_t limit = kListLimit);

// Returns the best `limit` texts by `scores` (one per text) above 0. `allowed`: as above.
std::vector<RankedText> TakeBest(const TextTable& table, std::span<const double> scores,
                                 const std::vector<bool>* allowed, std::size_t limit);

// The part of one term in the score of one text, with the numbers it was computed from.
struct ScorePart {
  std::uint32_t f = 0, n = 0;
  double idf = 0, part = 0;
};
ScorePart ExplainPart(const TextTable& table, ScoredUnit unit, const TermPostings& term,
                      TextNumber text);

// A ranked list. Each place counts weight / (20 + rank), with ranks from 0.
struct WeightedList {
  double weight = 1.0;
  std::vector<RankedText> texts;  // best first
};
double PlacePart(double weight, std::size_t rank);

struct FusedText {
  TextNumber text = 0;
  double score = 0;                               // rounded
  std::vector<std::optional<std::size_t>> ranks;  // rank in each list, from 0
};

// Returns the best `k` texts that occur in any list, by the sum of their places' parts; on ties the
// newer first.
std::vector<FusedText> Fuse(const TextTable& table, std::span<const WeightedList> lists,
                            std::size_t k);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_RANKING_H_
