// Texts, split and encoded piece by piece.
//
//   BpeText encoder(vocabulary, {}, nullptr);
//   std::size_t tokens = encoder.Count("Which package is the largest?");
//   encoder.ForEachPiece(text, 0, [](std::size_t begin, std::size_t end, std::size_t tokens) { …
//   });
//
// Valid UTF-8 only. Thread-safety: immutable.

#ifndef DOSSIER_TOKENS_BPE_TEXT_H_
#define DOSSIER_TOKENS_BPE_TEXT_H_

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokens/added_tokens.h"
#include "tokens/bpe.h"
#include "tokens/pattern.h"
#include "tokens/recent_pieces.h"
#include "tokens/split_rules.h"

namespace dossier::tokens {

// The token of each byte, for code points that a vocabulary does not have.
using ByteIds = std::array<TokenId, 256>;

class BpeText {
 public:
  BpeText(std::shared_ptr<const Vocabulary> vocabulary, AddedTokens added,
          std::shared_ptr<const Pattern> pattern, std::optional<ByteIds> byte_ids = std::nullopt)
      : bpe_(std::move(vocabulary)),
        added_(std::move(added)),
        pattern_(std::move(pattern)),
        byte_ids_(byte_ids) {}

  std::size_t Count(std::string_view text) const;
  void Encode(std::string_view text, std::vector<TokenId>* out) const;

  // False: pieces are what a PCRE2 pattern says, and nothing is known about where they may end.
  bool has_rule() const { return bpe_.vocabulary().rule() != SplitRule::kPattern; }
  // Whether the border `at` of two pieces of `text` stays one whatever is appended, and with it all
  // borders before. False is always safe.
  bool IsLastingBorder(std::string_view text, std::size_t at) const {
    return at + added_.longest() <= text.size() && IsLasting(text, at);
  }

  // Calls `use(begin, end, tokens)` for the pieces of `text` in order until it returns false.
  // `begin` and `end` are places in `text`.
  template <typename Use>
  void ForEachPiece(std::string_view text, Use&& use) const;

 private:
  // Bytes of text; below, remembering pieces costs more than it saves.
  static constexpr std::size_t kWorthRemembering = 16 << 10;

  std::size_t CountPlain(std::string_view text, RecentPieces* recent) const;
  std::size_t CountPiece(std::string_view text, std::size_t at, std::size_t end,
                         RecentPieces* recent) const;
  void AppendSent(std::uint32_t inner, std::vector<TokenId>* out) const;
  void EncodePiece(std::string_view piece, Encoding* scratch, std::vector<TokenId>* out) const;
  std::size_t PieceEnd(std::string_view text, std::size_t at) const {
    return pattern_ ? pattern_->PieceEnd(text, at) : NextPiece(bpe_.vocabulary().rule(), text, at);
  }

  const Bpe bpe_;
  const AddedTokens added_;
  const std::shared_ptr<const Pattern> pattern_;
  const std::optional<ByteIds> byte_ids_;
};

template <typename Use>
void BpeText::ForEachPiece(std::string_view text, Use&& use) const {
  std::optional<RecentPieces> recent;
  if (text.size() >= kWorthRemembering) recent.emplace();
  bool going = true;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (!going) return;
    const auto start = static_cast<std::size_t>(part.data() - text.data());
    if (token) {
      going = use(start, start + part.size(), std::size_t{1});
      return;
    }
    for (std::size_t at = 0; going && at < part.size();) {
      const std::size_t end = PieceEnd(part, at);
      going = use(start + at, start + end, CountPiece(part, at, end, recent ? &*recent : nullptr));
      at = end;
    }
  });
}

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_BPE_TEXT_H_
