// Cuts a text into the pieces that byte-pair merges never cross.
//
//   for (std::size_t at = 0; at < text.size();) {
//     const std::size_t end = NextPiece(SplitRule::kO200k, text, at);   // " world"
//     at = end;
//   }
//
// Each rule does by hand what a published regular expression says; splitter_test.cc and
// fuzz/splitter_fuzz.cc compare them with PCRE2. Input must be valid UTF-8 (callers replace invalid
// bytes first). A piece depends on the text from its start on only, never on what is before.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_TOKENS_SPLIT_SPLITTER_H_
#define DOSSIER_TOKENS_SPLIT_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace dossier::tokens {

// A split pattern of a tokenizer.json that none of our rules stands for, run by PCRE2.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pattern, Pattern::Compile(R"(\p{L}+|\p{N}|.)"));
//   std::size_t end = pattern->PieceEnd(text, at);
//
// PCRE2 10.42 knows Unicode 14, so letters assigned later may be split differently than by the
// file's makers. Thread-safety: immutable; matching uses memory of its own.

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

enum class SplitRule : std::uint8_t {
  kNone,     // the whole text is one piece (SentencePiece)
  kCl100k,   // as tiktoken 0.14: white space at the very end of a text is one piece
  kO200k,    // as tiktoken 0.14
  kLlama3,   // as cl100k, but trailing white space is cut at its last line end
  kQwen2,    // as kLlama3 with one digit a piece
  kGpt2,     // the first of the family: contractions in lower case, numbers of any length
  kPattern,  // a pattern of the vocabulary file's own (Pattern); not for NextPiece
};

// The end of the piece that starts at `at`, which must be a border of pieces and < text.size().
std::size_t NextPiece(SplitRule rule, std::string_view text, std::size_t at);

// The place up to which splitting looks at most to make `at`, a border of two pieces of `text`, and
// all borders before it. Beyond the end of `text`: what is appended may move them.
std::size_t LookAheadEnd(std::string_view text, std::size_t at);

// Whether the border `at` of two pieces of `text` stays one whatever is appended, and with it all
// borders before. False is always safe.
inline bool IsLasting(std::string_view text, std::size_t at) {
  return LookAheadEnd(text, at) <= text.size();
}

// The rule as the regular expression it stands for, in PCRE2's syntax: for tests and fuzzing.
std::string_view PatternOf(SplitRule rule);

// The rule that does what `pattern` of a tokenizer.json says; unset: none of ours.
std::optional<SplitRule> RuleOfPattern(std::string_view pattern);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_SPLIT_SPLITTER_H_
