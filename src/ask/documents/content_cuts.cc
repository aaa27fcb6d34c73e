#include "ask/documents/content_cuts.h"

#include <algorithm>
#include <array>

#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kHashed = 64;           // bytes that the hash depends on
constexpr std::size_t kLookEvery = 16 << 20;  // bytes between two checks of the cancel token

constexpr std::array<std::uint64_t, 256> MakeGear() {
  std::array<std::uint64_t, 256> gear{};
  std::uint64_t state = 0;
  for (std::uint64_t& value : gear) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    value = z ^ (z >> 31);
  }
  return gear;
}
constexpr std::array<std::uint64_t, 256> kGear = MakeGear();

std::uint64_t Roll(std::uint64_t hash, char byte) {
  return (hash << 1) + kGear[static_cast<unsigned char>(byte)];
}

class Cutter {
 public:
  Cutter(std::string_view text, const ContentCutOptions& options)
      : text_(text), size_(options.size), most_(options.most) {}

  Result<std::vector<std::uint64_t>> Cut(const CancelToken& cancel) {
    const std::uint64_t small = UINT64_MAX / size_;
    std::uint64_t hash = 0;
    std::size_t behind = 0;  // candidates up to here are before an earlier cut
    for (std::size_t i = 0; i < text_.size() && ends_.size() <= most_; ++i) {
      if (i % kLookEvery == 0 && cancel.cancelled()) {
        return MakeError(ErrorCode::kCancelled, "the search for cuts was stopped");
      }
      hash = Roll(hash, text_[i]);
      if (hash >= small || i < behind) continue;
      const std::size_t cut = Settle(i + 1);
      behind = cut;
      if (cut - last() >= std::max<std::uint64_t>(size_ / 16, 1)) Add(cut);
    }
    if (!text_.empty()) Add(text_.size());
    if (ends_.size() > most_) {
      return MakeError(ErrorCode::kTooLong,
                       "pieces of about {} bytes would be more than {}: use larger ones",
                       GroupDigits(size_), GroupDigits(most_));
    }
    return std::move(ends_);
  }

 private:
  std::uint64_t last() const { return ends_.empty() ? 0 : ends_.back(); }

  void Add(std::size_t cut) {
    while (cut - last() > 4 * size_ && ends_.size() <= most_) ends_.push_back(Strongest(last()));
    if (cut > last()) ends_.push_back(cut);
  }

  // Returns the cut for a piece that starts at `begin` and has none for 4 sizes.
  std::size_t Strongest(std::size_t begin) const {
    const std::size_t first = begin + size_, end = begin + 4 * size_ - size_ / 4;
    std::uint64_t hash = 0, least = UINT64_MAX;
    std::size_t best = first;
    for (std::size_t i = first - std::min<std::size_t>(first, kHashed); i < end; ++i) {
      hash = Roll(hash, text_[i]);
      if (i + 1 < first || hash >= least) continue;
      least = hash;
      best = i + 1;
    }
    return Settle(best);
  }

  // Returns the end of the line, or at least of the character, that ends at or after `cut`.
  std::size_t Settle(std::size_t cut) const {
    if (text_[cut - 1] == '\n') return cut;
    const std::size_t line = text_.substr(cut, size_ / 4).find('\n');
    if (line != std::string_view::npos) return cut + line + 1;
    while (cut < text_.size() && (static_cast<unsigned char>(text_[cut]) & 0xC0) == 0x80) ++cut;
    return cut;
  }

  const std::string_view text_;
  const std::uint64_t size_, most_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace

Result<std::vector<std::uint64_t>> ContentCuts(std::string_view text,
                                               const ContentCutOptions& options,
                                               const CancelToken& cancel) {
  if (options.size < kLeastContentPiece) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "pieces by content have {} bytes or more, and this size is {}",
                     kLeastContentPiece, options.size);
  }
  // Limits the size so that the sums above stay below 2^64: no text is that large.
  const std::uint64_t size = std::min<std::uint64_t>(options.size, std::uint64_t{1} << 48);
  return Cutter(text, {.size = size, .most = options.most}).Cut(cancel);
}

}  // namespace dossier::ask
