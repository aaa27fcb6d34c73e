#include "tokens/split/pattern.h"

#include <pcre2.h>

#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

constexpr std::uint32_t kMostSteps = 1'000'000;  // of one match

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

}  // namespace dossier::tokens
