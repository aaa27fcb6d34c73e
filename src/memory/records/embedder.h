// Turns texts into vectors, so that search can also compare meanings if `embed_model` names a
// model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Vector text, embedder.Embed("I adopted a beagle"));
//   DOSSIER_ASSIGN_OR_RETURN(const Vector query, embedder.Embed("Which dog did she rescue?"));
//   Cosine(text, query);            // 0.41: similar meanings without a common word
//
// Components are integers, so that products and sums are exact and every machine ranks alike.
// Thread-safety: an Embedder may be used by many threads.

#ifndef DOSSIER_MEMORY_RECORDS_EMBEDDER_H_
#define DOSSIER_MEMORY_RECORDS_EMBEDDER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/counter/counter.h"
#include "tokens/files/open.h"

namespace dossier::memory {

// A text as a vector whose largest component is 127 or -127; only its direction matters. It is
// empty if the model knows nothing in the text.
using Vector = std::vector<std::int8_t>;

class Embedder {
 public:
  virtual ~Embedder() = default;
  // The name under which vectors are stored; every model and model version has its own.
  virtual const std::string& name() const = 0;
  // The same text gives the same vector, and all vectors have one size. `text` is valid UTF-8.
  // Errors: those of the model's files: kNotFound, kDamaged, kIo.
  virtual Result<Vector> Embed(std::string_view text) const = 0;
};

// Returns `sum` scaled to integers; empty if it is zero or not finite.
Vector ToVector(std::span<const float> sum);

// Returns the dot product of vectors of equal size.
std::int64_t Dot(std::span<const std::int8_t> a, std::span<const std::int8_t> b);
double Cosine(std::span<const std::int8_t> a, std::span<const std::int8_t> b);

// An embedder based on a table: the vector of a text is the sum of the vectors of its tokens.
//
//   const auto embedder = MakeTokenEmbedder({.name = "wordllama",
//                                            .weights = folder + "/wordllama.safetensors",
//                                            .tokenizer = folder + "/wordllama.json"});
//   DOSSIER_ASSIGN_OR_RETURN(const Vector vector, embedder->Embed("I adopted a beagle"));
//
// The files are read (some milliseconds) when the first text is embedded, and kept. They are
// untrusted: sizes, offsets and numbers are checked. Thread-safety: as Embedder.

// One row of half-precision numbers for each token: the only tensor of a safetensors file.
class TokenTable {
 public:
  // Errors: kDamaged (not such a file; the message says what is wrong).
  static Result<TokenTable> Parse(std::string bytes);

  std::size_t tokens() const { return tokens_; }
  std::size_t dimensions() const { return dimensions_; }
  // Adds the row of `token` (any number is allowed) to `sum`, which has dimensions() elements.
  void AddRow(tokens::TokenId token, std::span<float> sum) const;

 private:
  TokenTable(std::string bytes, std::size_t start, std::size_t tokens, std::size_t dimensions);

  std::string bytes_;  // content of the file
  std::size_t start_, tokens_, dimensions_;
  std::vector<float> values_;  // the value of each half-precision number
};

struct TokenEmbedderFiles {
  std::string name;
  std::string weights;    // safetensors
  std::string tokenizer;  // tokenizer.json
  tokens::DataPaths paths = tokens::DefaultDataPaths();
};
std::shared_ptr<const Embedder> MakeTokenEmbedder(TokenEmbedderFiles files);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_EMBEDDER_H_
