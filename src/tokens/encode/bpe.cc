#include "tokens/encode/bpe.h"

#include <algorithm>
#include <array>
#include <queue>

#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

// Bytes merged at once in a long piece. Larger windows are quadratic, smaller ones join badly.
constexpr std::size_t kWindow = 48;
// Above this size a heap is faster than checking every pair.
constexpr std::size_t kMostInPlace = 192;  // below 256, see Best

// The longest piece that is merged as a whole.
constexpr std::size_t kMostShort = 64;
// Length from which a run of one byte is searched for its longest token, and the longest searched.
constexpr std::size_t kLongRun = 128;

std::size_t Utf8Bytes(std::uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

// The token that each place of a row of symbols merges into with the next, combined with the place
// in one number, so that the smallest number is the best, leftmost pair.
class Candidates {
 public:
  static constexpr std::int32_t kNever = 0x7FFFFFFF;

  explicit Candidates(std::size_t count) : vectors_((count + kLanes - 1) / kLanes) {
    for (std::size_t i = 0; i < vectors_; ++i) keys_[i] = Lanes{kNever, kNever, kNever, kNever};
  }

  void Set(std::size_t place, std::uint32_t merged) {
    // 21 bits of a number and 8 of a place.
    keys_[place / kLanes][place % kLanes] =
        merged == kNone ? kNever : static_cast<std::int32_t>(merged << 8 | place);
  }
  std::int32_t Least() const {
    // Few keys: one by one, because a vector would wait for the key that was just stored.
    if (vectors_ <= 3) {
      std::int32_t least = kNever;
      for (std::size_t i = 0; i < vectors_; ++i) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) least = std::min(least, keys_[i][lane]);
      }
      return least;
    }
    Lanes least = keys_[0];
    for (std::size_t i = 1; i < vectors_; ++i) least = least < keys_[i] ? least : keys_[i];
    return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  }

 private:
  static constexpr std::size_t kLanes = 4;
  using Lanes [[gnu::vector_size(16)]] = std::int32_t;

  std::size_t vectors_;
  std::array<Lanes, kMostInPlace / kLanes> keys_;
};

}  // namespace

std::size_t Bpe::Bytes(std::uint32_t inner) const {
  return inner & kUnknown ? Utf8Bytes(inner & ~kUnknown) : vocabulary_->Bytes(inner);
}

std::size_t Bpe::Sent(std::uint32_t inner) const {
  if (inner & kUnknown) return Utf8Bytes(inner & ~kUnknown);
  if (vocabulary_->base() == BaseSymbols::kBytes) return 1;
  return vocabulary_->OuterId(inner) == kNone ? vocabulary_->Bytes(inner) : 1;
}

std::size_t Bpe::Symbols(std::string_view text, std::uint32_t* symbols) const {
  if (vocabulary_->base() == BaseSymbols::kBytes) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      symbols[i] = vocabulary_->ByteToken(static_cast<unsigned char>(text[i]));
    }
    return text.size();
  }
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t code_point = utf8::Next(text, &at);
    const std::uint32_t symbol = vocabulary_->FindPiece(text.substr(start, at - start));
    symbols[count++] = symbol == kNone ? kUnknown | code_point : symbol;
  }
  return count;
}

std::size_t Bpe::MergeInPlace(std::string_view text, std::uint32_t* symbols,
                              std::size_t count) const {
  if (count < 2) return count;
  const bool bytes = vocabulary_->base() == BaseSymbols::kBytes;
  Candidates candidates(count);
  // Neighbours of each place that still has a symbol.
  std::array<std::uint8_t, kMostInPlace + 1> before, after;
  for (std::size_t i = 0; i < count; ++i) {
    before[i] = static_cast<std::uint8_t>(i - 1);
    after[i] = static_cast<std::uint8_t>(i + 1);
    if (i + 1 == count) continue;
    candidates.Set(i, bytes ? vocabulary_->MergeBytes(static_cast<unsigned char>(text[i]),
                                                      static_cast<unsigned char>(text[i + 1]))
                            : Pair(symbols[i], symbols[i + 1]));
  }
  std::size_t left = count;
  for (std::int32_t best; (best = candidates.Least()) != Candidates::kNever; --left) {
    const std::size_t place = best & 0xFF, gone = after[place], next = after[gone];
    symbols[place] = static_cast<std::uint32_t>(best) >> 8;
    symbols[gone] = kNone;
    candidates.Set(gone, kNone);
    after[place] = static_cast<std::uint8_t>(next);
    before[next] = static_cast<std::uint8_t>(place);
    candidates.Set(place, next < count ? Pair(symbols[place], symbols[next]) : kNone);
    if (place > 0) candidates.Set(before[place], Pair(symbols[before[place]], symbols[place]));
  }
  if (left == count) return count;
  for (std::size_t i = 0, out = 0; out < left; i = after[i]) symbols[out++] = symbols[i];
  return left;
}

void Bpe::MergeByQueue(std::string_view text, std::vector<std::uint32_t>* tokens) const {
  std::vector<std::uint32_t> symbols(text.size());
  const std::size_t count = Symbols(text, symbols.data());
  constexpr std::uint32_t kGone = kNone;
  std::vector<std::uint32_t> before(count), after(count);
  struct Candidate {
    std::uint32_t merged, at, left, right;
    bool operator<(const Candidate& other) const {  // the queue's top is the greatest
      return merged != other.merged ? merged > other.merged : at > other.at;
    }
  };
  std::priority_queue<Candidate> queue;
  const auto offer = [&](std::uint32_t at) {
    if (after[at] >= count) return;
    const std::uint32_t left = symbols[at], right = symbols[after[at]];
    if (const std::uint32_t merged = Pair(left, right); merged != kNone) {
      queue.push({merged, at, left, right});
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    before[i] = i - 1;  // kNone for the first
    after[i] = i + 1;
  }
  for (std::uint32_t i = 0; i < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    if (symbols[best.at] != best.left || after[best.at] >= count) continue;
    const std::uint32_t gone = after[best.at];
    if (symbols[gone] != best.right) continue;
    symbols[best.at] = best.merged;
    symbols[gone] = kGone;
    after[best.at] = after[gone];
    if (after[gone] < count) before[after[gone]] = best.at;
    offer(best.at);
    if (before[best.at] != kNone) offer(before[best.at]);
  }
  for (std::uint32_t i = 0; i < count; i = after[i]) tokens->push_back(symbols[i]);
}

void Bpe::Merge(std::string_view text, std::vector<std::uint32_t>* tokens) const {
  if (text.size() > kMostInPlace) return MergeByQueue(text, tokens);
  const std::size_t old = tokens->size();
  tokens->resize(old + text.size());
  const std::size_t count = Symbols(text, tokens->data() + old);
  tokens->resize(old + MergeInPlace(text, tokens->data() + old, count));
}

bool Bpe::IsJoint(std::uint32_t left, std::uint32_t right) const {
  if ((left | right) & kUnknown) return true;
  // Goes back in time: of the two tokens at the border, the one made later is taken apart. At each
  // moment the pair at the border would have been merged if its rank were below that of the next
  // merge there, or equal to it and further to the left.
  std::uint32_t limit = kNone;
  while (true) {
    const std::uint32_t merged = vocabulary_->Merge(left, right);
    if (merged < limit) return false;
    if (left > right) {
      limit = left;
      left = vocabulary_->Right(left);
      if (left == limit) return true;
    } else {
      limit = right + 1;
      right = vocabulary_->Left(right);
      if (right + 1 == limit) return true;
    }
  }
}

void Bpe::Shorten(std::size_t bytes, Encoding* encoding) const {
  while (encoding->bytes > bytes) {
    encoding->bytes -= Bytes(encoding->tokens.back());
    encoding->tokens.pop_back();
  }
}

void Bpe::ExtendRun(std::string_view text, Encoding* encoding) const {
  const std::string_view rest = text.substr(encoding->bytes);
  std::string_view run = rest.substr(0, kLongRun);
  if (run.size() < kLongRun || run.find_first_not_of(run[0]) != std::string_view::npos) return;
  std::uint32_t token = kNone;
  for (; run.size() > 1; run.remove_suffix(1)) {
    token = vocabulary_->FindPiece(run);
    const bool merged = token != kNone && vocabulary_->Left(token) != token;
    if (merged && IsJoint(token, token)) break;
  }
  if (run.size() < 2) return;
  if (!encoding->tokens.empty() && !IsJoint(encoding->tokens.back(), token)) return;
  for (std::size_t at = 0; rest.substr(at).starts_with(run); at += run.size()) {
    encoding->tokens.push_back(token);
    encoding->bytes += run.size();
  }
}

void Bpe::Extend(std::string_view text, Encoding* encoding) const {
  if (!vocabulary_->monotone()) {
    // IsJoint does not hold: encode everything again.
    encoding->tokens.clear();
    MergeByQueue(text, &encoding->tokens);
    encoding->bytes = text.size();
    return;
  }
  while (true) {
    ExtendRun(text, encoding);
    if (encoding->bytes >= text.size()) return;
    const std::size_t end = utf8::FloorBoundary(text, encoding->bytes + kWindow);
    for (std::size_t back = 0;; back = 2 * back + 1) {
      for (std::size_t i = 0; i < back && !encoding->tokens.empty(); ++i) {
        encoding->bytes -= Bytes(encoding->tokens.back());
        encoding->tokens.pop_back();
      }
      const std::size_t kept = encoding->tokens.size();
      Merge(text.substr(encoding->bytes, end - encoding->bytes), &encoding->tokens);
      if (kept == 0 || IsJoint(encoding->tokens[kept - 1], encoding->tokens[kept])) break;
      encoding->tokens.resize(kept);
    }
    encoding->bytes = end;
  }
}

std::size_t Bpe::CountThreeBytes(std::string_view piece) const {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(piece[i]); };
  // Two merges would make one token of it.
  const bool merges = vocabulary_->MergeBytes(byte(0), byte(1)) != kNone ||
                      vocabulary_->MergeBytes(byte(1), byte(2)) != kNone;
  return merges ? 2 : 3;
}

std::size_t Bpe::CountFourBytes(std::string_view piece) const {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(piece[i]); };
  const auto base = [&](std::size_t i) { return vocabulary_->ByteToken(byte(i)); };
  const std::uint32_t first = vocabulary_->MergeBytes(byte(0), byte(1));
  const std::uint32_t middle = vocabulary_->MergeBytes(byte(1), byte(2));
  const std::uint32_t last = vocabulary_->MergeBytes(byte(2), byte(3));
  const std::uint32_t best = std::min({first, middle, last});
  if (best == kNone) return 4;
  bool again = false;
  if (best == first) {
    again = last != kNone || Pair(best, base(2)) != kNone;
  } else if (best == middle) {
    again = Pair(base(0), best) != kNone || Pair(best, base(3)) != kNone;
  } else {
    again = first != kNone || Pair(base(1), best) != kNone;
  }
  return again ? 2 : 3;
}

std::size_t Bpe::Count(std::string_view piece) const {
  if (piece.size() <= kMostShort && vocabulary_->base() == BaseSymbols::kBytes) {
    if (piece.size() < 3) return piece.size();
    if (piece.size() == 3) return CountThreeBytes(piece);
    if (piece.size() == 4) return CountFourBytes(piece);
    std::array<std::uint32_t, kMostShort> symbols;
    return MergeInPlace(piece, symbols.data(), Symbols(piece, symbols.data()));
  }
  Encoding encoding;
  Extend(piece, &encoding);
  std::size_t tokens = 0;
  for (const std::uint32_t inner : encoding.tokens) tokens += Sent(inner);
  return tokens;
}

}  // namespace dossier::tokens
