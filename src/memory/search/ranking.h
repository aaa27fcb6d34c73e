// BM25 over texts and over windows of neighbours, and the fusion of ranked lists. Arrays in, arrays
// out; no database.
//
//   const TextTable& table = …;
//   const std::vector<const TermPostings*> terms = …;   // of the query
//   const std::vector<WeightedList> lists = {
//       {kRecordsWeight, BestTexts(table, Unit::kRecord, terms, nullptr)},
//       {kWindowsWeight, BestTexts(table, Unit::kWindow, terms, nullptr)}};
//   for (const FusedText& hit : Fuse(table, lists, /*k=*/10)) Use(table.id(hit.text), hit.score);
//
// The same input gives the same bits. Thread-safety: pure functions.

#ifndef DOSSIER_MEMORY_SEARCH_RANKING_H_
#define DOSSIER_MEMORY_SEARCH_RANKING_H_

#include <optional>
#include <span>
#include <vector>

#include "memory/search/text_table.h"

namespace dossier::memory {

inline constexpr std::size_t kListLimit = 200;  // texts of a list that fusion looks at
inline constexpr double kRecordsWeight = 1.5;
inline constexpr double kWindowsWeight = 1.0;
inline constexpr double kVectorsWeight = 1.0;

// To 1e-9: scores that differ by less are equal.
double RoundScore(double score);

// Of a term that stands in `with_term` of `texts` texts; never below 0.
double Idf(std::uint64_t texts, std::uint64_t with_term);

struct RankedText {
  TextNumber text = 0;
  double score = 0;  // rounded
};

// The best `limit` texts by the sum of their terms' parts; ties: the newer first. `allowed`, unless
// null, says of each text whether it may be in the list; it moves no score.
std::vector<RankedText> BestTexts(const TextTable& table, Unit unit,
                                  std::span<const TermPostings* const> terms,
                                  const std::vector<bool>* allowed, std::size_t limit = kListLimit);

// The best `limit` of the texts by `scores`, one each: those above 0. `allowed` as above.
std::vector<RankedText> TakeBest(const TextTable& table, std::span<const double> scores,
                                 const std::vector<bool>* allowed, std::size_t limit);

// One term's part in the score of one text, with the numbers it was made of.
struct ScorePart {
  std::uint32_t f = 0, n = 0;
  double idf = 0, part = 0;
};
ScorePart ExplainPart(const TextTable& table, Unit unit, const TermPostings& term, TextNumber text);

// Places of a list count weight / (20 + rank), rank from 0.
struct WeightedList {
  double weight = 1.0;
  std::vector<RankedText> texts;  // best first
};
double PlacePart(double weight, std::size_t rank);

struct FusedText {
  TextNumber text = 0;
  double score = 0;                               // rounded
  std::vector<std::optional<std::size_t>> ranks;  // in each list, from 0
};

// The best `k` of all that stand in any list, by the sum of their places' parts; ties: the newer
// first.
std::vector<FusedText> Fuse(const TextTable& table, std::span<const WeightedList> lists,
                            std::size_t k);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_RANKING_H_
