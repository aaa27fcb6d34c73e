// An embedder that is a table: a text's vector is the sum of those of its tokens.
//
//   const auto embedder = MakeTokenEmbedder({.name = "wordllama",
//                                            .weights = folder + "/wordllama.safetensors",
//                                            .tokenizer = folder + "/wordllama.json"});
//   DOSSIER_ASSIGN_OR_RETURN(const Vector vector, embedder->Embed("I adopted a beagle"));
//
// The files are read when the first text is embedded, in some milliseconds, and kept. They come
// from strangers: sizes, offsets and numbers are checked. Thread-safety: as Embedder.

#ifndef DOSSIER_MEMORY_RECORDS_TOKEN_EMBEDDER_H_
#define DOSSIER_MEMORY_RECORDS_TOKEN_EMBEDDER_H_

#include <memory>
#include <string>

#include "memory/records/embedder.h"
#include "tokens/counter/counter.h"
#include "tokens/files/open.h"

namespace dossier::memory {

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

#endif  // DOSSIER_MEMORY_RECORDS_TOKEN_EMBEDDER_H_
