// A byte-pair vocabulary in the form used for encoding: a few flat tables, mapped or in memory.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto vocabulary, Vocabulary::Open("share/dossier/o200k_base.vocab"));
//   std::uint32_t token = vocabulary->FindPiece(" world");       // an inner number, or kNone
//   std::uint32_t outer = vocabulary->OuterId(token);            // 2375
//
// Tokens have inner numbers in merge order: base symbols (bytes or code points) first, then every
// token that merges can make, lowest rank first, then those that exist only as whole pieces. So
// comparing two inner numbers compares two ranks. Each token that merges can make is made by
// exactly one pair, the last one of its own encoding; the tables contain only that pair.
//
// docs/formats/vocabulary.md describes the file format; VocabularyBuilder makes it. Thread-safety:
// immutable.

#ifndef DOSSIER_TOKENS_ENCODE_VOCABULARY_H_
#define DOSSIER_TOKENS_ENCODE_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "tokens/split/splitter.h"

namespace dossier::tokens {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;
// Limits of one vocabulary; three inner numbers fit into 64 bits.
inline constexpr std::uint32_t kMostTokens = (1u << 21) - 1;
inline constexpr std::uint32_t kMostTokenBytes = 1u << 12;

// The units from which merges start.
enum class BaseSymbols : std::uint8_t { kBytes, kCodePoints };

// The head of the file. All numbers are little-endian; sections follow in the order of Vocabulary's
// members, each at a multiple of 64 bytes.
struct VocabularyHeader {
  std::array<char, 8> magic;  // kVocabularyMagic
  std::uint32_t tokens;       // inner numbers
  std::uint32_t blob_bytes;
  std::uint32_t short_slots, long_slots, pair_slots;  // of the hash tables
  std::uint8_t filter_bits;                           // log2 of the filter's bits, at least 6
  std::uint8_t rule;                                  // SplitRule
  std::uint8_t base;                                  // BaseSymbols
  std::uint8_t monotone;     // 1: both halves of every token have lower numbers than the token
  std::uint64_t file_bytes;  // the whole file
  std::uint64_t checksum;    // of all bytes after the head
};
inline constexpr std::array<char, 8> kVocabularyMagic = {'D', 'S', 'V', 'O', 'C', '0', '0', '1'};

class Vocabulary {
 public:
  // Maps a file and checks its sizes and checksum, about 1 ms for 13 MB. Errors: kNotFound;
  // kDamaged with the reason.
  static Result<std::shared_ptr<const Vocabulary>> Open(const std::string& path);
  // The same for bytes in memory.
  static Result<std::shared_ptr<const Vocabulary>> FromBytes(std::string bytes);

  std::uint32_t size() const { return header_.tokens; }
  SplitRule rule() const { return static_cast<SplitRule>(header_.rule); }
  BaseSymbols base() const { return static_cast<BaseSymbols>(header_.base); }
  bool monotone() const { return header_.monotone != 0; }

  // Returns the token for the whole of `piece` if it is encoded as a single token; else kNone.
  std::uint32_t FindPiece(std::string_view piece) const {
    return piece.size() <= 8 ? FindShort(piece) : FindLong(piece);
  }
  // As FindPiece for 1 to 8 bytes, given as a little-endian number padded with zeros.
  std::uint32_t FindShortKey(std::uint64_t key, std::size_t bytes) const;

  // Returns the token that `left` and `right` merge into, or kNone if they do not merge.
  std::uint32_t Merge(std::uint32_t left, std::uint32_t right) const;
  // The same for two bytes; only if base() is kBytes.
  std::uint32_t MergeBytes(unsigned char left, unsigned char right) const {
    return byte_pairs_[left << 8 | right];
  }
  std::uint32_t ByteToken(unsigned char byte) const { return byte_tokens_[byte]; }

  // Return the pair that makes `token`; both are `token` itself if no merge makes it.
  std::uint32_t Left(std::uint32_t token) const { return left_[token]; }
  std::uint32_t Right(std::uint32_t token) const { return right_[token]; }

  std::uint32_t Bytes(std::uint32_t token) const { return offsets_[token + 1] - offsets_[token]; }
  std::string_view Text(std::uint32_t token) const {
    return {blob_ + offsets_[token], Bytes(token)};
  }
  // Returns the maker's number of the token; kNone for a base symbol that is not a token.
  std::uint32_t OuterId(std::uint32_t token) const { return outer_[token]; }

 private:
  Vocabulary() = default;
  Status Bind(std::string_view bytes);
  std::uint32_t FindShort(std::string_view piece) const;
  std::uint32_t FindLong(std::string_view piece) const;

  MappedFile map_;
  std::string owned_;
  VocabularyHeader header_ = {};
  std::uint64_t filter_mask_ = 0;
  // Sections of the file, in file order.
  const std::uint64_t* filter_ = nullptr;        // one bit for the hash of each pair that merges
  const std::uint64_t* pairs_ = nullptr;         // left, right, merged with 21 bits each; hashed
  const std::uint64_t* long_pieces_ = nullptr;   // 32 bits of hash, inner number; hashed
  const std::uint64_t* short_keys_ = nullptr;    // bytes of tokens with at most 8; hashed
  const std::uint32_t* short_tokens_ = nullptr;  // length in the top 4 bits, inner number
  const std::uint32_t* byte_tokens_ = nullptr;   // 256; kNone if base is code points
  const std::uint32_t* byte_pairs_ = nullptr;    // 65,536
  const std::uint32_t* left_ = nullptr;
  const std::uint32_t* right_ = nullptr;
  const std::uint32_t* outer_ = nullptr;
  const std::uint32_t* offsets_ = nullptr;  // size() + 1, into the blob
  const char* blob_ = nullptr;
};

namespace internal {

inline constexpr std::uint64_t kEmptySlot = ~0ull;
inline constexpr std::uint32_t kShortLengthShift = 28;

inline std::uint64_t Mix(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9E3779B97F4A7C15ull;
  return value ^ (value >> 29);
}
inline std::uint64_t PairKey(std::uint32_t left, std::uint32_t right) {
  return static_cast<std::uint64_t>(left) << 21 | right;
}
std::uint64_t HashPiece(std::string_view piece);
// Returns the slot where a search starts; it continues with the next one and wraps around.
inline std::uint64_t FirstSlot(std::uint64_t hash, std::uint32_t slots) {
  return (hash >> 32) * slots >> 32;
}

}  // namespace internal

inline std::uint32_t Vocabulary::FindShortKey(std::uint64_t key, std::size_t bytes) const {
  std::uint64_t slot = internal::FirstSlot(internal::Mix(key + bytes), header_.short_slots);
  while (true) {
    const std::uint32_t token = short_tokens_[slot];
    if (token == kNone) return kNone;
    // Compares the length first: this skips most wrong slots without reading their key, which is
    // far away.
    if (token >> internal::kShortLengthShift == bytes && short_keys_[slot] == key) {
      return token & ((1u << internal::kShortLengthShift) - 1);
    }
    if (++slot == header_.short_slots) slot = 0;
  }
}

inline std::uint32_t Vocabulary::Merge(std::uint32_t left, std::uint32_t right) const {
  const std::uint64_t key = internal::PairKey(left, right);
  const std::uint64_t hash = internal::Mix(key);
  // Most pairs do not merge; the filter, which fits into a near cache, rejects nine of ten of them.
  const std::uint64_t bit = hash & filter_mask_;
  if ((filter_[bit >> 6] >> (bit & 63) & 1) == 0) return kNone;
  std::uint64_t slot = internal::FirstSlot(hash, header_.pair_slots);
  while (true) {
    const std::uint64_t entry = pairs_[slot];
    if (entry >> 21 == key) return static_cast<std::uint32_t>(entry & kMostTokens);
    if (entry == internal::kEmptySlot) return kNone;
    if (++slot == header_.pair_slots) slot = 0;
  }
}

// Builds the tables of a Vocabulary from the files of a vocabulary's maker.
//
//   VocabularySource source{.rule = SplitRule::kO200k, .pieces = WholePieces::kAlways};
//   source.tokens.push_back({.text = " world", .outer = 2375, .rank = 2375});   // …
//   DOSSIER_ASSIGN_OR_RETURN(std::string file, BuildVocabulary(source));
//
// Takes about 0.3 s for 200,000 tokens and 100 MB of memory; the result is cached
// (tokens/files/open.h). Errors: kDamaged for a source that no encoder could use. Thread-safety:
// pure function.

// kAlways: a piece that equals a token is that token, even if merges would not make it (tiktoken;
// called "ignore merges" elsewhere).
enum class WholePieces : std::uint8_t { kAlways, kIfMerged };

struct SourceToken {
  std::string text;         // raw bytes, not their printable form
  std::uint32_t outer = 0;  // the maker's number
  std::uint32_t rank = 0;   // lower ranks merge first; unused with `merges`
};

struct SourceMerge {
  std::uint32_t left, right;  // indices into tokens; their joined texts must be a token. The rank
                              // is the position in the list
};

struct VocabularySource {
  SplitRule rule = SplitRule::kNone;
  BaseSymbols base = BaseSymbols::kBytes;
  WholePieces pieces = WholePieces::kIfMerged;
  std::vector<SourceToken> tokens;
  std::vector<SourceMerge> merges;
  bool ranks_only = true;  // no `merges`: any two tokens whose join is a token merge, by its rank
};

// Errors: kDamaged: too many tokens, an empty or overlong token, two with the same text, a byte
// without a token, a merge that does not make a token.
Result<std::string> BuildVocabulary(const VocabularySource& source);

}  // namespace dossier::tokens

// The layout of the sections of a vocabulary file, and its checksum. Shared by the reader and the
// writer; internal to `tokens`. Thread-safety: plain data and pure functions.

namespace dossier::tokens::internal {

// Section offsets, calculated from the sizes in the head.
struct VocabularyLayout {
  explicit VocabularyLayout(const VocabularyHeader& header);

  std::uint64_t filter, pairs, long_pieces, short_keys, short_tokens, byte_tokens, byte_pairs, left,
      right, outer, offsets, blob, file_bytes;
};

std::uint64_t Checksum(std::string_view bytes);

}  // namespace dossier::tokens::internal

#endif  // DOSSIER_TOKENS_ENCODE_VOCABULARY_H_
