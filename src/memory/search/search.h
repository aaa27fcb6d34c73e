// Ranked search over the records of a view: BM25 over records and over windows of neighbours,
// fused. Where the store has an embedder, the nearest windows by their vectors are a third list.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Hit> hits,
//                            view.Search({.text = "Why did the linker fail?", .k = 5}));
//   for (const Hit& hit : hits) Use(hit.record.text, hit.score);
//
// No character of a query means anything but itself. The same store, view and query give the same
// hits and bytes. Plain data; thread-safety: none needed.

#ifndef DOSSIER_MEMORY_SEARCH_SEARCH_H_
#define DOSSIER_MEMORY_SEARCH_SEARCH_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/records/types.h"

namespace dossier::memory {

// What a query may look through. Summaries are searched with archival records.
enum class SearchTier : std::uint8_t { kRecall, kArchival, kCore };

struct Query {
  std::string text;
  int k = 10;  // hits, at most; 1 to 200 from a model, any from a person
  std::vector<SearchTier> tiers = {SearchTier::kRecall, SearchTier::kArchival};
  std::vector<std::string> tags;  // a hit has all of them
  std::optional<std::string> kind;
  std::optional<std::string> thread;
  std::optional<Micros> since;  // inclusive
  std::optional<Micros> until;  // inclusive
};

// One term's part in a score.
struct TermPart {
  std::string term;    // as the index has it: "linker"
  std::int64_t f = 0;  // in this text
  std::int64_t n = 0;  // texts with it, of those in view
  double idf = 0;
  double part = 0;
};

// A text's place in one list.
struct ListPlace {
  std::string list;         // "records", "windows", a model's name
  std::int64_t rank = 0;    // from 0
  double score = 0;         // rounded to 1e-9
  double part = 0;          // of the hit's score: weight / (20 + rank)
  std::int64_t length = 0;  // terms
  double average_length = 0;
  std::int64_t texts = 0;  // N
  std::vector<TermPart> terms;
};

struct Hit {
  // Of core: id 0, the key in `ref`, the text "key: value".
  Record record;
  SearchTier tier = SearchTier::kArchival;
  double score = 0;               // fused, rounded to 1e-9
  std::vector<ListPlace> places;  // one a list in which it stands
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_SEARCH_H_
