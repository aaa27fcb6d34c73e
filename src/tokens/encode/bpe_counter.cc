#include "tokens/encode/bpe_counter.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/text/utf8.h"
#include "tokens/counter/counter.h"
#include "tokens/counter/piece_running.h"

namespace dossier::tokens {
namespace {

// Ranges for byte-pair encodings, and the longest parts that fit. Internal to `tokens`.
//
// The whole text is encoded once; some of its borders are stored with the tokens before them. A
// part is encoded from its start to the first stored border that it shares, and from the last one
// that its end does not move. Costs a few hundred bytes per part, or the pieces at its ends.
//
// Thread-safety: immutable; the BpeText and the text must outlive it.

class BpeRanges final : public Ranges {
 public:
  BpeRanges(const BpeText& encoder, std::string_view text);

  Count CountRange(std::size_t begin, std::size_t end) const override {
    return {.tokens = Tokens(begin, end), .exact = true};
  }

  std::int64_t Tokens(std::size_t begin, std::size_t end) const;
  // Returns a place with more than `tokens` tokens after it, but not many more unless there is a
  // long piece; 0 if the text has no more.
  std::size_t PlaceBefore(std::int64_t tokens) const;

 private:
  struct Border {
    std::size_t at;
    std::int64_t tokens;  // before it
  };
  using Place = std::vector<Border>::const_iterator;

  // The first stored border that the part from `begin` also has, and the part's tokens before it;
  // unset if there is none before `end`.
  struct Meeting {
    Place border;
    std::int64_t tokens;
  };
  std::optional<Meeting> Meet(std::size_t begin, std::size_t end) const;

  const BpeText& encoder_;
  const std::string_view text_;
  std::vector<Border> borders_;  // the first is the start of the text
  std::int64_t tokens_ = 0;      // of the whole
};

// As Counter's. `search` finds the longest part of a text in the plain way; it is used if a piece
// is so long that trying every place in it would cost too much.
using Search = std::function<CountedPart(std::string_view)>;

constexpr std::size_t kStride = 64;        // minimum bytes between stored borders
constexpr std::size_t kShort = 512;        // bytes; a shorter part is simply encoded
constexpr std::size_t kFirstWindow = 256;  // bytes searched for a shared border
// A text cut after a token at the limit may have fewer tokens than one cut before it, so this many
// more tokens are searched.
constexpr std::int64_t kSlack = 8;
constexpr std::size_t kMostSearched = 2048;  // bytes
// More tokens than two stored borders around a place can be apart, if no piece is long.
constexpr std::int64_t kFar = kSlack + 2 * static_cast<std::int64_t>(kStride);

BpeRanges::BpeRanges(const BpeText& encoder, std::string_view text)
    : encoder_(encoder), text_(text), borders_{{0, 0}} {
  encoder_.ForEachPiece(text, [&](std::size_t, std::size_t end, std::size_t tokens) {
    tokens_ += static_cast<std::int64_t>(tokens);
    if (end >= borders_.back().at + kStride) borders_.push_back({end, tokens_});
    return true;
  });
}

std::optional<BpeRanges::Meeting> BpeRanges::Meet(std::size_t begin, std::size_t end) const {
  const auto first =
      std::lower_bound(borders_.begin(), borders_.end(), begin,
                       [](const Border& border, std::size_t at) { return border.at < at; });
  if (first != borders_.end() && first->at == begin) return Meeting{first, 0};
  for (std::size_t size = kFirstWindow; begin + size < end; size *= 4) {
    const std::string_view window =
        text_.substr(begin, utf8::FloorBoundary(text_, begin + size) - begin);
    std::optional<Meeting> meeting;
    std::int64_t before = 0;
    Place next = first;
    encoder_.ForEachPiece(window, [&](std::size_t, std::size_t at, std::size_t tokens) {
      before += static_cast<std::int64_t>(tokens);
      while (next != borders_.end() && next->at < begin + at) ++next;
      if (next == borders_.end()) return false;
      if (next->at != begin + at) return true;
      if (encoder_.IsLastingBorder(window, at)) meeting = Meeting{next, before};
      return false;
    });
    if (meeting) return meeting;
  }
  return std::nullopt;
}

std::int64_t BpeRanges::Tokens(std::size_t begin, std::size_t end) const {
  const auto whole = [&](std::size_t from) {
    return static_cast<std::int64_t>(encoder_.Count(text_.substr(from, end - from)));
  };
  if (end - begin <= kShort) return whole(begin);
  const auto meeting = Meet(begin, end);
  if (!meeting) return whole(begin);
  auto last = std::upper_bound(borders_.begin(), borders_.end(), end,
                               [](std::size_t at, const Border& border) { return at < border.at; });
  const std::string_view head = text_.substr(0, end);
  do {
    --last;
    if (last <= meeting->border) return whole(begin);
  } while (!encoder_.IsLastingBorder(head, last->at));
  return meeting->tokens + last->tokens - meeting->border->tokens + whole(last->at);
}

std::size_t BpeRanges::PlaceBefore(std::int64_t tokens) const {
  if (tokens_ <= tokens) return 0;
  const auto after = std::lower_bound(
      borders_.begin(), borders_.end(), tokens_ - tokens,
      [](const Border& border, std::int64_t wanted) { return border.tokens < wanted; });
  return after == borders_.begin() ? 0 : std::prev(after)->at;
}

CountedPart LongestPrefixOf(const BpeText& encoder, std::string_view text, std::int64_t limit,
                            const Search& search) {
  // Borders from kSlack tokens below the limit to kSlack above it.
  std::size_t end = 0;
  std::int64_t tokens = 0;
  CountedPart sure;
  encoder.ForEachPiece(text, [&](std::size_t, std::size_t at, std::size_t count) {
    tokens += static_cast<std::int64_t>(count);
    end = at;
    if (tokens <= limit - kSlack) sure = {at, tokens};
    return tokens <= limit + kSlack;
  });
  const std::string_view head = text.substr(0, end);
  if (end - sure.bytes > kMostSearched) return search(head);
  for (std::size_t at = end; at > sure.bytes; at = utf8::FloorBoundary(text, at - 1)) {
    const std::string_view part = head.substr(0, at);
    const bool lasts = sure.bytes == 0 || encoder.IsLastingBorder(part, sure.bytes);
    const CountedPart known = lasts ? sure : CountedPart{};
    tokens = known.tokens + static_cast<std::int64_t>(encoder.Count(part.substr(known.bytes)));
    if (tokens <= limit) return {at, tokens};
  }
  return search(head.substr(0, sure.bytes));
}

CountedPart LongestSuffixOf(const BpeText& encoder, std::string_view text, std::int64_t limit,
                            const Search& search) {
  const BpeRanges ranges(encoder, text);
  const std::size_t start = ranges.PlaceBefore(limit + kSlack);
  const std::size_t most = std::min(text.size(), start + kMostSearched);
  for (std::size_t at = start; at <= most;) {
    const std::int64_t tokens = ranges.Tokens(at, text.size());
    if (tokens > limit + kFar) break;  // a long piece: its tokens are not near its start
    if (tokens <= limit) return {text.size() - at, tokens};
    if (at == text.size()) break;
    utf8::Next(text, &at);
  }
  return search(text.substr(start));
}

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

  CountedPart LongestPrefix(std::string_view text, std::int64_t limit) const override {
    if (!IsPlain(text)) return Counter::LongestPrefix(text, limit);
    return LongestPrefixOf(encoder_, text, limit, [&](std::string_view part) {
      return Counter::LongestPrefix(part, limit);
    });
  }
  CountedPart LongestSuffix(std::string_view text, std::int64_t limit) const override {
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
        .count_tail = [this](std::string_view tail, PartStart) { return CountTail(tail); },
        .meet = [this](std::string_view window, PartStart, std::size_t joint,
                       std::span<const CountedPart> first) { return Meet(window, joint, first); }});
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
    std::vector<CountedPart> borders;
    Tail tail;
    encoder_.ForEachPiece(text, [&](std::size_t, std::size_t end, std::size_t tokens) {
      tail.tokens += static_cast<std::int64_t>(tokens);
      borders.push_back({end, tail.tokens});
      return true;
    });
    const auto last = std::find_if(
        borders.rbegin(), borders.rend(),
        [&](const CountedPart& border) { return encoder_.IsLastingBorder(text, border.bytes); });
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
                              std::span<const CountedPart> first) const {
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
  // Returns true if `text` is encoded unchanged, byte for byte, so that places in it are places in
  // the encoded text.
  bool IsPlain(std::string_view text) const {
    return !normalize_ && encoder_.has_rule() && utf8::IsValid(text);
  }
  // Returns the text to encode for `text`: itself, or a changed copy in `copy`.
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

std::size_t BpeText::CountPiece(std::string_view text, std::size_t at, std::size_t end,
                                RecentPieces* recent) const {
  const char* start = text.data() + at;
  const std::size_t bytes = end - at;
  const Vocabulary& vocabulary = bpe_.vocabulary();
  if (bytes <= 2 && vocabulary.base() == BaseSymbols::kBytes) {
    // The table of byte pairs is in a near cache, that of pieces is not.
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(start[i]); };
    if (bytes == 1 || vocabulary.MergeBytes(byte(0), byte(1)) != kNone) return 1;
  }
  if (bytes > RecentPieces::kLongest) {
    const std::string_view piece(start, bytes);
    const std::uint32_t token = vocabulary.FindPiece(piece);
    return token != kNone ? bpe_.Sent(token) : bpe_.Count(piece);
  }
  RecentPieces::Entry entry{.bytes = static_cast<std::uint32_t>(bytes)};
  if (bytes <= 8) {
    if (at + 8 <= text.size()) {
      std::memcpy(&entry.head, start, 8);
      if (bytes < 8) entry.head &= (1ull << 8 * bytes) - 1;
    } else {
      std::memcpy(&entry.head, start, bytes);
    }
    const std::uint32_t token = vocabulary.FindShortKey(entry.head, bytes);
    if (token != kNone) return bpe_.Sent(token);
  } else {
    const std::uint32_t token = vocabulary.FindPiece({start, bytes});
    if (token != kNone) return bpe_.Sent(token);
    std::memcpy(&entry.head, start, 8);
    std::memcpy(&entry.tail, start + 8, bytes - 8);
  }
  if (!recent) return bpe_.Count({start, bytes});
  RecentPieces::Entry& known = recent->At(entry);
  if (!known.Is(entry)) {
    entry.tokens = static_cast<std::uint32_t>(bpe_.Count({start, bytes}));
    known = entry;
  }
  return known.tokens;
}

std::size_t BpeText::Count(std::string_view text) const {
  std::size_t total = 0;
  ForEachPiece(text, [&](std::size_t, std::size_t, std::size_t tokens) {
    total += tokens;
    return true;
  });
  return total;
}

void BpeText::AppendSent(std::uint32_t inner, std::vector<TokenId>* out) const {
  std::string bytes;
  if (inner & Bpe::kUnknown) {
    utf8::Append(inner & ~Bpe::kUnknown, &bytes);
  } else if (const TokenId id = bpe_.vocabulary().OuterId(inner); id != kNone) {
    out->push_back(id);
  } else {
    bytes = bpe_.vocabulary().Text(inner);
  }
  for (const char byte : bytes) {
    out->push_back(byte_ids_ ? (*byte_ids_)[static_cast<unsigned char>(byte)] : kNone);
  }
}

void BpeText::EncodePiece(std::string_view piece, Encoding* scratch,
                          std::vector<TokenId>* out) const {
  const Vocabulary& vocabulary = bpe_.vocabulary();
  if (const std::uint32_t token = vocabulary.FindPiece(piece); token != kNone) {
    return AppendSent(token, out);
  }
  scratch->tokens.clear();
  scratch->bytes = 0;
  bpe_.Extend(piece, scratch);
  for (const std::uint32_t token : scratch->tokens) AppendSent(token, out);
}

void BpeText::Encode(std::string_view text, std::vector<TokenId>* out) const {
  Encoding scratch;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (token) {
      out->push_back(*token);
      return;
    }
    SplitPart(part, [&](std::size_t begin, std::size_t end) {
      EncodePiece(part.substr(begin, end - begin), &scratch, out);
      return true;
    });
  });
}

}  // namespace dossier::tokens
