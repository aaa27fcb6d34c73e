#include "model/schema/schema_pattern.h"

#include <pcre2.h>

#include <array>

namespace dossier::model {
namespace {

constexpr std::uint32_t kMostMatchSteps = 1'000'000;  // of one match
constexpr std::uint32_t kMostHeap = 20'000;           // KiB of one match

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

class CompiledPattern final : public SchemaPattern {
 public:
  explicit CompiledPattern(pcre2_code* code)
      : code_(code), context_(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context_.get(), kMostMatchSteps);
    pcre2_set_heap_limit(context_.get(), kMostHeap);
  }

  Found Find(std::string_view text) const override {
    const std::unique_ptr<pcre2_match_data, Free> match(pcre2_match_data_create(1, nullptr));
    if (!match) return Found::kTooCostly;
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), 0, 0, match.get(), context_.get());
    if (found == PCRE2_ERROR_NOMATCH) return Found::kNo;
    return found < 0 ? Found::kTooCostly : Found::kYes;
  }

 private:
  const std::unique_ptr<pcre2_code, Free> code_;
  const std::unique_ptr<pcre2_match_context, Free> context_;
};

}  // namespace

Result<std::shared_ptr<const SchemaPattern>> SchemaPattern::Compile(std::string_view pattern) {
  // ECMA-262: `$` is the very end, \d and \w are ASCII.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
                                     PCRE2_NEVER_BACKSLASH_C | PCRE2_ALT_BSUX;
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   kOptions, &error, &offset, nullptr);
  if (!code) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    return MakeError(ErrorCode::kConfig, "no regular expression: {} at offset {}",
                     reinterpret_cast<const char*>(words.data()), offset);
  }
  return std::make_shared<CompiledPattern>(code);
}

}  // namespace dossier::model
