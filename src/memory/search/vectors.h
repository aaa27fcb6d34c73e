// The vectors of a store's texts: kept by hash and model when a text is written, and made ready for
// ranking once a view.
//
//   DOSSIER_RETURN_IF_ERROR(KeepVector(connection, embedder, {.hash = hash, .text = text}));
//   DOSSIER_ASSIGN_OR_RETURN(const Vector query, embedder.Embed("Which dog did she rescue?"));
//   DOSSIER_ASSIGN_OR_RETURN(const auto vectors, VectorTable::Load(connection, embedder,
//                                                                  {table, {}, query.size()}));
//   vectors->Best(query, /*allowed=*/nullptr);
//
// A text is ranked as its window is: by the cosine of the query with the sum of the unit vectors of
// it and its neighbours, and a quarter as much by its own. A vector that is not stored, as of a
// text that was written before the model was named, is made for the search alone, since reading
// writes nothing. 1 byte a component and 16 a text. Thread-safety: immutable once made.

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
// Does nothing where it is kept already. Only inside a transaction.
Status KeepVector(Connection& connection, const Embedder& embedder, const HashedText& text);
// Those of all records that have none.
Status KeepMissingVectors(Connection& connection, const Embedder& embedder);

class VectorTable {
 public:
  struct Texts {
    const TextTable& table;                // outlives the VectorTable
    const std::vector<std::string>& core;  // texts of its ids below 0, by place
    std::size_t dimensions = 0;  // of the embedder; stored vectors of another size are not used
  };
  static Result<std::shared_ptr<const VectorTable>> Load(Connection& connection,
                                                         const Embedder& embedder,
                                                         const Texts& texts);

  // Those that are nearest to `query`, best first, as BestTexts. None is at a right angle or
  // farther; none is without a vector of its own.
  std::vector<RankedText> Best(const Vector& query, const std::vector<bool>* allowed) const;

 private:
  VectorTable(const TextTable& table, std::size_t dimensions);
  std::span<const std::int8_t> Of(TextNumber text) const {
    return std::span(components_).subspan(text * dimensions_, dimensions_);
  }
  void Set(TextNumber text, std::span<const std::int8_t> vector);
  Status ReadRecords(Connection& connection, const Embedder& embedder);
  // The product of the unit vectors; 0 if one of both is not known.
  double UnitProduct(TextNumber a, TextNumber b) const;
  double WindowLength(TextNumber text) const;

  const TextTable* table_;
  std::size_t dimensions_;
  std::vector<std::int8_t> components_;  // by text
  std::vector<double> inverse_lengths_;  // by text; 0: it has no vector
  std::vector<double> window_lengths_;   // of the sum of unit vectors
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_VECTORS_H_
