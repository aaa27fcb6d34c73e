// Makes the tables of a Vocabulary from what a vocabulary's maker publishes.
//
//   VocabularySource source{.rule = SplitRule::kO200k, .pieces = WholePieces::kAlways};
//   source.tokens.push_back({.text = " world", .outer = 2375, .rank = 2375});   // …
//   DOSSIER_ASSIGN_OR_RETURN(std::string file, BuildVocabulary(source));
//
// Time: about 0.3 s for 200,000 tokens, memory about 100 MB; the result is kept
// (tokens/files/open.h). Errors: kDamaged for a source that no encoder could work with.
// Thread-safety: pure function.

#ifndef DOSSIER_TOKENS_ENCODE_VOCABULARY_BUILDER_H_
#define DOSSIER_TOKENS_ENCODE_VOCABULARY_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {

// Whether a piece that is a token is that token even if merges would not make it (tiktoken; "ignore
// merges" elsewhere).
enum class WholePieces : std::uint8_t { kAlways, kIfMerged };

struct SourceToken {
  std::string text;         // bytes, not their printable stand-ins
  std::uint32_t outer = 0;  // the maker's number
  std::uint32_t rank = 0;   // merges with a lower one come first; unused with `merges`
};

struct SourceMerge {
  std::uint32_t left, right;  // indices into tokens; their texts joined are a token. The rank is
                              // the place in the list
};

struct VocabularySource {
  SplitRule rule = SplitRule::kNone;
  BaseSymbols base = BaseSymbols::kBytes;
  WholePieces pieces = WholePieces::kIfMerged;
  std::vector<SourceToken> tokens;
  std::vector<SourceMerge> merges;
  bool ranks_only = true;  // any two tokens that join into a token merge, by its rank; no `merges`
};

// Errors: kDamaged: too many tokens, an empty or overlong token, two of one text, a byte without a
// token, a merge that makes no token.
Result<std::string> BuildVocabulary(const VocabularySource& source);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_VOCABULARY_BUILDER_H_
