// A split pattern of a tokenizer.json that none of our rules stands for, run by PCRE2.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pattern, Pattern::Compile(R"(\p{L}+|\p{N}|.)"));
//   std::size_t end = pattern->PieceEnd(text, at);
//
// PCRE2 10.42 knows Unicode 14, so letters assigned later may be split differently than by the
// file's makers. Thread-safety: immutable; matching uses memory of its own.

#ifndef DOSSIER_TOKENS_SPLIT_PATTERN_H_
#define DOSSIER_TOKENS_SPLIT_PATTERN_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace dossier::tokens {

class Pattern {
 public:
  // Errors: kDamaged with PCRE2's words and the offset.
  static Result<std::shared_ptr<const Pattern>> Compile(std::string_view pattern);
  virtual ~Pattern() = default;

  // The end of the piece that starts at `at` < text.size(): of the match there, or, if the next
  // match starts later (or there is none), the start of that match (or of the text's end). A match
  // of nothing and a match that took too many steps are pieces of one code point. Valid UTF-8 only.
  virtual std::size_t PieceEnd(std::string_view text, std::size_t at) const = 0;
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_SPLIT_PATTERN_H_
