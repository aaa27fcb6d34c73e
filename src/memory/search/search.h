// Ranked search over the records of a view: fuses BM25 over records and BM25 over windows of
// neighbours. If the store has an embedder, the windows with the nearest vectors are a third list.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Hit> hits,
//                            view.Search({.text = "Why did the linker fail?", .k = 5}));
//   for (const Hit& hit : hits) Use(hit.record.text, hit.score);
//
// No character in a query has a special meaning. The same store, view and query give the same hits
// and bytes. Plain data; thread-safety: none needed.

#ifndef DOSSIER_MEMORY_SEARCH_SEARCH_H_
#define DOSSIER_MEMORY_SEARCH_SEARCH_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/records/types.h"

namespace dossier::memory {

// The tiers that a query may search. Summaries are searched with archival records.
enum class SearchTier : std::uint8_t { kRecall, kArchival, kCore };

struct Query {
  std::string text;
  int k = 10;  // maximum number of hits; 1 to 200 from a model, any from a person
  std::vector<SearchTier> tiers = {SearchTier::kRecall, SearchTier::kArchival};
  std::vector<std::string> tags;  // a hit has all of these
  std::optional<std::string> kind;
  std::optional<std::string> thread;
  std::optional<Micros> since;  // inclusive
  std::optional<Micros> until;  // inclusive
};

// The part of one term in a score.
struct TermPart {
  std::string term;    // as in the index: "linker"
  std::int64_t f = 0;  // occurrences in this text
  std::int64_t n = 0;  // texts in view that contain it
  double idf = 0;
  double part = 0;
};

// The place of a text in one list.
struct ListPlace {
  std::string list;         // "records", "windows", or a model's name
  std::int64_t rank = 0;    // from 0
  double score = 0;         // rounded to 1e-9
  double part = 0;          // part of the hit's score: weight / (20 + rank)
  std::int64_t length = 0;  // terms
  double average_length = 0;
  std::int64_t texts = 0;  // N
  std::vector<TermPart> terms;
};

struct Hit {
  // A core entry has id 0, its key in `ref`, and the text "key: value".
  Record record;
  SearchTier tier = SearchTier::kArchival;
  double score = 0;               // fused, rounded to 1e-9
  std::vector<ListPlace> places;  // one for each list that contains it
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_SEARCH_H_
