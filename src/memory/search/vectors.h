// The vectors of a store's texts: stored by hash and model when a text is written, and prepared for
// ranking once for each view.
//
//   DOSSIER_RETURN_IF_ERROR(KeepVector(connection, embedder, {.hash = hash, .text = text}));
//   DOSSIER_ASSIGN_OR_RETURN(const Vector query, embedder.Embed("Which dog did she rescue?"));
//   DOSSIER_ASSIGN_OR_RETURN(const auto vectors, VectorTable::Load(connection, embedder,
//                                                                  {table, {}, query.size()}));
//   vectors->Best(query, /*allowed=*/nullptr);
//
// A text is ranked like its window: by the cosine of the query with the sum of the unit vectors of
// the text and its neighbours, plus a quarter of the cosine with its own. A vector that is not
// stored (its text is older than the choice of the model) is made for this search only, since reads
// never write. Size: 1 byte per component and 16 per text. Thread-safety: immutable once made.

#ifndef DOSSIER_MEMORY_SEARCH_VECTORS_H_
#define DOSSIER_MEMORY_SEARCH_VECTORS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "memory/records/connection.h"
#include "memory/records/embedder.h"
#include "memory/search/ranking.h"

namespace dossier::memory {

struct HashedText {
  std::string_view hash;  // rows.h
  std::string_view text;
};
// Does nothing if it is already stored. Call only inside a transaction.
Status KeepVector(Connection& connection, const Embedder& embedder, const HashedText& text);
// Stores the vectors of all records that have none.
Status KeepMissingVectors(Connection& connection, const Embedder& embedder);

class VectorTable {
 public:
  struct Texts {
    const TextTable& table;                // outlives the VectorTable
    const std::vector<std::string>& core;  // texts of the negative ids, by index
    std::size_t dimensions = 0;  // of the embedder; stored vectors of another size are ignored
  };
  static Result<std::shared_ptr<const VectorTable>> Load(Connection& connection,
                                                         const Embedder& embedder,
                                                         const Texts& texts);

  // Returns the texts nearest to `query`, best first, as BestTexts does. It omits texts at an angle
  // of 90 degrees or more and texts without a vector of their own.
  std::vector<RankedText> Best(const Vector& query, const std::vector<bool>* allowed) const;

 private:
  VectorTable(const TextTable& table, std::size_t dimensions);
  std::span<const std::int8_t> Of(TextNumber text) const {
    return std::span(components_).subspan(text * dimensions_, dimensions_);
  }
  void Set(TextNumber text, std::span<const std::int8_t> vector);
  Status ReadRecords(Connection& connection, const Embedder& embedder);
  // Returns the product of the unit vectors; 0 if either is unknown.
  double UnitProduct(TextNumber a, TextNumber b) const;
  double WindowLength(TextNumber text) const;

  const TextTable* table_;
  std::size_t dimensions_;
  std::vector<std::int8_t> components_;  // by text
  std::vector<double> inverse_lengths_;  // by text; 0: no vector
  std::vector<double> window_lengths_;   // lengths of the sums of unit vectors
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_VECTORS_H_
