#include "tokens/encode/sentence_piece.h"

#include <cmath>
#include <limits>
#include <queue>

#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {
namespace {

constexpr std::size_t kNoSymbol = std::numeric_limits<std::size_t>::max();

// A part of a piece; symbols are linked in the order of the text.
struct Symbol {
  std::size_t begin, bytes;  // 0 bytes: merged into the one before
  std::size_t before, after;
};

// Two neighbours that join into a token.
struct Candidate {
  float score;
  std::size_t left, right;
  std::size_t bytes;  // of both, when they were found: if not now, one of them has changed
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
  // No text that is encoded has such parts.
  if (text.empty() || !utf8::IsValid(text)) return {};
  const std::size_t start = texts_.size();
  texts_.insert(texts_.end(), text.begin(), text.end());
  // Of two tokens of one text llama.cpp knows the last.
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

}  // namespace dossier::tokens
