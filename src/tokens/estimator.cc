#include <cmath>

#include "base/utf8.h"
#include "tokens/counter.h"

namespace dossier::tokens {
namespace {

class Estimator final : public Counter {
 public:
  explicit Estimator(Ratio ratio) : ratio_(ratio) {}

  Count CountText(std::string_view text) const override {
    const utf8::Census census = utf8::Count(text);
    const double ascii = static_cast<double>(census.ascii_bytes) / ratio_.bytes_per_token;
    return {.tokens = static_cast<std::int64_t>(std::ceil(ascii)) +
                      static_cast<std::int64_t>(census.wide_code_points),
            .exact = false,
            .margin = ratio_.margin};
  }
  std::string name() const override { return "estimate"; }
  bool exact() const override { return false; }
  double margin() const override { return ratio_.margin; }

 private:
  Ratio ratio_;
};

}  // namespace

Result<std::shared_ptr<const Counter>> MakeEstimator(Ratio ratio) {
  if (!(ratio.bytes_per_token > 0) || !std::isfinite(ratio.bytes_per_token)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "bytes_per_token is {}; it must be above 0 (see data/models.yaml)",
                     ratio.bytes_per_token);
  }
  if (!(ratio.margin >= 0 && ratio.margin <= 1)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "margin is {}; it must be 0 to 1 (see data/models.yaml)", ratio.margin);
  }
  return std::make_shared<const Estimator>(ratio);
}

}  // namespace dossier::tokens
