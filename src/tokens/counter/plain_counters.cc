#include <optional>
#include <string>
#include <utility>

#include "base/text/utf8.h"
#include "tokens/counter/counter.h"
#include "tokens/counter/open_bytes.h"

namespace dossier::tokens {
namespace {

// Counters that need to know nothing about a text but how many bytes and code points it has.
//
//   class ByteCounter final : public CensusCounter {
//     std::int64_t TokensOf(const utf8::Census& census) const override { return census.bytes; }
//   };
//
// Internal to `tokens`. Thread-safety: as Counter.

class CensusCounter : public Counter {
 public:
  // `margin` unset: the count is exact.
  CensusCounter(std::string name, std::optional<double> margin)
      : name_(std::move(name)), margin_(margin) {}

  Count CountText(std::string_view text) const final { return FromCensus(utf8::Count(text)); }
  std::unique_ptr<Running> Start() const final;
  std::string name() const final { return name_; }
  bool exact() const final { return !margin_; }
  double margin() const final { return margin_.value_or(0); }

  // A longer text must not give fewer tokens.
  virtual std::int64_t TokensOf(const utf8::Census& census) const = 0;

  Count FromCensus(const utf8::Census& census) const {
    return {.tokens = TokensOf(census), .exact = exact(), .margin = margin()};
  }

 private:
  const std::string name_;
  const std::optional<double> margin_;
};

class CensusRunning final : public Running {
 public:
  explicit CensusRunning(const CensusCounter& counter) : counter_(counter) {}

  void Append(std::string_view text) override {
    text_ += text;
    const std::size_t end = text_.size() - OpenBytes(text_);
    if (end > settled_) Settle(end);
  }
  Count Total() const override {
    return counter_.FromCensus(Sum(census_, utf8::Count(std::string_view(text_).substr(settled_))));
  }
  Mark Here() const override { return {.bytes = text_.size()}; }
  void Rollback(const Mark& mark) override {
    text_.resize(std::min(mark.bytes, text_.size()));
    census_ = {};
    settled_ = 0;
    Settle(text_.size() - OpenBytes(text_));
  }

 private:
  static utf8::Census Sum(utf8::Census a, const utf8::Census& b) {
    a.bytes += b.bytes;
    a.ascii_bytes += b.ascii_bytes;
    a.code_points += b.code_points;
    a.wide_code_points += b.wide_code_points;
    return a;
  }
  void Settle(std::size_t end) {
    census_ = Sum(census_, utf8::Count(std::string_view(text_).substr(settled_, end - settled_)));
    settled_ = end;
  }

  const CensusCounter& counter_;
  std::string text_;
  std::size_t settled_ = 0;
  utf8::Census census_;  // of text_'s first settled_ bytes
};

class Estimator final : public CensusCounter {
 public:
  explicit Estimator(Ratio ratio) : CensusCounter("estimate", ratio.margin), ratio_(ratio) {}

  std::int64_t TokensOf(const utf8::Census& census) const override {
    const double ascii = static_cast<double>(census.ascii_bytes) / ratio_.bytes_per_token;
    return static_cast<std::int64_t>(std::ceil(ascii)) +
           static_cast<std::int64_t>(census.wide_code_points);
  }

 private:
  const Ratio ratio_;
};

class StandIn final : public CensusCounter {
 public:
  StandIn(std::string name, Ratio ratio)
      : CensusCounter(std::move(name), ratio.margin), ratio_(ratio) {}

  std::int64_t TokensOf(const utf8::Census& census) const override {
    return static_cast<std::int64_t>(
        std::ceil(static_cast<double>(census.bytes) / ratio_.bytes_per_token));
  }

 private:
  const Ratio ratio_;
};

class CharCounter final : public CensusCounter {
 public:
  CharCounter() : CensusCounter("chars", std::nullopt) {}
  std::int64_t TokensOf(const utf8::Census& census) const override {
    return static_cast<std::int64_t>(census.code_points);
  }
};

class ByteCounter final : public CensusCounter {
 public:
  ByteCounter() : CensusCounter("bytes", std::nullopt) {}
  std::int64_t TokensOf(const utf8::Census& census) const override {
    return static_cast<std::int64_t>(census.bytes);
  }
};

}  // namespace

std::unique_ptr<Running> CensusCounter::Start() const {
  return std::make_unique<CensusRunning>(*this);
}

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

std::shared_ptr<const Counter> MakeCharCounter() { return std::make_shared<const CharCounter>(); }
std::shared_ptr<const Counter> MakeByteCounter() { return std::make_shared<const ByteCounter>(); }

std::shared_ptr<const Counter> MakeStandIn(std::string name, Ratio ratio) {
  return std::make_shared<const StandIn>(std::move(name), ratio);
}

}  // namespace dossier::tokens
