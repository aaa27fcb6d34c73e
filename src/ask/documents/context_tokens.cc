#include "ask/documents/context_tokens.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace dossier::ask {
namespace {

constexpr std::uint64_t kCountedWhole = 4u << 20;  // bytes of all texts
constexpr std::uint64_t kPieces = 64, kPieceBytes = 16u << 10;
constexpr Millis kWaitForCopies{500};
constexpr double kBytesPerToken = 4;  // for texts that were not sampled

ContextTokens WithMargin(double tokens, double most) {
  return {.tokens = static_cast<std::int64_t>(std::ceil(tokens)),
          .most = static_cast<std::int64_t>(std::ceil(most)),
          .exact = false};
}

Result<ContextTokens> CountWhole(const ContextSet& context, const tokens::Counter& counter) {
  ContextTokens sum;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* text, context.Stored(i));
    const tokens::Count count = counter.CountText(text->map.bytes());
    sum.tokens += count.tokens;
    sum.most += count.upper();
    sum.exact &= count.exact;
  }
  return sum;
}

// Counts samples at equal distances over all texts. The upper bound assumes that all text has as
// many tokens per byte as the densest sample.
Result<ContextTokens> CountPieces(const ContextSet& context, const tokens::Counter& counter) {
  const std::uint64_t step = context.bytes() / kPieces;
  double bytes = 0, tokens = 0, densest = 0;
  std::uint64_t whole = 0, next = step / 2;  // start of the document; the next sample
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(i));
    const std::string_view text = stored->map.bytes();
    for (; next < whole + text.size(); next += step) {
      const std::string_view piece = text.substr(next - whole, kPieceBytes);
      const auto count = static_cast<double>(counter.CountText(piece).tokens);
      const auto size = static_cast<double>(piece.size());
      bytes += size;
      tokens += count;
      // The last bytes of a document are too few to be representative.
      if (piece.size() >= kPieceBytes / 16) densest = std::max(densest, count / size);
    }
    whole += text.size();
  }
  const auto all = static_cast<double>(whole);
  const double mean = bytes > 0 ? tokens / bytes : 1 / kBytesPerToken;
  return WithMargin(all * mean, all * std::max(mean, densest) * (1 + counter.margin()) + 1);
}

}  // namespace

Result<ContextTokens> CountContext(const ContextSet& context, const tokens::Counter& counter,
                                   const Clock& clock) {
  if (context.bytes() <= kCountedWhole) return CountWhole(context, counter);
  if (context.WaitForCopies(clock.Now() + kWaitForCopies)) return CountPieces(context, counter);
  const auto bytes = static_cast<double>(context.bytes());
  return WithMargin(bytes / kBytesPerToken, bytes);  // every token has at least one byte
}

}  // namespace dossier::ask
