#include "tokens/bpe_text.h"

namespace dossier::tokens {

std::size_t BpeText::CountPiece(std::string_view text, std::size_t at, std::size_t end,
                                RecentPieces* recent) const {
  const char* start = text.data() + at;
  const std::size_t bytes = end - at;
  const Vocabulary& vocabulary = bpe_.vocabulary();
  if (bytes > RecentPieces::kLongest) {
    const std::string_view piece(start, bytes);
    return vocabulary.FindPiece(piece) != kNone ? 1 : bpe_.Count(piece);
  }
  RecentPieces::Entry entry{.bytes = static_cast<std::uint32_t>(bytes)};
  if (bytes <= 8) {
    if (at + 8 <= text.size()) {
      std::memcpy(&entry.head, start, 8);
      if (bytes < 8) entry.head &= (1ull << 8 * bytes) - 1;
    } else {
      std::memcpy(&entry.head, start, bytes);
    }
    if (vocabulary.FindShortKey(entry.head, bytes) != kNone) return 1;
  } else {
    if (vocabulary.FindPiece({start, bytes}) != kNone) return 1;
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

std::size_t BpeText::CountPlain(std::string_view text, RecentPieces* recent) const {
  std::size_t tokens = 0;
  if (pattern_) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = pattern_->PieceEnd(text, at);
      tokens += CountPiece(text, at, end, recent);
      at = end;
    }
    return tokens;
  }
  internal::VisitRule(bpe_.vocabulary().rule(), [&](auto piece_end) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = piece_end(text, at);
      tokens += CountPiece(text, at, end, recent);
      at = end;
    }
  });
  return tokens;
}

std::size_t BpeText::Count(std::string_view text) const {
  std::optional<RecentPieces> recent;
  if (text.size() >= kWorthRemembering) recent.emplace();
  RecentPieces* const shared = recent ? &*recent : nullptr;
  if (added_.empty()) return CountPlain(text, shared);
  std::size_t tokens = 0;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    tokens += token ? 1 : CountPlain(part, shared);
  });
  return tokens;
}

void BpeText::EncodePiece(std::string_view piece, Encoding* scratch,
                          std::vector<TokenId>* out) const {
  const Vocabulary& vocabulary = bpe_.vocabulary();
  if (const std::uint32_t token = vocabulary.FindPiece(piece); token != kNone) {
    out->push_back(vocabulary.OuterId(token));
    return;
  }
  scratch->tokens.clear();
  scratch->bytes = 0;
  bpe_.Extend(piece, scratch);
  for (const std::uint32_t token : scratch->tokens) out->push_back(vocabulary.OuterId(token));
}

void BpeText::Encode(std::string_view text, std::vector<TokenId>* out) const {
  Encoding scratch;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (token) {
      out->push_back(*token);
      return;
    }
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = PieceEnd(part, at);
      EncodePiece(part.substr(at, end - at), &scratch, out);
      at = end;
    }
  });
}

}  // namespace dossier::tokens
