#include "tokens/counter/counter.h"

#include <optional>
#include <string>
#include <utility>

#include "base/text/utf8.h"
#include "tokens/counter/piece_running.h"

namespace dossier::tokens {
namespace {

// Counts the whole text on request.
class WholeRunning final : public Running {
 public:
  explicit WholeRunning(const Counter& counter) : counter_(counter) {}

  void Append(std::string_view text) override { text_ += text; }
  Count Total() const override { return counter_.CountText(text_); }
  Mark Here() const override { return {.bytes = text_.size()}; }
  void Rollback(const Mark& mark) override { text_.resize(std::min(mark.bytes, text_.size())); }

 private:
  const Counter& counter_;
  std::string text_;
};

class WholeRanges final : public Ranges {
 public:
  WholeRanges(const Counter& counter, std::string_view text) : counter_(counter), text_(text) {}

  Count CountRange(std::size_t begin, std::size_t end) const override {
    return counter_.CountText(text_.substr(begin, end - begin));
  }

 private:
  const Counter& counter_;
  const std::string_view text_;
};

}  // namespace

void Running::AppendMeasured(std::string_view text, const Measured&) { Append(text); }

std::vector<Measured> Counter::Measure(std::span<const std::string_view> texts) const {
  std::vector<Measured> out;
  out.reserve(texts.size());
  for (const std::string_view text : texts) out.push_back({.tokens = CountText(text).tokens});
  return out;
}

Result<std::vector<TokenId>> Counter::Encode(std::string_view) const {
  return MakeError(ErrorCode::kUnavailable,
                   "{} has no vocabulary, so there are no token numbers; name an encoding that has "
                   "one: o200k_base, cl100k_base, gguf:FILE or hf:FILE",
                   name());
}

CountedPart Counter::LongestPrefix(std::string_view text, std::int64_t limit) const {
  std::size_t fits = 0, over = text.size() + 1;
  while (over - fits > 1) {
    const std::size_t middle = utf8::FloorBoundary(text, fits + (over - fits) / 2);
    if (middle <= fits) break;  // one code point is left
    if (CountText(text.substr(0, middle)).tokens <= limit) {
      fits = middle;
    } else {
      over = middle;
    }
  }
  // The last code point before `over` may start after the middle.
  std::size_t next = fits;
  while (next < text.size()) {
    utf8::Next(text, &next);
    if (next >= over || CountText(text.substr(0, next)).tokens > limit) break;
    fits = next;
  }
  return {fits, CountText(text.substr(0, fits)).tokens};
}

CountedPart Counter::LongestSuffix(std::string_view text, std::int64_t limit) const {
  // Finds the shortest part to leave out at the front.
  std::size_t low = 0, fits = text.size();
  while (low < fits) {
    const std::size_t middle = utf8::FloorBoundary(text, low + (fits - low) / 2);
    if (CountText(text.substr(middle)).tokens <= limit) {
      fits = middle;
    } else {
      low = middle;
      utf8::Next(text, &low);
    }
  }
  return {text.size() - fits, CountText(text.substr(fits)).tokens};
}

std::unique_ptr<Running> Counter::Start() const { return std::make_unique<WholeRunning>(*this); }

std::unique_ptr<Ranges> Counter::Prepare(std::string_view text) const {
  return std::make_unique<WholeRanges>(*this, text);
}

namespace {

// Base of counters that only need a text's number of bytes and code points.
//
//   class ByteCounter final : public CensusCounter {
//     std::int64_t TokensOf(const utf8::Census& census) const override { return census.bytes; }
//   };
//
// Internal to `tokens`. Thread-safety: as Counter.

class CensusCounter : public Counter {
 public:
  // `margin` unset means exact counts.
  CensusCounter(std::string name, std::optional<double> margin)
      : name_(std::move(name)), margin_(margin) {}

  Count CountText(std::string_view text) const final { return FromCensus(utf8::Count(text)); }
  std::unique_ptr<Running> Start() const final;
  std::string name() const final { return name_; }
  bool exact() const final { return !margin_; }
  double margin() const final { return margin_.value_or(0); }

  // A longer text must not have fewer tokens.
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

namespace {

std::int64_t Scale(std::int64_t tokens, double ratio) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * ratio));
}

// Shared by Running, Ranges and the counter itself.
struct Scaling {
  double ratio, margin;

  Count Apply(const Count& count) const {
    return {.tokens = Scale(count.tokens, ratio), .exact = false, .margin = margin};
  }
  // Returns the most tokens of the inner counter that stay within `limit`.
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

  CountedPart LongestPrefix(std::string_view text, std::int64_t limit) const override {
    return Apply(inner_->LongestPrefix(text, scaling_.Within(limit)));
  }
  CountedPart LongestSuffix(std::string_view text, std::int64_t limit) const override {
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
  CountedPart Apply(CountedPart cut) const {
    return {cut.bytes, Scale(cut.tokens, scaling_.ratio)};
  }

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
