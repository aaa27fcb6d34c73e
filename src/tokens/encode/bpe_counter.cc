#include "tokens/encode/bpe_counter.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "tokens/counter/piece_running.h"
#include "tokens/encode/bpe_ranges.h"
#include "tokens/encode/bpe_text.h"

namespace dossier::tokens {
namespace {

class BpeCounter final : public Counter {
 public:
  explicit BpeCounter(BpeOptions options)
      : name_(std::move(options.name)),
        normalize_(std::move(options.normalize)),
        encoder_(std::move(options.vocabulary), std::move(options.added),
                 std::move(options.pattern), options.byte_ids) {}

  Count CountText(std::string_view text) const override {
    std::string cleaned;
    return Exactly(encoder_.Count(Cleaned(text, &cleaned)));
  }

  Result<std::vector<TokenId>> Encode(std::string_view text) const override {
    std::string cleaned;
    std::vector<TokenId> tokens;
    encoder_.Encode(Cleaned(text, &cleaned), &tokens);
    return tokens;
  }

  Cut LongestPrefix(std::string_view text, std::int64_t limit) const override {
    if (!IsPlain(text)) return Counter::LongestPrefix(text, limit);
    return LongestPrefixOf(encoder_, text, limit, [&](std::string_view part) {
      return Counter::LongestPrefix(part, limit);
    });
  }
  Cut LongestSuffix(std::string_view text, std::int64_t limit) const override {
    if (!IsPlain(text)) return Counter::LongestSuffix(text, limit);
    return LongestSuffixOf(encoder_, text, limit, [&](std::string_view part) {
      return Counter::LongestSuffix(part, limit);
    });
  }
  std::vector<Measured> Measure(std::span<const std::string_view> texts) const override {
    RecentPieces recent(TotalBytes(texts));
    std::vector<Measured> out;
    out.reserve(texts.size());
    for (const std::string_view text : texts) {
      out.push_back(IsPlain(text) ? MeasureOne(text, &recent)
                                  : Measured{.tokens = CountText(text).tokens});
    }
    return out;
  }
  std::unique_ptr<Running> Start() const override {
    if (normalize_ || !encoder_.has_rule()) return Counter::Start();
    return std::make_unique<PieceRunning>(PieceFunctions{
        .count_tail = [this](std::string_view tail, Place) { return CountTail(tail); },
        .meet = [this](std::string_view window, Place, std::size_t joint,
                       std::span<const Cut> first) { return Meet(window, joint, first); }});
  }
  std::unique_ptr<Ranges> Prepare(std::string_view text) const override {
    return IsPlain(text) ? std::make_unique<BpeRanges>(encoder_, text) : Counter::Prepare(text);
  }

  std::string name() const override { return name_; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }

 private:
  static Count Exactly(std::size_t tokens) {
    return {.tokens = static_cast<std::int64_t>(tokens), .exact = true};
  }
  Tail CountTail(std::string_view text) const {
    std::vector<Cut> borders;
    Tail tail;
    encoder_.ForEachPiece(text, [&](std::size_t, std::size_t end, std::size_t tokens) {
      tail.tokens += static_cast<std::int64_t>(tokens);
      borders.push_back({end, tail.tokens});
      return true;
    });
    const auto last = std::find_if(borders.rbegin(), borders.rend(), [&](const Cut& border) {
      return encoder_.IsLastingBorder(text, border.bytes);
    });
    if (last != borders.rend()) tail.lasting = *last;
    return tail;
  }
  Measured MeasureOne(std::string_view text, RecentPieces* recent) const {
    MeasuredBorders borders(text.size());
    borders.Add({});
    std::int64_t total = 0;
    encoder_.ForEachPiece(text, recent, [&](std::size_t, std::size_t end, std::size_t tokens) {
      total += static_cast<std::int64_t>(tokens);
      borders.Add({end, total});
      return true;
    });
    return std::move(borders).Finish(
        total, [&](std::size_t at) { return encoder_.IsLastingBorder(text, at); });
  }
  std::optional<Meeting> Meet(std::string_view window, std::size_t joint,
                              std::span<const Cut> first) const {
    MeetingFinder finder(joint, first);
    std::optional<Meeting> meeting;
    std::int64_t before = 0;
    encoder_.ForEachPiece(window, nullptr, [&](std::size_t, std::size_t end, std::size_t tokens) {
      before += static_cast<std::int64_t>(tokens);
      if (finder.Matches(end) && encoder_.IsLastingBorder(window, end)) meeting = finder.At(before);
      return !meeting && finder.going();
    });
    return meeting;
  }
  // Whether `text` is encoded byte for byte as it stands, so that places in it are places in what
  // is encoded.
  bool IsPlain(std::string_view text) const {
    return !normalize_ && encoder_.has_rule() && utf8::IsValid(text);
  }
  // What is encoded for `text`: itself, or a changed copy in `copy`.
  std::string_view Cleaned(std::string_view text, std::string* copy) const {
    if (!utf8::IsValid(text)) text = *copy = utf8::Sanitize(text);
    if (normalize_) text = *copy = normalize_(text);
    return text;
  }

  const std::string name_;
  const std::function<std::string(std::string_view)> normalize_;
  const BpeText encoder_;
};

}  // namespace

std::shared_ptr<const Counter> MakeBpeCounter(BpeOptions options) {
  return std::make_shared<const BpeCounter>(std::move(options));
}

}  // namespace dossier::tokens
