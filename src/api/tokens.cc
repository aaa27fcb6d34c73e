#include <dossier/tokens.h>

#include "api/access.h"
#include "app/open_model.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier {
namespace {

// The ratio by which an empty handle counts.
constexpr tokens::Ratio kRatio{.bytes_per_token = 3.3, .margin = 0.15};

TokenCount CountOf(const tokens::Count& count) {
  return {.tokens = count.tokens, .exact = count.exact, .margin = count.margin};
}

}  // namespace

struct Tokenizer::Impl {
  std::shared_ptr<const tokens::Counter> counter;
  std::string warning;
};

namespace {

const tokens::Counter& CounterOf(const std::shared_ptr<const Tokenizer::Impl>& impl) {
  static const std::shared_ptr<const tokens::Counter> estimate = *tokens::MakeEstimator(kRatio);
  return impl ? *impl->counter : *estimate;
}

}  // namespace

std::int64_t TokenCount::upper() const {
  return tokens::Count{.tokens = tokens, .exact = exact, .margin = margin}.upper();
}

Result<Tokenizer> Tokenizer::Open(const TokenOptions& options) {
  auto opened = app::OpenCounter({.encoding = options.encoding, .model = options.model});
  if (!opened) {
    Error error = opened.error();
    if (error.code == ErrorCode::kUsage) error.code = ErrorCode::kInvalidArgument;
    return tl::unexpected(std::move(error));
  }
  return Tokenizer(std::make_shared<const Impl>(
      Impl{.counter = std::move(opened->counter), .warning = std::move(opened->warning)}));
}

Result<Tokenizer> Tokenizer::Of(const Model& model) {
  DOSSIER_ASSIGN_OR_RETURN(const auto impl, ModelAccess::Of(model));
  return Tokenizer(std::make_shared<const Impl>(Impl{.counter = impl->opened.root.counter}));
}

TokenCount Tokenizer::Count(std::string_view utf8) const {
  return CountOf(CounterOf(impl_).CountText(utf8));
}

std::string_view Tokenizer::Prefix(std::string_view utf8, std::int64_t limit) const {
  if (limit <= 0) return utf8.substr(0, 0);
  return utf8.substr(0, CounterOf(impl_).LongestPrefix(utf8, limit).bytes);
}

std::string_view Tokenizer::Suffix(std::string_view utf8, std::int64_t limit) const {
  if (limit <= 0) return utf8.substr(utf8.size());
  return utf8.substr(utf8.size() - CounterOf(impl_).LongestSuffix(utf8, limit).bytes);
}

Result<std::vector<std::uint32_t>> Tokenizer::Encode(std::string_view utf8) const {
  return CounterOf(impl_).Encode(utf8);
}

std::string Tokenizer::name() const { return CounterOf(impl_).name(); }

std::string Tokenizer::warning() const { return impl_ ? impl_->warning : ""; }

Result<TokenCount> CountTokens(std::string_view utf8, const TokenOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(options));
  return tokenizer.Count(utf8);
}

}  // namespace dossier
