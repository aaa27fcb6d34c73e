// Ranges for byte-pair encodings, and the longest parts that fit. Internal to `tokens`.
//
// The whole text is encoded once; some of its borders are kept with the tokens before them. A part
// is then encoded from its start to the first of them that it shares, and from the last that its
// end does not move. Costs a few hundred bytes a part, or what the pieces at its ends are long.
//
// Thread-safety: immutable; the BpeText and the text outlive it.

#ifndef DOSSIER_TOKENS_ENCODE_BPE_RANGES_H_
#define DOSSIER_TOKENS_ENCODE_BPE_RANGES_H_

#include <functional>
#include <optional>
#include <vector>

#include "tokens/counter/counter.h"
#include "tokens/encode/bpe_text.h"

namespace dossier::tokens {

class BpeRanges final : public Ranges {
 public:
  BpeRanges(const BpeText& encoder, std::string_view text);

  Count CountRange(std::size_t begin, std::size_t end) const override {
    return {.tokens = Tokens(begin, end), .exact = true};
  }

  std::int64_t Tokens(std::size_t begin, std::size_t end) const;
  // A place with more than `tokens` tokens behind it, not much more if there is no long piece; 0 if
  // the text has no more.
  std::size_t PlaceBefore(std::int64_t tokens) const;

 private:
  struct Border {
    std::size_t at;
    std::int64_t tokens;  // before it
  };
  using Place = std::vector<Border>::const_iterator;

  // The first kept border that is one of the part from `begin` too, and the part's tokens before
  // it; unset if there is none before `end`.
  struct Meeting {
    Place border;
    std::int64_t tokens;
  };
  std::optional<Meeting> Meet(std::size_t begin, std::size_t end) const;

  const BpeText& encoder_;
  const std::string_view text_;
  std::vector<Border> borders_;  // the first is the start of the text
  std::int64_t tokens_ = 0;      // of the whole
};

// As Counter's. `search` finds the longest part of a text the plain way; it is used where a piece
// is so long that trying every place of it would cost too much.
using Search = std::function<Cut(std::string_view)>;
Cut LongestPrefixOf(const BpeText& encoder, std::string_view text, std::int64_t limit,
                    const Search& search);
Cut LongestSuffixOf(const BpeText& encoder, std::string_view text, std::int64_t limit,
                    const Search& search);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_BPE_RANGES_H_
