// The texts that a view shows of some tiers, prepared once for ranking, with the postings of the
// terms that were searched for so far.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto corpus, state.searches->Get(connection, state, tiers));
//   DOSSIER_ASSIGN_OR_RETURN(const auto postings, corpus->Find(connection, {"linker", "fftw3"}));
//
// Postings come from the table `search`, or from the texts themselves where that is not to be used:
// the same numbers. Those found are kept, within about the size that the index has on disk.
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

// Which tiers: a bit for each SearchTier.
using TierSet = std::uint8_t;
TierSet ToTierSet(const std::vector<SearchTier>& tiers);
inline bool Has(TierSet tiers, SearchTier tier) {
  return (tiers >> static_cast<unsigned>(tier) & 1U) != 0;
}

// "key: value", as a core entry is scored and shown.
std::string CoreText(const CoreEntry& entry);
// Core entries have ids of their own in a table, below 0: their place in the view's core.
inline std::int64_t CoreId(std::size_t place) { return -1 - static_cast<std::int64_t>(place); }
inline std::size_t CorePlace(std::int64_t core_id) {
  return static_cast<std::size_t>(-1 - core_id);
}

class Corpus {
 public:
  static Result<std::shared_ptr<Corpus>> Load(Connection& connection, const View::State& state,
                                              TierSet tiers);
  // For Load. `core_terms`: of each core entry, by place; empty if core is not searched.
  Corpus(std::vector<TextRow> rows, IndexUse index,
         std::vector<std::vector<std::string>> core_terms)
      : table_(std::move(rows)), index_(index), core_terms_(std::move(core_terms)) {}

  const TextTable& table() const { return table_; }

  // In the order of `terms`; without places for a term that no text has.
  Result<std::vector<std::shared_ptr<const TermPostings>>> Find(
      Connection& connection, const std::vector<std::string>& terms);

  // Which texts may be hits of `query`, its tiers aside; null: all.
  Result<std::shared_ptr<const std::vector<bool>>> Allowed(Connection& connection,
                                                           const View::State& state,
                                                           const Query& query);

  // The vectors of a view that has an embedder, made when they are first needed. `dimensions`: the
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

// The corpora of one view, each loaded when first asked for.
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
