#include "tokens/encode/sentence_piece_counter.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "tokens/counter/piece_running.h"
#include "tokens/encode/recent_pieces.h"

namespace dossier::tokens {
namespace {

using Begin = SentencePieces::Begin;

// A text that is cut behind a limit's token may count fewer tokens than one cut before it: so many
// tokens further are searched.
constexpr std::int64_t kPieceSlack = 8;
constexpr std::size_t kMostPiecesSearched = 2048;  // bytes

// Counts the pieces of a text of `bytes`; in a long one, short pieces by what was counted lately.
class PieceCounts {
 public:
  PieceCounts(const SentencePieces& pieces, std::size_t bytes) : pieces_(pieces) {
    if (bytes >= RecentPieces::kWorthIt) recent_.emplace(bytes);
  }

  std::int64_t Of(std::string_view piece) {
    if (!recent_ || piece.size() > RecentPieces::kLongest) return Merge(piece);
    RecentPieces::Entry entry{.bytes = static_cast<std::uint32_t>(piece.size())};
    const std::size_t head = std::min<std::size_t>(piece.size(), 8);
    std::memcpy(&entry.head, piece.data(), head);
    std::memcpy(&entry.tail, piece.data() + head, piece.size() - head);
    RecentPieces::Entry& known = recent_->At(entry);
    if (!known.Is(entry)) {
      entry.tokens = static_cast<std::uint32_t>(Merge(piece));
      known = entry;
    }
    return known.tokens;
  }

 private:
  std::int64_t Merge(std::string_view piece) {
    ids_.clear();
    pieces_.EncodePiece(piece, &ids_);
    return static_cast<std::int64_t>(ids_.size());
  }

  const SentencePieces& pieces_;
  std::optional<RecentPieces> recent_;
  std::vector<TokenId> ids_;
};

class SentencePieceCounter final : public Counter {
 public:
  explicit SentencePieceCounter(SentencePieceOptions options)
      : name_(std::move(options.name)),
        pieces_(std::move(options.pieces)),
        added_(std::move(options.added)),
        begin_(options.begin) {}

  Count CountText(std::string_view text) const override {
    std::string cleaned;
    return {.tokens = CountTail(Cleaned(text, &cleaned), Place::kStart).tokens, .exact = true};
  }

  Result<std::vector<TokenId>> Encode(std::string_view text) const override {
    std::string cleaned;
    std::vector<TokenId> out;
    added_.ForEach(Cleaned(text, &cleaned),
                   [&](std::string_view part, std::optional<TokenId> token) {
                     if (token) {
                       out.push_back(*token);
                     } else {
                       pieces_.Encode(part, begin_, &out);
                     }
                   });
    return out;
  }

  Cut LongestPrefix(std::string_view text, std::int64_t limit) const override;
  std::unique_ptr<Running> Start() const override {
    return std::make_unique<PieceRunning>(PieceFunctions{
        .count_tail = [this](std::string_view tail, Place place) { return CountTail(tail, place); },
        .meet = [this](std::string_view window, Place place, std::size_t joint,
                       std::span<const Cut> first) { return Meet(window, place, joint, first); }});
  }
  std::vector<Measured> Measure(std::span<const std::string_view> texts) const override;

  std::string name() const override { return name_; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }

 private:
  // Calls `use(end, tokens, border)` for the pieces of `text` and its added tokens in order
  // until it returns false; `border`: `end` lies between two code points that are in no token side
  // by side.
  template <typename Use>
  void ForEachPiece(std::string_view text, Place place, PieceCounts* counts, Use&& use) const;
  Tail CountTail(std::string_view text, Place place) const;
  Measured MeasureOne(std::string_view text, PieceCounts* counts) const;
  std::optional<Meeting> Meet(std::string_view window, Place place, std::size_t joint,
                              std::span<const Cut> first) const;

  // Whether a border of pieces stays one whatever is appended: what an added token comes to cover
  // starts behind it, and none that starts before it reaches over it.
  bool IsLasting(std::string_view text, std::size_t at) const {
    return at + added_.longest() <= text.size() && !added_.Cross(text, at);
  }
  static std::string_view Cleaned(std::string_view text, std::string* copy) {
    if (utf8::IsValid(text)) return text;
    return *copy = utf8::Sanitize(text);
  }

  const std::string name_;
  const SentencePieces pieces_;
  const AddedTokens added_;
  const Begin begin_;
};

template <typename Use>
void SentencePieceCounter::ForEachPiece(std::string_view text, Place place, PieceCounts* counts,
                                        Use&& use) const {
  bool going = true;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (!going) return;
    const auto start = static_cast<std::size_t>(part.data() - text.data());
    if (token) {
      going = use(start + part.size(), std::int64_t{1}, false);
      return;
    }
    const bool continues = place == Place::kBorder && start == 0;
    pieces_.ForEachPiece(part, continues ? Begin::kAsItIs : begin_,
                         [&](std::size_t end, std::string_view piece) {
                           if (!going) return;
                           const bool border = end > 0 && end < part.size();
                           going = use(start + end, counts->Of(piece), border);
                         });
  });
}

Tail SentencePieceCounter::CountTail(std::string_view text, Place place) const {
  Tail tail;
  std::vector<Cut> borders;
  PieceCounts counts(pieces_, text.size());
  ForEachPiece(text, place, &counts, [&](std::size_t end, std::int64_t tokens, bool border) {
    tail.tokens += tokens;
    if (border) borders.push_back({end, tail.tokens});
    return true;
  });
  while (!borders.empty() && !IsLasting(text, borders.back().bytes)) borders.pop_back();
  if (!borders.empty()) tail.lasting = borders.back();
  return tail;
}

std::vector<Measured> SentencePieceCounter::Measure(std::span<const std::string_view> texts) const {
  PieceCounts counts(pieces_, TotalBytes(texts));
  std::vector<Measured> out;
  out.reserve(texts.size());
  for (const std::string_view text : texts) {
    out.push_back(utf8::IsValid(text) ? MeasureOne(text, &counts)
                                      : Measured{.tokens = CountText(text).tokens});
  }
  return out;
}

Measured SentencePieceCounter::MeasureOne(std::string_view text, PieceCounts* counts) const {
  MeasuredBorders borders(text.size());
  std::int64_t total = 0;
  ForEachPiece(text, Place::kStart, counts, [&](std::size_t end, std::int64_t tokens, bool border) {
    total += tokens;
    if (border) borders.Add({end, total});
    return true;
  });
  return std::move(borders).Finish(total, [&](std::size_t at) { return IsLasting(text, at); });
}

std::optional<Meeting> SentencePieceCounter::Meet(std::string_view window, Place place,
                                                  std::size_t joint,
                                                  std::span<const Cut> first) const {
  MeetingFinder finder(joint, first);
  std::optional<Meeting> meeting;
  std::int64_t before = 0;
  PieceCounts counts(pieces_, window.size());
  ForEachPiece(window, place, &counts, [&](std::size_t end, std::int64_t tokens, bool border) {
    before += tokens;
    if (border && finder.Matches(end) && IsLasting(window, end)) meeting = finder.At(before);
    return !meeting && finder.going();
  });
  return meeting;
}

Cut SentencePieceCounter::LongestPrefix(std::string_view text, std::int64_t limit) const {
  if (!utf8::IsValid(text)) return Counter::LongestPrefix(text, limit);
  std::size_t end = 0;
  std::int64_t tokens = 0;
  std::vector<Cut> borders = {{}};  // that are surely not too far
  PieceCounts counts(pieces_, text.size());
  ForEachPiece(text, Place::kStart, &counts, [&](std::size_t at, std::int64_t count, bool border) {
    tokens += count;
    end = at;
    if (border && tokens <= limit - kPieceSlack) borders.push_back({at, tokens});
    return tokens <= limit + kPieceSlack;
  });
  while (borders.size() > 1 && added_.Cross(text, borders.back().bytes)) borders.pop_back();
  const Cut sure = borders.back();
  if (end - sure.bytes > kMostPiecesSearched)
    return Counter::LongestPrefix(text.substr(0, end), limit);
  const Place place = sure.bytes == 0 ? Place::kStart : Place::kBorder;
  for (std::size_t at = end; at > sure.bytes; at = utf8::FloorBoundary(text, at - 1)) {
    tokens = sure.tokens + CountTail(text.substr(sure.bytes, at - sure.bytes), place).tokens;
    if (tokens <= limit) return {at, tokens};
  }
  return sure;
}

}  // namespace

std::shared_ptr<const Counter> MakeSentencePieceCounter(SentencePieceOptions options) {
  return std::make_shared<const SentencePieceCounter>(std::move(options));
}

}  // namespace dossier::tokens
