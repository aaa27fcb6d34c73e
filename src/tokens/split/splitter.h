// Splits a text into the pieces that byte-pair merges never cross.
//
//   for (std::size_t at = 0; at < text.size();) {
//     const std::size_t end = NextPiece(SplitRule::kO200k, text, at);   // " world"
//     at = end;
//   }
//
// Each rule implements a published regular expression by hand; splitter_test.cc and
// fuzz/splitter_fuzz.cc compare them with PCRE2. Input must be valid UTF-8 (callers replace invalid
// bytes first). A piece depends only on the text from its start on, never on what is before.
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

// A split pattern of a tokenizer.json that matches none of our rules, run by PCRE2.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pattern, Pattern::Compile(R"(\p{L}+|\p{N}|.)"));
//   std::size_t end = pattern->PieceEnd(text, at);
//
// PCRE2 10.42 supports Unicode 14, so letters assigned later may be split differently than by the
// file's makers. Thread-safety: immutable; each match uses its own memory.

class Pattern {
 public:
  // Errors: kDamaged with PCRE2's message and the offset.
  static Result<std::shared_ptr<const Pattern>> Compile(std::string_view pattern);
  virtual ~Pattern() = default;

  // Returns the end of the piece that starts at `at` < text.size(): of the match there, or, if the
  // next match starts later (or there is none), the start of that match (or the text's end). An
  // empty match, or one that took too many steps, gives one code point. Valid UTF-8 only.
  virtual std::size_t PieceEnd(std::string_view text, std::size_t at) const = 0;
};

enum class SplitRule : std::uint8_t {
  kNone,     // the whole text is one piece (SentencePiece)
  kCl100k,   // as tiktoken 0.14: white space at the end of a text is one piece
  kO200k,    // as tiktoken 0.14
  kLlama3,   // as cl100k, but trailing white space is cut at its last line end
  kQwen2,    // as kLlama3, with one digit per piece
  kGpt2,     // the oldest rule: contractions in lower case, numbers of any length
  kPattern,  // the vocabulary file's own pattern (Pattern); not for NextPiece
};

// Returns the end of the piece that starts at `at`, which must be a piece border and < text.size().
std::size_t NextPiece(SplitRule rule, std::string_view text, std::size_t at);

// Returns the furthest place that splitting examines to make the piece border `at` and all borders
// before it. If it is beyond the end of `text`, appended text may move them.
std::size_t LookAheadEnd(std::string_view text, std::size_t at);

// Returns true if the piece border `at`, and all borders before it, stay whatever is appended.
// False is always safe.
inline bool IsLasting(std::string_view text, std::size_t at) {
  return LookAheadEnd(text, at) <= text.size();
}

// Returns the rule's regular expression in PCRE2 syntax: for tests and fuzzing.
std::string_view PatternOf(SplitRule rule);

// Returns the rule that is equivalent to `pattern` of a tokenizer.json; unset: none of ours is.
std::optional<SplitRule> RuleOfPattern(std::string_view pattern);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_SPLIT_SPLITTER_H_
