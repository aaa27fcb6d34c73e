#include "tokens/counter/counter.h"

namespace dossier::tokens {
namespace {

std::int64_t Scale(std::int64_t tokens, double ratio) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * ratio));
}

// What Running and Ranges share with the counter itself.
struct Scaling {
  double ratio, margin;

  Count Apply(const Count& count) const {
    return {.tokens = Scale(count.tokens, ratio), .exact = false, .margin = margin};
  }
  // The most tokens of the inner counter that stay within `limit`.
  std::int64_t Within(std::int64_t limit) const {
    auto tokens = static_cast<std::int64_t>(static_cast<double>(limit) / ratio) + 1;
    while (tokens > 0 && Scale(tokens, ratio) > limit) --tokens;
    return tokens;
  }
};

class ScaledRunning final : public Running {
 public:
  ScaledRunning(std::unique_ptr<Running> inner, Scaling scaling)
      : inner_(std::move(inner)), scaling_(scaling) {}

  void Append(std::string_view text) override { inner_->Append(text); }
  void AppendMeasured(std::string_view text, const Measured& measured) override {
    inner_->AppendMeasured(text, measured);
  }
  Count Total() const override { return scaling_.Apply(inner_->Total()); }
  Mark Here() const override { return inner_->Here(); }
  void Rollback(const Mark& mark) override { inner_->Rollback(mark); }

 private:
  const std::unique_ptr<Running> inner_;
  const Scaling scaling_;
};

class ScaledRanges final : public Ranges {
 public:
  ScaledRanges(std::unique_ptr<Ranges> inner, Scaling scaling)
      : inner_(std::move(inner)), scaling_(scaling) {}

  Count CountRange(std::size_t begin, std::size_t end) const override {
    return scaling_.Apply(inner_->CountRange(begin, end));
  }

 private:
  const std::unique_ptr<Ranges> inner_;
  const Scaling scaling_;
};

class Scaled final : public Counter {
 public:
  Scaled(std::shared_ptr<const Counter> inner, Scaling scaling)
      : inner_(std::move(inner)), scaling_(scaling) {}

  Count CountText(std::string_view text) const override {
    return scaling_.Apply(inner_->CountText(text));
  }
  std::string name() const override {
    return fmt::format("{} x {:.3g}", inner_->name(), scaling_.ratio);
  }
  bool exact() const override { return false; }
  double margin() const override { return scaling_.margin; }

  Cut LongestPrefix(std::string_view text, std::int64_t limit) const override {
    return Apply(inner_->LongestPrefix(text, scaling_.Within(limit)));
  }
  Cut LongestSuffix(std::string_view text, std::int64_t limit) const override {
    return Apply(inner_->LongestSuffix(text, scaling_.Within(limit)));
  }
  std::vector<Measured> Measure(std::span<const std::string_view> texts) const override {
    std::vector<Measured> out = inner_->Measure(texts);
    for (Measured& measured : out) measured.tokens = Scale(measured.tokens, scaling_.ratio);
    return out;
  }
  std::unique_ptr<Running> Start() const override {
    return std::make_unique<ScaledRunning>(inner_->Start(), scaling_);
  }
  std::unique_ptr<Ranges> Prepare(std::string_view text) const override {
    return std::make_unique<ScaledRanges>(inner_->Prepare(text), scaling_);
  }

 private:
  Cut Apply(Cut cut) const { return {cut.bytes, Scale(cut.tokens, scaling_.ratio)}; }

  const std::shared_ptr<const Counter> inner_;
  const Scaling scaling_;
};

}  // namespace

Result<std::shared_ptr<const Counter>> MakeScaled(std::shared_ptr<const Counter> counter,
                                                  double ratio, double margin) {
  if (!(ratio > 0) || !std::isfinite(ratio)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "ratio is {}; it must be above 0 (see data/models.yaml)", ratio);
  }
  if (!(margin >= 0 && margin <= 1)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "margin is {}; it must be 0 to 1 (see data/models.yaml)", margin);
  }
  return std::make_shared<const Scaled>(std::move(counter), Scaling{ratio, margin});
}

}  // namespace dossier::tokens
