// Texts, split and encoded piece by piece.
//
//   BpeText encoder(vocabulary, {}, nullptr);
//   std::size_t tokens = encoder.Count("Which package is the largest?");
//   encoder.ForEachPiece(text, 0, [](std::size_t begin, std::size_t end, std::size_t tokens) { …
//   });
//
// Valid UTF-8 only. Thread-safety: immutable.

#ifndef DOSSIER_TOKENS_ENCODE_BPE_TEXT_H_
#define DOSSIER_TOKENS_ENCODE_BPE_TEXT_H_

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokens/counter/added_tokens.h"
#include "tokens/encode/bpe.h"
#include "tokens/encode/recent_pieces.h"
#include "tokens/split/split_rules.h"
#include "tokens/split/splitter.h"

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
    const std::size_t end = LookAheadEnd(text, at);
    // An added token ends what splitting sees. One that is chosen now may give way to a longer one
    // that what is appended completes, so none may be where splitting looks.
    return end + added_.longest() <= text.size() && !added_.Occur(text, at, end + 1);
  }

  // Calls `use(begin, end, tokens)` for the pieces of `text` in order until it returns false.
  // `begin` and `end` are places in `text`. `recent` may be null, and may have seen other texts.
  template <typename Use>
  void ForEachPiece(std::string_view text, RecentPieces* recent, Use&& use) const;
  template <typename Use>
  void ForEachPiece(std::string_view text, Use&& use) const {
    std::optional<RecentPieces> recent;
    if (text.size() >= RecentPieces::kWorthIt) recent.emplace(text.size());
    ForEachPiece(text, recent ? &*recent : nullptr, use);
  }

 private:
  // Calls `use(begin, end)` for the pieces of `part`, which has no added tokens, until it returns
  // false. The loop is compiled for each rule.
  template <typename Use>
  void SplitPart(std::string_view part, Use&& use) const;
  std::size_t CountPiece(std::string_view text, std::size_t at, std::size_t end,
                         RecentPieces* recent) const;
  void AppendSent(std::uint32_t inner, std::vector<TokenId>* out) const;
  void EncodePiece(std::string_view piece, Encoding* scratch, std::vector<TokenId>* out) const;

  const Bpe bpe_;
  const AddedTokens added_;
  const std::shared_ptr<const Pattern> pattern_;
  const std::optional<ByteIds> byte_ids_;
};

template <typename Use>
void BpeText::SplitPart(std::string_view part, Use&& use) const {
  const auto split = [&](auto piece_end) {
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = piece_end(part, at);
      if (!use(at, end)) return;
      at = end;
    }
  };
  if (pattern_) {
    split([&](std::string_view text, std::size_t at) { return pattern_->PieceEnd(text, at); });
  } else {
    internal::VisitRule(bpe_.vocabulary().rule(), split);
  }
}

template <typename Use>
void BpeText::ForEachPiece(std::string_view text, RecentPieces* recent, Use&& use) const {
  bool going = true;
  added_.ForEach(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (!going) return;
    const auto start = static_cast<std::size_t>(part.data() - text.data());
    if (token) {
      going = use(start, start + part.size(), std::size_t{1});
      return;
    }
    SplitPart(part, [&](std::size_t begin, std::size_t end) {
      return going = use(start + begin, start + end, CountPiece(part, begin, end, recent));
    });
  });
}

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_BPE_TEXT_H_
