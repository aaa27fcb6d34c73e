// SentencePiece's byte-pair encoding, as llama.cpp runs it for models whose tokenizer is "llama".
//
//   DOSSIER_ASSIGN_OR_RETURN(SentencePieces pieces, SentencePieces::Make(tokens));
//   pieces.Encode("which file?", SentencePieces::Begin::kMarked, &ids);
//
// Spaces are written as U+2581, often with one more before a text. Starting from code points, the
// two neighbours whose joined token has the highest score are merged, the leftmost of equals, until
// none join. A code point that is not a token is sent as its bytes, the tokens <0x00> to <0xFF>.
// All tokens take part, including control tokens: llama.cpp only checks if a text is a token's.
//
// Merges never cross two code points that are adjacent in no token. Such places, which are the
// starts of words in most vocabularies, split a text into pieces that are encoded one by one. A
// piece of n code points takes O(n log n).
//
// Thread-safety: immutable.

#ifndef DOSSIER_TOKENS_ENCODE_SENTENCE_PIECE_H_
#define DOSSIER_TOKENS_ENCODE_SENTENCE_PIECE_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/text/utf8.h"
#include "tokens/counter/added_tokens.h"
#include "tokens/counter/counter.h"

namespace dossier::tokens {

class SentencePieces {
 public:
  static constexpr char32_t kMark = 0x2581;  // replaces a space
  static constexpr std::string_view kMarkText = "\u2581";

  struct Token {
    std::string_view text;  // copied
    float score = 0;
  };
  // kMarked: a mark is added before a text.
  enum class Begin : std::uint8_t { kMarked, kAsItIs };

  SentencePieces(SentencePieces&&) = default;
  SentencePieces& operator=(SentencePieces&&) = default;

  // `tokens` are ordered by number. Errors: kDamaged: too many, one too long, a score that is not a
  // number; kUnavailable: a byte without a token.
  static Result<SentencePieces> Make(const std::vector<Token>& tokens);

  // Appends the tokens of `text`, which must be valid UTF-8.
  void Encode(std::string_view text, Begin begin, std::vector<TokenId>* out) const;

  // Appends the tokens of one piece with marked spaces.
  void EncodePiece(std::string_view piece, std::vector<TokenId>* out) const;

  // Calls `use(end, piece)` for the pieces of `text` in order, with the end in `text` and the
  // piece's text with marked spaces. The first ends at 0 if it is only the added mark.
  template <typename Use>
  void ForEachPiece(std::string_view text, Begin begin, Use&& use) const;

 private:
  struct Known {
    TokenId id;
    float score;
  };

  SentencePieces() = default;
  Status Add(TokenId id, std::string_view text, float score);
  Status FindByteTokens();
  bool MayJoin(char32_t left, char32_t right) const {
    return neighbours_.count(std::uint64_t{left} << 32 | right) != 0;
  }
  const Known* Find(std::string_view text) const {
    const auto found = text.size() > longest_ ? tokens_.end() : tokens_.find(text);
    return found == tokens_.end() ? nullptr : &found->second;
  }

  std::vector<char> texts_;  // of tokens_; a vector, because moving it keeps its bytes in place
  std::unordered_map<std::string_view, Known> tokens_;
  std::unordered_set<std::uint64_t> neighbours_;  // code points adjacent in tokens
  std::array<TokenId, 256> byte_tokens_ = {};
  std::size_t longest_ = 0;  // most bytes of a token
};

template <typename Use>
void SentencePieces::ForEachPiece(std::string_view text, Begin begin, Use&& use) const {
  if (text.empty()) return;
  std::string piece;
  char32_t last = kMark;
  if (begin == Begin::kMarked) piece = kMarkText;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    char32_t c = utf8::Next(text, &at);
    if (c == ' ') c = kMark;
    if (!piece.empty() && !MayJoin(last, c)) {
      use(start, std::string_view(piece));
      piece.clear();
    }
    piece += c == kMark ? kMarkText : text.substr(start, at - start);
    last = c;
  }
  use(text.size(), std::string_view(piece));
}

// Counts exactly by a SentencePiece vocabulary, as llama-server's /tokenize without special tokens.
//
//   auto counter = MakeSentencePieceCounter({.name = "gguf:model.gguf",
//                                            .pieces = std::move(pieces),
//                                            .added = AddedTokens(std::move(tokens))});
//
// A mark is added at the start of a text and after an added token, if the model requires it.
// Thread-safety: as Counter.

struct SentencePieceOptions {
  std::string name;
  SentencePieces pieces;
  AddedTokens added;  // matched before anything else
  SentencePieces::Begin begin = SentencePieces::Begin::kMarked;
};

std::shared_ptr<const Counter> MakeSentencePieceCounter(SentencePieceOptions options);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_SENTENCE_PIECE_H_
