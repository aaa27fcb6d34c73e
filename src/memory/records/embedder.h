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
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/counter/counter.h"
#include "tokens/files/open.h"

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

// An embedder that is a table: a text's vector is the sum of those of its tokens.
//
//   const auto embedder = MakeTokenEmbedder({.name = "wordllama",
//                                            .weights = folder + "/wordllama.safetensors",
//                                            .tokenizer = folder + "/wordllama.json"});
//   DOSSIER_ASSIGN_OR_RETURN(const Vector vector, embedder->Embed("I adopted a beagle"));
//
// The files are read when the first text is embedded, in some milliseconds, and kept. They come
// from strangers: sizes, offsets and numbers are checked. Thread-safety: as Embedder.

// A row of half-precision numbers for each token: the one tensor of a safetensors file.
class TokenTable {
 public:
  // Errors: kDamaged (not such a file, with what is wrong).
  static Result<TokenTable> Parse(std::string bytes);

  std::size_t tokens() const { return tokens_; }
  std::size_t dimensions() const { return dimensions_; }
  // Adds the row of `token`, which may be any number, to `sum` of dimensions() places.
  void AddRow(tokens::TokenId token, std::span<float> sum) const;

 private:
  TokenTable(std::string bytes, std::size_t start, std::size_t tokens, std::size_t dimensions);

  std::string bytes_;  // of the file
  std::size_t start_, tokens_, dimensions_;
  std::vector<float> values_;  // of each half-precision number
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
