#include "tokens/split/splitter.h"

#include <algorithm>

#include "tokens/split/split_rules.h"

namespace dossier::tokens {
namespace {

using namespace internal;  // NOLINT(google-build-using-namespace): our own rules

struct Published {
  SplitRule rule;
  std::string_view pattern;
};

// As published by the makers of the vocabularies; \z for the end of the text. The first pattern of
// a rule is the one it is tested with.
constexpr Published kPublished[] = {
    {SplitRule::kCl100k,
     R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s)"},
    {SplitRule::kO200k,
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {SplitRule::kLlama3,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {SplitRule::kQwen2,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {SplitRule::kGpt2,
     R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
};

}  // namespace

std::size_t NextPiece(SplitRule rule, std::string_view text, std::size_t at) {
  return VisitRule(rule, [&](auto piece_end) { return piece_end(text, at); });
}

std::size_t LookAheadEnd(std::string_view text, std::size_t at) {
  // No rule looks further from a border than over one run of letters and marks, or of white space,
  // and then at a contraction of at most three bytes or one code point of at most four.
  constexpr std::size_t kLookAhead = 4;
  constexpr ClassSet kWord = kLetters | Only(CharClass::kMark);
  const std::size_t word = RunEnd<kWord>(text, at);
  const std::size_t run = word > at ? word : RunEnd<kSpaces>(text, at);
  return run + kLookAhead;
}

std::string_view PatternOf(SplitRule rule) {
  for (const Published& known : kPublished) {
    if (known.rule == rule) return known.pattern;
  }
  return {};
}

std::optional<SplitRule> RuleOfPattern(std::string_view pattern) {
  for (const Published& known : kPublished) {
    if (known.pattern == pattern) return known.rule;
  }
  return std::nullopt;
}

}  // namespace dossier::tokens
