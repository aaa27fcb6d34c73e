#include "tokens/encode/vocabulary.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/text/utf8.h"

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
  // Four lanes, so that a multiplication need not wait for the previous one.
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
  // A table with the right checksum was written by VocabularyBuilder, so nothing in it can lead out
  // of bounds. Tables are made here and never taken from others: the checksum guards against bad
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

namespace {

// Limit for the sum of the squares of all tokens' lengths: the cost of finding their pairs.
constexpr std::uint64_t kMostWork = 1ull << 32;

tl::unexpected<Error> Bad(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "unusable vocabulary: {}", what);
}

struct Joined {
  std::uint32_t rank = kNone, token = kNone;  // token: an index into VocabularySource::tokens
};

// A token and the pair that makes it.
struct Made {
  std::uint32_t token = kNone;  // index into the source; kNone: a symbol without a token
  std::string_view text;
  std::uint32_t rank = 0;
  std::uint32_t left = kNone, right = kNone;  // indices into the source, or symbols; see Symbol
};

class Builder {
 public:
  explicit Builder(const VocabularySource& source) : source_(source) {}

  Result<std::string> Build() {
    DOSSIER_RETURN_IF_ERROR(ReadTokens());
    DOSSIER_RETURN_IF_ERROR(ReadMerges());
    DOSSIER_RETURN_IF_ERROR(MakeSymbols());
    FindPairs();
    DOSSIER_RETURN_IF_ERROR(Number());
    return Write();
  }

 private:
  Status ReadTokens() {
    if (source_.tokens.size() >= kMostTokens / 2) {
      return Bad(fmt::format("{} tokens, more than {}", source_.tokens.size(), kMostTokens / 2));
    }
    std::uint64_t work = 0;
    for (std::uint32_t i = 0; i < source_.tokens.size(); ++i) {
      const std::string& text = source_.tokens[i].text;
      if (text.empty() || text.size() > kMostTokenBytes) {
        return Bad(fmt::format("token {} has {} bytes", source_.tokens[i].outer, text.size()));
      }
      work += text.size() * text.size();
      if (work > kMostWork) return Bad("its tokens are too long");
      if (!by_text_.emplace(text, i).second) {
        return Bad(fmt::format("token {} has the text of another", source_.tokens[i].outer));
      }
    }
    return {};
  }

  Status ReadMerges() {
    for (std::uint32_t rank = 0; rank < source_.merges.size(); ++rank) {
      const SourceMerge& merge = source_.merges[rank];
      const std::string text = source_.tokens[merge.left].text + source_.tokens[merge.right].text;
      const auto token = by_text_.find(text);
      if (token == by_text_.end()) return Bad(fmt::format("merge {} makes no token", rank));
      merges_.emplace(Key(merge.left, merge.right), Joined{rank, token->second});
    }
    return {};
  }

  // Starting symbols that are not tokens get numbers after the source's tokens.
  Status MakeSymbols() {
    if (source_.base == BaseSymbols::kBytes) {
      for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const auto token = by_text_.find(std::string_view(&c, 1));
        if (token == by_text_.end()) return Bad(fmt::format("byte 0x{:02X} has no token", byte));
        AddSymbol(token->second, token->first);
      }
      return {};
    }
    for (const SourceToken& token : source_.tokens) {
      for (std::size_t at = 0; at < token.text.size();) {
        const std::size_t start = at;
        utf8::Next(token.text, &at);
        const std::string_view text = std::string_view(token.text).substr(start, at - start);
        const auto known = by_text_.find(text);
        if (known != by_text_.end()) {
          AddSymbol(known->second, text);
        } else if (symbols_.count(text) == 0) {
          AddSymbol(static_cast<std::uint32_t>(source_.tokens.size() + extra_++), text);
        }
      }
    }
    return {};
  }

  void AddSymbol(std::uint32_t index, std::string_view text) {
    if (!symbols_.emplace(text, index).second) return;
    const bool is_token = index < source_.tokens.size();
    order_.push_back(
        {.token = is_token ? index : kNone, .text = text, .left = index, .right = index});
  }

  static std::uint64_t Key(std::uint32_t left, std::uint32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | right;
  }

  struct Part {
    std::size_t start;
    std::uint32_t index;
  };

  Joined Join(std::string_view text, const std::vector<Part>& parts, std::size_t i) const {
    if (source_.ranks_only) {
      const std::size_t end = i + 2 < parts.size() ? parts[i + 2].start : text.size();
      const auto token = by_text_.find(text.substr(parts[i].start, end - parts[i].start));
      if (token == by_text_.end()) return {};
      return {source_.tokens[token->second].rank, token->second};
    }
    const auto merge = merges_.find(Key(parts[i].index, parts[i + 1].index));
    return merge == merges_.end() ? Joined{} : merge->second;
  }

  // Merges the text of each token as an encoder would; the last merge gives its pair.
  void FindPairs() {
    std::vector<Part> parts;
    std::vector<Joined> joins;
    for (std::uint32_t index = 0; index < source_.tokens.size(); ++index) {
      const std::string_view text = source_.tokens[index].text;
      if (symbols_.count(text) != 0) continue;
      parts.clear();
      joins.clear();
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        if (source_.base == BaseSymbols::kBytes) {
          ++at;
        } else {
          utf8::Next(text, &at);
        }
        parts.push_back({start, symbols_.at(text.substr(start, at - start))});
      }
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) joins.push_back(Join(text, parts, i));
      Made made{.token = index, .text = text};
      if (MergeAll(text, &parts, &joins, &made) && parts[0].index == index) {
        order_.push_back(made);
      } else {
        unmade_.push_back({.token = index, .text = text, .left = index, .right = index});
      }
    }
  }

  // Stores the last merge in `made`. Returns false if more than one part is left.
  bool MergeAll(std::string_view text, std::vector<Part>* parts, std::vector<Joined>* joins,
                Made* made) const {
    while (!joins->empty()) {
      const auto best = std::min_element(joins->begin(), joins->end(),
                                         [](Joined a, Joined b) { return a.rank < b.rank; });
      if (best->rank == kNone) break;
      const auto i = static_cast<std::size_t>(best - joins->begin());
      made->left = (*parts)[i].index;
      made->right = (*parts)[i + 1].index;
      made->rank = best->rank;
      (*parts)[i].index = best->token;
      parts->erase(parts->begin() + static_cast<std::ptrdiff_t>(i) + 1);
      joins->erase(best);
      if (i > 0) (*joins)[i - 1] = Join(text, *parts, i - 1);
      if (i < joins->size()) (*joins)[i] = Join(text, *parts, i);
    }
    return parts->size() == 1;
  }

  Status Number() {
    const std::size_t symbols = symbols_.size();
    const auto first = order_.begin() + static_cast<std::ptrdiff_t>(symbols);
    std::sort(first, order_.end(), [](const Made& a, const Made& b) { return a.rank < b.rank; });
    const auto tie = std::adjacent_find(
        first, order_.end(), [](const Made& a, const Made& b) { return a.rank == b.rank; });
    if (tie != order_.end()) {
      return Bad(fmt::format("tokens {} and {} have the same rank",
                             source_.tokens[tie->token].outer,
                             source_.tokens[std::next(tie)->token].outer));
    }
    mergeable_ = order_.size();
    order_.insert(order_.end(), unmade_.begin(), unmade_.end());
    inner_.assign(source_.tokens.size() + extra_, kNone);
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
      inner_[order_[i].token == kNone ? order_[i].left : order_[i].token] = i;
    }
    return {};
  }

  static std::uint32_t Slots(std::size_t entries) {
    return static_cast<std::uint32_t>(entries + entries * 2 / 3 + 8);
  }

  // About ten bits per pair: one in ten pairs that do not merge passes.
  static std::uint8_t FilterBits(std::size_t pairs) {
    std::uint8_t bits = 6;
    while ((1ull << bits) < 8 * pairs) ++bits;
    return bits;
  }

  bool IsPiece(std::size_t i) const {
    return source_.pieces == WholePieces::kAlways || i < mergeable_;
  }

  Result<std::string> Write() {
    std::size_t long_pieces = 0, short_pieces = 0;
    VocabularyHeader header{.magic = kVocabularyMagic};
    header.tokens = static_cast<std::uint32_t>(order_.size());
    header.monotone = 1;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      header.blob_bytes += static_cast<std::uint32_t>(order_[i].text.size());
      if (IsPiece(i)) ++(order_[i].text.size() <= 8 ? short_pieces : long_pieces);
      if (i < symbols_.size() || i >= mergeable_) continue;
      if (inner_[order_[i].left] >= i || inner_[order_[i].right] >= i) header.monotone = 0;
    }
    header.rule = static_cast<std::uint8_t>(source_.rule);
    header.base = static_cast<std::uint8_t>(source_.base);
    header.short_slots = Slots(short_pieces);
    header.long_slots = Slots(long_pieces);
    header.pair_slots = Slots(mergeable_);
    header.filter_bits = FilterBits(mergeable_);
    const internal::VocabularyLayout layout(header);
    header.file_bytes = layout.file_bytes;
    std::string file(layout.file_bytes, '\0');
    Fill(header, layout, file.data());
    header.checksum = internal::Checksum(std::string_view(file).substr(sizeof header));
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }

  void Fill(const VocabularyHeader& header, const internal::VocabularyLayout& layout, char* file) {
    const auto words = [file](std::uint64_t at) {
      return reinterpret_cast<std::uint32_t*>(file + at);
    };
    const auto longs = [file](std::uint64_t at) {
      return reinterpret_cast<std::uint64_t*>(file + at);
    };
    std::fill_n(longs(layout.pairs), header.pair_slots, internal::kEmptySlot);
    std::fill_n(longs(layout.long_pieces), header.long_slots, internal::kEmptySlot);
    std::fill_n(words(layout.short_tokens), header.short_slots, kNone);
    std::fill_n(words(layout.byte_tokens), 256, kNone);
    std::fill_n(words(layout.byte_pairs), 65536, kNone);
    std::uint32_t offset = 0;
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
      const Made& made = order_[i];
      const std::uint32_t left = inner_[made.left], right = inner_[made.right];
      words(layout.left)[i] = left;
      words(layout.right)[i] = right;
      words(layout.outer)[i] = made.token == kNone ? kNone : source_.tokens[made.token].outer;
      words(layout.offsets)[i] = offset;
      std::copy(made.text.begin(), made.text.end(), file + layout.blob + offset);
      offset += static_cast<std::uint32_t>(made.text.size());
      if (left != i) AddPair(header, layout, file, left, right, i);
      if (IsPiece(i)) AddPiece(header, layout, file, made.text, i);
    }
    words(layout.offsets)[order_.size()] = offset;
    if (source_.base == BaseSymbols::kBytes)
      FillBytes(words(layout.byte_tokens), words(layout.byte_pairs));
  }

  void FillBytes(std::uint32_t* byte_tokens, std::uint32_t* byte_pairs) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      byte_tokens[static_cast<unsigned char>(order_[i].text[0])] = i;
    }
    for (std::uint32_t i = 256; i < mergeable_; ++i) {
      const std::string_view text = order_[i].text;
      if (text.size() != 2) continue;
      byte_pairs[static_cast<unsigned char>(text[0]) << 8 | static_cast<unsigned char>(text[1])] =
          i;
    }
  }

  // Returns the first free slot of a search.
  template <typename Slot>
  static std::uint64_t FreeSlot(const Slot* slots, std::uint32_t count, std::uint64_t hash,
                                Slot empty) {
    std::uint64_t slot = internal::FirstSlot(hash, count);
    while (slots[slot] != empty) slot = slot + 1 == count ? 0 : slot + 1;
    return slot;
  }

  static void AddPair(const VocabularyHeader& header, const internal::VocabularyLayout& layout,
                      char* file, std::uint32_t left, std::uint32_t right, std::uint32_t merged) {
    const std::uint64_t key = internal::PairKey(left, right), hash = internal::Mix(key);
    const std::uint64_t bit = hash & ((1ull << header.filter_bits) - 1);
    reinterpret_cast<std::uint64_t*>(file + layout.filter)[bit >> 6] |= 1ull << (bit & 63);
    auto* slots = reinterpret_cast<std::uint64_t*>(file + layout.pairs);
    slots[FreeSlot(slots, header.pair_slots, hash, internal::kEmptySlot)] = key << 21 | merged;
  }

  static void AddPiece(const VocabularyHeader& header, const internal::VocabularyLayout& layout,
                       char* file, std::string_view text, std::uint32_t token) {
    if (text.size() > 8) {
      auto* slots = reinterpret_cast<std::uint64_t*>(file + layout.long_pieces);
      const std::uint64_t hash = internal::HashPiece(text);
      slots[FreeSlot(slots, header.long_slots, hash, internal::kEmptySlot)] = hash << 32 | token;
      return;
    }
    auto* keys = reinterpret_cast<std::uint64_t*>(file + layout.short_keys);
    auto* tokens = reinterpret_cast<std::uint32_t*>(file + layout.short_tokens);
    std::uint64_t key = 0;
    std::memcpy(&key, text.data(), text.size());
    const std::uint64_t slot =
        FreeSlot(tokens, header.short_slots, internal::Mix(key + text.size()), kNone);
    keys[slot] = key;
    tokens[slot] = static_cast<std::uint32_t>(text.size()) << internal::kShortLengthShift | token;
  }

  const VocabularySource& source_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;  // to indices
  std::unordered_map<std::string_view, std::uint32_t> symbols_;  // to indices, and extra ones
  std::unordered_map<std::uint64_t, Joined> merges_;
  std::size_t extra_ = 0;
  std::size_t mergeable_ = 0;         // in order_, including symbols
  std::vector<Made> order_;           // by inner number
  std::vector<Made> unmade_;          // tokens that no merges give
  std::vector<std::uint32_t> inner_;  // of indices
};

}  // namespace

Result<std::string> BuildVocabulary(const VocabularySource& source) {
  return Builder(source).Build();
}

}  // namespace dossier::tokens
