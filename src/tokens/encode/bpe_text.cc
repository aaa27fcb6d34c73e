#include "tokens/encode/bpe_text.h"

#include "base/text/utf8.h"

namespace dossier::tokens {

std::size_t BpeText::CountPiece(std::string_view text, std::size_t at, std::size_t end,
                                RecentPieces* recent) const {
  const char* start = text.data() + at;
  const std::size_t bytes = end - at;
  const Vocabulary& vocabulary = bpe_.vocabulary();
  if (bytes <= 2 && vocabulary.base() == BaseSymbols::kBytes) {
    // The table of pairs of bytes is near, that of pieces is far.
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
