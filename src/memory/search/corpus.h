// The texts of some tiers in a view, prepared once for ranking, with the postings of the terms
// searched for so far.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto corpus, state.searches->Get(connection, state, tiers));
//   DOSSIER_ASSIGN_OR_RETURN(const auto postings, corpus->Find(connection, {"linker", "fftw3"}));
//
// Postings come from the table `search`, or from the texts themselves if that table is not to be
// used; the numbers are the same. They are cached, up to about the size of the index on disk.
// Thread-safety: all methods from any thread. Errors: those of the database.

#ifndef DOSSIER_MEMORY_SEARCH_CORPUS_H_
#define DOSSIER_MEMORY_SEARCH_CORPUS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/search/ranking.h"
#include "memory/search/search.h"
#include "memory/search/vectors.h"
#include "memory/search/view_state.h"

namespace dossier::memory {

// A set of tiers: one bit for each SearchTier.
using TierSet = std::uint8_t;
TierSet ToTierSet(const std::vector<SearchTier>& tiers);
inline bool Has(TierSet tiers, SearchTier tier) {
  return (tiers >> static_cast<unsigned>(tier) & 1U) != 0;
}

// Returns "key: value", the text that is scored and shown for a core entry.
std::string CoreText(const CoreEntry& entry);
// Core entries have negative ids in a table, derived from their index in the view's core.
inline std::int64_t CoreId(std::size_t place) { return -1 - static_cast<std::int64_t>(place); }
inline std::size_t CorePlace(std::int64_t core_id) {
  return static_cast<std::size_t>(-1 - core_id);
}

class Corpus {
 public:
  static Result<std::shared_ptr<Corpus>> Load(Connection& connection, const View::State& state,
                                              TierSet tiers);
  // Used by Load. `core_terms`: terms of each core entry by index; empty if core is not searched.
  Corpus(std::vector<TextRow> rows, IndexUse index,
         std::vector<std::vector<std::string>> core_terms)
      : table_(std::move(rows)), index_(index), core_terms_(std::move(core_terms)) {}

  const TextTable& table() const { return table_; }

  // Returns postings in the order of `terms`; a term in no text has empty postings.
  Result<std::vector<std::shared_ptr<const TermPostings>>> Find(
      Connection& connection, const std::vector<std::string>& terms);

  // Returns which texts may be hits of `query`, ignoring its tiers; null means all.
  Result<std::shared_ptr<const std::vector<bool>>> Allowed(Connection& connection,
                                                           const View::State& state,
                                                           const Query& query);

  // Returns the vectors of a view that has an embedder, created on first use. `dimensions` is the
  // size of its vectors.
  Result<std::shared_ptr<const VectorTable>> Vectors(Connection& connection,
                                                     const View::State& state,
                                                     std::size_t dimensions);

 private:
  using Found = std::map<std::string, std::shared_ptr<const TermPostings>, std::less<>>;
  using Builders = std::map<std::string, PostingsBuilder, std::less<>>;

  Result<Found> Read(Connection& connection, const std::vector<std::string>& terms) const;
  Status ReadIndex(Connection& connection, Builders* builders) const;
  Status ReadTexts(Connection& connection, Builders* builders) const;
  void Keep(const Found& found);

  const TextTable table_;
  const IndexUse index_;
  const std::vector<std::vector<std::string>> core_terms_;
  std::mutex mutex_;
  Found kept_;
  std::size_t kept_bytes_ = 0;
  std::shared_ptr<const VectorTable> vectors_;
};

// The corpora of one view; each is loaded on first use.
class Corpora {
 public:
  Result<std::shared_ptr<Corpus>> Get(Connection& connection, const View::State& state,
                                      TierSet tiers);

 private:
  std::mutex mutex_;
  std::map<TierSet, std::shared_ptr<Corpus>> loaded_;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_CORPUS_H_
