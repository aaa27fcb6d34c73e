// Counts exactly by a vocabulary: cl100k, o200k, and those of GGUF and tokenizer.json files.
//
//   auto counter = MakeBpeCounter({.name = "o200k_base", .vocabulary = vocabulary});
//
// Thread-safety: as Counter.

#ifndef DOSSIER_TOKENS_ENCODE_BPE_COUNTER_H_
#define DOSSIER_TOKENS_ENCODE_BPE_COUNTER_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens/counter/added_tokens.h"
#include "tokens/counter/counter.h"
#include "tokens/encode/bpe.h"
#include "tokens/encode/vocabulary.h"
#include "tokens/split/split_rules.h"
#include "tokens/split/splitter.h"

namespace dossier::tokens {

// Caches the counts of recently merged pieces, because texts repeat their rare words.
//
//   RecentPieces recent(text.size());
//   RecentPieces::Entry& known = recent.At(wanted);
//   if (!known.Is(wanted)) { wanted.tokens = …; known = wanted; }
//
// Internal to `tokens`. Thread-safety: one owner.

class RecentPieces {
 public:
  static constexpr std::size_t kLongest = 16;  // bytes of a piece that is cached
  // Bytes of text below which the cache costs more than it saves.
  static constexpr std::size_t kWorthIt = 1 << 10;

  // `bytes`: total size of the texts; clearing the cache must cost little compared to counting.
  explicit RecentPieces(std::size_t bytes)
      : entries_(std::clamp(std::bit_floor(bytes / 16), kFewest, kMost)) {}

  struct Entry {
    std::uint64_t head = 0, tail = 0;  // the piece, padded with zeros
    std::uint32_t bytes = 0, tokens = 0;

    bool Is(const Entry& other) const {
      return head == other.head && tail == other.tail && bytes == other.bytes;
    }
  };

  // Returns the entry where `piece` is or would be.
  Entry& At(const Entry& piece) {
    const std::uint64_t hash = internal::Mix(piece.head ^ internal::Mix(piece.tail + piece.bytes));
    return entries_[hash >> 40 & (entries_.size() - 1)];
  }

 private:
  static constexpr std::size_t kFewest = 64;
  static constexpr std::size_t kMost = 4096;  // 96 KiB: stays in the second-level cache

  std::vector<Entry> entries_;  // the number is a power of two
};

// Splits texts and encodes them piece by piece.
//
//   BpeText encoder(vocabulary, {}, nullptr);
//   std::size_t tokens = encoder.Count("Which package is the largest?");
//   encoder.ForEachPiece(text, 0, [](std::size_t begin, std::size_t end, std::size_t tokens) { …
//   });
//
// Valid UTF-8 only. Thread-safety: immutable.

// The token of each byte, for code points that are not in the vocabulary.
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

  // False if a PCRE2 pattern makes the pieces, so that nothing is known about their borders.
  bool has_rule() const { return bpe_.vocabulary().rule() != SplitRule::kPattern; }
  // Returns true if the piece border `at`, and all borders before it, stay whatever is appended.
  // False is always safe.
  bool IsLastingBorder(std::string_view text, std::size_t at) const {
    const std::size_t end = LookAheadEnd(text, at);
    // An added token ends what splitting sees. A token selected now may be replaced by a longer one
    // that appended text completes, so there must be none where splitting looks.
    return end + added_.longest() <= text.size() && !added_.Occur(text, at, end + 1);
  }

  // Calls `use(begin, end, tokens)` for the pieces of `text` in order until it returns false.
  // `begin` and `end` are offsets in `text`. `recent` may be null or already used for other texts.
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

struct BpeOptions {
  std::string name;
  std::shared_ptr<const Vocabulary> vocabulary;
  AddedTokens added;                                       // matched before any splitting
  std::shared_ptr<const Pattern> pattern;                  // if the rule is kPattern
  std::function<std::string(std::string_view)> normalize;  // may be empty; must return valid UTF-8
  std::optional<ByteIds> byte_ids;  // the tokens for the bytes of unknown code points
};

std::shared_ptr<const Counter> MakeBpeCounter(BpeOptions options);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_BPE_COUNTER_H_
