#include "tokens/encode/bpe_ranges.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

constexpr std::size_t kStride = 64;        // bytes between kept borders, at least
constexpr std::size_t kShort = 512;        // bytes of a part that is just encoded
constexpr std::size_t kFirstWindow = 256;  // bytes looked at for a shared border
// A text cut behind a limit's token may count fewer tokens than one cut before it: so many tokens
// further are searched.
constexpr std::int64_t kSlack = 8;
constexpr std::size_t kMostSearched = 2048;  // bytes
// More tokens than two kept borders around a place can be apart, if no piece is long.
constexpr std::int64_t kFar = kSlack + 2 * static_cast<std::int64_t>(kStride);

}  // namespace

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

Cut LongestPrefixOf(const BpeText& encoder, std::string_view text, std::int64_t limit,
                    const Search& search) {
  // The borders from kSlack tokens under the limit to kSlack above it.
  std::size_t end = 0;
  std::int64_t tokens = 0;
  Cut sure;
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
    const Cut known = lasts ? sure : Cut{};
    tokens = known.tokens + static_cast<std::int64_t>(encoder.Count(part.substr(known.bytes)));
    if (tokens <= limit) return {at, tokens};
  }
  return search(head.substr(0, sure.bytes));
}

Cut LongestSuffixOf(const BpeText& encoder, std::string_view text, std::int64_t limit,
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

}  // namespace dossier::tokens
