#include "tokens/encode/vocabulary.h"

#include "tokens/encode/vocabulary_layout.h"

namespace dossier::tokens {
namespace {

tl::unexpected<Error> Damaged(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "damaged vocabulary table: {}", what);
}

template <typename T>
void PlaceArray(std::string_view bytes, std::uint64_t offset, const T** out) {
  *out = reinterpret_cast<const T*>(bytes.data() + offset);
}

}  // namespace

namespace internal {

std::uint64_t HashPiece(std::string_view piece) {
  std::uint64_t hash = piece.size();
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + 8 <= piece.size(); at += 8) {
    std::memcpy(&word, piece.data() + at, 8);
    hash = Mix(hash ^ word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, piece.data() + at, piece.size() - at);
  return Mix(hash ^ rest);
}

std::uint64_t Checksum(std::string_view bytes) {
  // Four lanes, so that one multiplication does not wait for the one before.
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  std::size_t at = 0;
  for (std::array<std::uint64_t, 4> words; at + sizeof words <= bytes.size(); at += sizeof words) {
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = (lanes[i] ^ words[i]) * 0x9E3779B97F4A7C15ull;
  }
  std::uint64_t sum = HashPiece(bytes.substr(at));
  for (const std::uint64_t lane : lanes) sum = Mix(sum ^ lane ^ lane >> 32);
  return sum;
}

VocabularyLayout::VocabularyLayout(const VocabularyHeader& header) {
  std::uint64_t at = sizeof(VocabularyHeader);
  const auto take = [&](std::uint64_t bytes) {
    at = (at + 63) & ~63ull;
    const std::uint64_t place = at;
    at += bytes;
    return place;
  };
  const std::uint64_t tokens = header.tokens;
  filter = take((1ull << header.filter_bits) / 8);
  pairs = take(8ull * header.pair_slots);
  long_pieces = take(8ull * header.long_slots);
  short_keys = take(8ull * header.short_slots);
  short_tokens = take(4ull * header.short_slots);
  byte_tokens = take(4 * 256);
  byte_pairs = take(4 * 65536);
  left = take(4 * tokens);
  right = take(4 * tokens);
  outer = take(4 * tokens);
  offsets = take(4 * (tokens + 1));
  blob = take(header.blob_bytes);
  file_bytes = at;
}

}  // namespace internal

Result<std::shared_ptr<const Vocabulary>> Vocabulary::Open(const std::string& path) {
  std::shared_ptr<Vocabulary> vocabulary(new Vocabulary());
  DOSSIER_ASSIGN_OR_RETURN(vocabulary->map_, MappedFile::Open(path));
  if (const Status bound = vocabulary->Bind(vocabulary->map_.bytes()); !bound) {
    return MakeError(bound.error().code, "{}: {}", path, bound.error().message);
  }
  return vocabulary;
}

Result<std::shared_ptr<const Vocabulary>> Vocabulary::FromBytes(std::string bytes) {
  std::shared_ptr<Vocabulary> vocabulary(new Vocabulary());
  vocabulary->owned_ = std::move(bytes);
  DOSSIER_RETURN_IF_ERROR(vocabulary->Bind(vocabulary->owned_));
  return vocabulary;
}

Status Vocabulary::Bind(std::string_view bytes) {
  if (bytes.size() < sizeof(VocabularyHeader)) return Damaged("it is cut short");
  std::memcpy(&header_, bytes.data(), sizeof header_);
  if (header_.magic != kVocabularyMagic) return Damaged("it is of another kind or version");
  constexpr std::uint32_t kMostSlots = 1u << 23;
  if (header_.tokens > kMostTokens || header_.short_slots > kMostSlots ||
      header_.long_slots > kMostSlots || header_.pair_slots > kMostSlots ||
      header_.filter_bits < 6 || header_.filter_bits > 26 ||
      header_.rule > static_cast<std::uint8_t>(SplitRule::kPattern) ||
      header_.base > static_cast<std::uint8_t>(BaseSymbols::kCodePoints)) {
    return Damaged("its head has numbers out of range");
  }
  const internal::VocabularyLayout layout(header_);
  if (layout.file_bytes != bytes.size() || header_.file_bytes != bytes.size()) {
    return Damaged(fmt::format("it has {} bytes instead of {}", bytes.size(), layout.file_bytes));
  }
  filter_mask_ = (1ull << header_.filter_bits) - 1;
  PlaceArray(bytes, layout.filter, &filter_);
  PlaceArray(bytes, layout.pairs, &pairs_);
  PlaceArray(bytes, layout.long_pieces, &long_pieces_);
  PlaceArray(bytes, layout.short_keys, &short_keys_);
  PlaceArray(bytes, layout.short_tokens, &short_tokens_);
  PlaceArray(bytes, layout.byte_tokens, &byte_tokens_);
  PlaceArray(bytes, layout.byte_pairs, &byte_pairs_);
  PlaceArray(bytes, layout.left, &left_);
  PlaceArray(bytes, layout.right, &right_);
  PlaceArray(bytes, layout.outer, &outer_);
  PlaceArray(bytes, layout.offsets, &offsets_);
  PlaceArray(bytes, layout.blob, &blob_);
  // What a table with the right sum holds is what VocabularyBuilder wrote, so nothing in it can
  // lead out of its bounds. Tables are made here, never taken from others: the sum is against bad
  // disks.
  if (internal::Checksum(bytes.substr(sizeof header_)) != header_.checksum) {
    return Damaged("its checksum does not match");
  }
  return {};
}

std::uint32_t Vocabulary::FindShort(std::string_view piece) const {
  std::uint64_t key = 0;
  std::memcpy(&key, piece.data(), piece.size());
  return FindShortKey(key, piece.size());
}

std::uint32_t Vocabulary::FindLong(std::string_view piece) const {
  const std::uint64_t hash = internal::HashPiece(piece);
  std::uint64_t slot = internal::FirstSlot(hash, header_.long_slots);
  while (true) {
    const std::uint64_t entry = long_pieces_[slot];
    if (entry == internal::kEmptySlot) return kNone;
    const auto token = static_cast<std::uint32_t>(entry);
    if (entry >> 32 == (hash & 0xFFFFFFFF) && Text(token) == piece) return token;
    if (++slot == header_.long_slots) slot = 0;
  }
}

}  // namespace dossier::tokens
