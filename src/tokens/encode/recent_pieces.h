// The counts of pieces that were merged lately: texts repeat their rare words.
//
//   RecentPieces recent(text.size());
//   RecentPieces::Entry& known = recent.At(wanted);
//   if (!known.Is(wanted)) { wanted.tokens = …; known = wanted; }
//
// Internal to `tokens`. Thread-safety: one owner.

#ifndef DOSSIER_TOKENS_ENCODE_RECENT_PIECES_H_
#define DOSSIER_TOKENS_ENCODE_RECENT_PIECES_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {

class RecentPieces {
 public:
  static constexpr std::size_t kLongest = 16;  // bytes of a piece that is remembered
  // Bytes of text; below, remembering pieces costs more than it saves.
  static constexpr std::size_t kWorthIt = 1 << 10;

  // For texts of `bytes` in all: what is cleared first must be little beside counting them.
  explicit RecentPieces(std::size_t bytes)
      : entries_(std::clamp(std::bit_floor(bytes / 16), kFewest, kMost)) {}

  struct Entry {
    std::uint64_t head = 0, tail = 0;  // the piece, zeros behind it
    std::uint32_t bytes = 0, tokens = 0;

    bool Is(const Entry& other) const {
      return head == other.head && tail == other.tail && bytes == other.bytes;
    }
  };

  // The entry where `piece` is, or would be.
  Entry& At(const Entry& piece) {
    const std::uint64_t hash = internal::Mix(piece.head ^ internal::Mix(piece.tail + piece.bytes));
    return entries_[hash >> 40 & (entries_.size() - 1)];
  }

 private:
  static constexpr std::size_t kFewest = 64;
  static constexpr std::size_t kMost = 4096;  // 96 KiB: stays in the second-level cache

  std::vector<Entry> entries_;  // a power of two of them
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_RECENT_PIECES_H_
