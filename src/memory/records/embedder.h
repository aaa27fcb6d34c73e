// Turns texts into vectors, so that search can also compare meanings where `embed_model` names a
// model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Vector text, embedder.Embed("I adopted a beagle"));
//   DOSSIER_ASSIGN_OR_RETURN(const Vector query, embedder.Embed("Which dog did she rescue?"));
//   Cosine(text, query);            // 0.41: what they mean is near, though they share no word
//
// Components are whole numbers, so that products and sums are exact and every machine ranks alike.
// Thread-safety: an Embedder may be used by many threads.

#ifndef DOSSIER_MEMORY_RECORDS_EMBEDDER_H_
#define DOSSIER_MEMORY_RECORDS_EMBEDDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::memory {

// A text as a vector whose largest component is 127 or -127; only its direction matters. Empty if
// the model knows nothing of the text.
using Vector = std::vector<std::int8_t>;

class Embedder {
 public:
  virtual ~Embedder() = default;
  // What vectors are stored under: another model, or version of it, has another name.
  virtual const std::string& name() const = 0;
  // The same text gives the same vector, and all have one size. `text` is valid UTF-8. Errors:
  // those of the model's files, kNotFound, kDamaged, kIo.
  virtual Result<Vector> Embed(std::string_view text) const = 0;
};

// `sum` in whole numbers; empty if it is zero or not finite.
Vector ToVector(std::span<const float> sum);

// Of vectors of one size.
std::int64_t Dot(std::span<const std::int8_t> a, std::span<const std::int8_t> b);
double Cosine(std::span<const std::int8_t> a, std::span<const std::int8_t> b);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_EMBEDDER_H_
