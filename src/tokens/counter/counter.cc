#include "tokens/counter/counter.h"

#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

// Counts the whole text when it is asked.
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

Cut Counter::LongestPrefix(std::string_view text, std::int64_t limit) const {
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
  // The last code point before `over` may start behind the middle.
  std::size_t next = fits;
  while (next < text.size()) {
    utf8::Next(text, &next);
    if (next >= over || CountText(text.substr(0, next)).tokens > limit) break;
    fits = next;
  }
  return {fits, CountText(text.substr(0, fits)).tokens};
}

Cut Counter::LongestSuffix(std::string_view text, std::int64_t limit) const {
  // The shortest part to leave out in front.
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

}  // namespace dossier::tokens
