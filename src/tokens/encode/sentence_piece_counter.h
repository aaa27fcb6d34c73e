// Exact counts by a SentencePiece vocabulary, equal to llama-server's /tokenize without special
// tokens.
//
//   auto counter = MakeSentencePieceCounter({.name = "gguf:model.gguf",
//                                            .pieces = std::move(pieces),
//                                            .added = AddedTokens(std::move(tokens))});
//
// The starts of a text and of what follows an added token get a mark, if the model asks for one.
// Thread-safety: as Counter.

#ifndef DOSSIER_TOKENS_ENCODE_SENTENCE_PIECE_COUNTER_H_
#define DOSSIER_TOKENS_ENCODE_SENTENCE_PIECE_COUNTER_H_

#include <memory>
#include <string>

#include "tokens/counter/added_tokens.h"
#include "tokens/counter/counter.h"
#include "tokens/encode/sentence_piece.h"

namespace dossier::tokens {

struct SentencePieceOptions {
  std::string name;
  SentencePieces pieces;
  AddedTokens added;  // matched before anything else
  SentencePieces::Begin begin = SentencePieces::Begin::kMarked;
};

std::shared_ptr<const Counter> MakeSentencePieceCounter(SentencePieceOptions options);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_SENTENCE_PIECE_COUNTER_H_
