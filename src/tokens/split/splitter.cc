#include "tokens/split/splitter.h"

#include <pcre2.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "tokens/split/split_rules.h"

namespace dossier::tokens {
namespace {

constexpr std::uint32_t kMostSteps = 1'000'000;  // per match

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

class CompiledPattern final : public Pattern {
 public:
  explicit CompiledPattern(pcre2_code* code)
      : code_(code), context_(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context_.get(), kMostSteps);
  }

  std::size_t PieceEnd(std::string_view text, std::size_t at) const override {
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(
        pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    std::size_t one = at;
    utf8::Next(text, &one);
    if (!match) return one;
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), context_.get());
    if (found == PCRE2_ERROR_NOMATCH) return text.size();
    if (found < 0) return one;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    if (ends[0] > at) return ends[0];
    return ends[1] > at ? ends[1] : one;
  }

 private:
  const std::unique_ptr<pcre2_code, FreeCode> code_;
  const std::unique_ptr<pcre2_match_context, FreeContext> context_;
};

using namespace internal;  // NOLINT(google-build-using-namespace): our own rules

struct Published {
  SplitRule rule;
  std::string_view pattern;
};

// As published by the makers of the vocabularies; \z is the end of the text. The first pattern of a
// rule is the one used to test it.
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

Result<std::shared_ptr<const Pattern>> Pattern::Compile(std::string_view pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (!code) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    return MakeError(ErrorCode::kDamaged, "split pattern: {} at offset {}",
                     reinterpret_cast<const char*>(words.data()), offset);
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return std::make_shared<const CompiledPattern>(code);
}

std::size_t NextPiece(SplitRule rule, std::string_view text, std::size_t at) {
  return VisitRule(rule, [&](auto piece_end) { return piece_end(text, at); });
}

std::size_t LookAheadEnd(std::string_view text, std::size_t at) {
  // From a border, every rule looks at most over one run of letters and marks, or of white space,
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
