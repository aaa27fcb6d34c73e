#include "tokens/encode/sentence_piece.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <queue>

#include "tokens/counter/piece_running.h"
#include "tokens/encode/bpe_counter.h"
#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {
namespace {

constexpr std::size_t kNoSymbol = std::numeric_limits<std::size_t>::max();

// A part of a piece; symbols are linked in text order.
struct Symbol {
  std::size_t begin, bytes;  // 0 bytes: merged into the one before
  std::size_t before, after;
};

// Two neighbours that join into a token.
struct Candidate {
  float score;
  std::size_t left, right;
  std::size_t bytes;  // of both when they were found; if it differs now, one has changed
};

struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  }
};

}  // namespace

Result<SentencePieces> SentencePieces::Make(const std::vector<Token>& tokens) {
  SentencePieces out;
  if (tokens.size() > kMostTokens) {
    return MakeError(ErrorCode::kDamaged, "unusable vocabulary: {} tokens, more than {}",
                     tokens.size(), kMostTokens);
  }
  std::size_t bytes = 0;
  for (const Token& token : tokens) bytes += token.text.size();
  out.texts_.reserve(bytes);  // so that nothing moves
  out.tokens_.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    DOSSIER_RETURN_IF_ERROR(out.Add(static_cast<TokenId>(id), tokens[id].text, tokens[id].score));
  }
  DOSSIER_RETURN_IF_ERROR(out.FindByteTokens());
  return out;
}

Status SentencePieces::Add(TokenId id, std::string_view text, float score) {
  if (text.size() > kMostTokenBytes) {
    return MakeError(ErrorCode::kDamaged, "unusable vocabulary: token {} has {} bytes", id,
                     text.size());
  }
  if (std::isnan(score)) {
    return MakeError(ErrorCode::kDamaged, "unusable vocabulary: the score of token {} is no number",
                     id);
  }
  // No encoded text has such parts.
  if (text.empty() || !utf8::IsValid(text)) return {};
  const std::size_t start = texts_.size();
  texts_.insert(texts_.end(), text.begin(), text.end());
  // Of two tokens with the same text, llama.cpp uses the last.
  tokens_.insert_or_assign({texts_.data() + start, text.size()}, Known{id, score});
  longest_ = std::max(longest_, text.size());
  char32_t last = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool first = at == 0;
    const char32_t c = utf8::Next(text, &at);
    if (!first) neighbours_.insert(std::uint64_t{last} << 32 | c);
    last = c;
  }
  return {};
}

Status SentencePieces::FindByteTokens() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Known* known = Find(fmt::format("<0x{:02X}>", byte));
    const char itself = static_cast<char>(byte);
    if (!known) known = Find({&itself, 1});
    if (!known) {
      return MakeError(ErrorCode::kUnavailable,
                       "a vocabulary without byte fall-back is not counted here: it has no token "
                       "<0x{:02X}>",
                       byte);
    }
    byte_tokens_[byte] = known->id;
  }
  return {};
}

void SentencePieces::Encode(std::string_view text, Begin begin, std::vector<TokenId>* out) const {
  ForEachPiece(text, begin, [&](std::size_t, std::string_view piece) { EncodePiece(piece, out); });
}

void SentencePieces::EncodePiece(std::string_view piece, std::vector<TokenId>* out) const {
  std::vector<Symbol> symbols;
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t start = at;
    utf8::Next(piece, &at);
    const std::size_t index = symbols.size();
    symbols.push_back({start, at - start, index == 0 ? kNoSymbol : index - 1,
                       at == piece.size() ? kNoSymbol : index + 1});
  }
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> queue;
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (left == kNoSymbol || right == kNoSymbol) return;
    const std::size_t bytes = symbols[left].bytes + symbols[right].bytes;
    const Known* joined = Find(piece.substr(symbols[left].begin, bytes));
    if (joined) queue.push({joined->score, left, right, bytes});
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) consider(i, i + 1);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol &left = symbols[best.left], &right = symbols[best.right];
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != best.bytes) continue;
    left.bytes = best.bytes;
    right.bytes = 0;
    left.after = right.after;
    if (left.after != kNoSymbol) symbols[left.after].before = best.left;
    consider(left.before, best.left);
    consider(best.left, left.after);
  }
  for (std::size_t i = 0; i != kNoSymbol && i < symbols.size(); i = symbols[i].after) {
    const std::string_view text = piece.substr(symbols[i].begin, symbols[i].bytes);
    if (const Known* known = Find(text)) {
      out->push_back(known->id);
      continue;
    }
    for (const char byte : text) out->push_back(byte_tokens_[static_cast<unsigned char>(byte)]);
  }
}

namespace {

using Begin = SentencePieces::Begin;

// A text that is cut after a token at the limit may have fewer tokens than one cut before it, so
// this many more tokens are searched.
constexpr std::int64_t kPieceSlack = 8;
constexpr std::size_t kMostPiecesSearched = 2048;  // bytes

// Counts the pieces of a text of `bytes`; in a long one, short pieces are looked up among recent
// counts.
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
    return {.tokens = CountTail(Cleaned(text, &cleaned), PartStart::kStart).tokens, .exact = true};
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

  CountedPart LongestPrefix(std::string_view text, std::int64_t limit) const override;
  std::unique_ptr<Running> Start() const override {
    return std::make_unique<PieceRunning>(
        PieceFunctions{.count_tail = [this](std::string_view tail,
                                            PartStart place) { return CountTail(tail, place); },
                       .meet =
                           [this](std::string_view window, PartStart place, std::size_t joint,
                                  std::span<const CountedPart> first) {
                             return Meet(window, place, joint, first);
                           }});
  }
  std::vector<Measured> Measure(std::span<const std::string_view> texts) const override;

  std::string name() const override { return name_; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }

 private:
  // Calls `use(end, tokens, border)` for the pieces of `text` and its added tokens in order until
  // it returns false. `border`: `end` is between two code points that are adjacent in no token.
  template <typename Use>
  void ForEachPiece(std::string_view text, PartStart place, PieceCounts* counts, Use&& use) const;
  Tail CountTail(std::string_view text, PartStart place) const;
  Measured MeasureOne(std::string_view text, PieceCounts* counts) const;
  std::optional<Meeting> Meet(std::string_view window, PartStart place, std::size_t joint,
                              std::span<const CountedPart> first) const;

  // Returns true if a piece border stays whatever is appended: an added token that forms later
  // starts after it, and none that starts before it crosses it.
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
void SentencePieceCounter::ForEachPiece(std::string_view text, PartStart place, PieceCounts* counts,
                                        Use&& use) const {
  bool going = true;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (!going) return;
    const auto start = static_cast<std::size_t>(part.data() - text.data());
    if (token) {
      going = use(start + part.size(), std::int64_t{1}, false);
      return;
    }
    const bool continues = place == PartStart::kBorder && start == 0;
    pieces_.ForEachPiece(part, continues ? Begin::kAsItIs : begin_,
                         [&](std::size_t end, std::string_view piece) {
                           if (!going) return;
                           const bool border = end > 0 && end < part.size();
                           going = use(start + end, counts->Of(piece), border);
                         });
  });
}

Tail SentencePieceCounter::CountTail(std::string_view text, PartStart place) const {
  Tail tail;
  std::vector<CountedPart> borders;
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
  ForEachPiece(text, PartStart::kStart, counts,
               [&](std::size_t end, std::int64_t tokens, bool border) {
                 total += tokens;
                 if (border) borders.Add({end, total});
                 return true;
               });
  return std::move(borders).Finish(total, [&](std::size_t at) { return IsLasting(text, at); });
}

std::optional<Meeting> SentencePieceCounter::Meet(std::string_view window, PartStart place,
                                                  std::size_t joint,
                                                  std::span<const CountedPart> first) const {
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

CountedPart SentencePieceCounter::LongestPrefix(std::string_view text, std::int64_t limit) const {
  if (!utf8::IsValid(text)) return Counter::LongestPrefix(text, limit);
  std::size_t end = 0;
  std::int64_t tokens = 0;
  std::vector<CountedPart> borders = {{}};  // certainly not too far
  PieceCounts counts(pieces_, text.size());
  ForEachPiece(text, PartStart::kStart, &counts,
               [&](std::size_t at, std::int64_t count, bool border) {
                 tokens += count;
                 end = at;
                 if (border && tokens <= limit - kPieceSlack) borders.push_back({at, tokens});
                 return tokens <= limit + kPieceSlack;
               });
  while (borders.size() > 1 && added_.Cross(text, borders.back().bytes)) borders.pop_back();
  const CountedPart sure = borders.back();
  if (end - sure.bytes > kMostPiecesSearched)
    return Counter::LongestPrefix(text.substr(0, end), limit);
  const PartStart place = sure.bytes == 0 ? PartStart::kStart : PartStart::kBorder;
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
