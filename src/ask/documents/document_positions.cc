#include "ask/documents/document_positions.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "inspect/text/record_lines.h"

namespace dossier::ask {
namespace {

bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Characters that start in `text`: all bytes but continuation bytes, eight at a time.
std::uint64_t CountStarts(std::string_view text) {
  constexpr std::uint64_t kLowBits = 0x0101010101010101;
  std::uint64_t continuations = 0;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    word = (word >> 7) & (~word >> 6) & kLowBits;
    continuations += static_cast<std::uint64_t>(std::popcount(word));
  }
  for (; at < text.size(); ++at) continuations += StartsCharacter(text[at]) ? 0 : 1;
  return text.size() - continuations;
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text.size(); ++count_) {
    if (count_ % kStride == 0) starts_.push_back(at);
    at = inspect::NextLine(text, at).next;
  }
  starts_.shrink_to_fit();
}

std::uint64_t LineIndex::Start(std::uint64_t line) const {
  if (line >= count_) return text_.size();
  std::size_t at = starts_[line / kStride];
  for (std::uint64_t skip = line % kStride; skip > 0; --skip) {
    at = inspect::NextLine(text_, at).next;
  }
  return at;
}

std::uint64_t LineIndex::LineAt(std::uint64_t offset) const {
  if (count_ == 0) return 0;
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto entry = static_cast<std::uint64_t>(after - starts_.begin()) - 1;
  std::uint64_t line = entry * kStride;
  for (std::size_t at = starts_[entry]; line + 1 < count_; ++line) {
    at = inspect::NextLine(text_, at).next;
    if (at > offset) break;
  }
  return line;
}

CharacterIndex::CharacterIndex(std::string_view text) : text_(text) {
  before_.reserve(text.size() / kBlock + 1);
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    before_.push_back(count_);
    count_ += CountStarts(text.substr(at, kBlock));
  }
}

std::uint64_t CharacterIndex::ToByte(std::uint64_t character) const {
  if (character >= count_) return text_.size();
  const auto after = std::upper_bound(before_.begin(), before_.end(), character);
  const auto block = static_cast<std::uint64_t>(after - before_.begin()) - 1;
  std::uint64_t left = character - before_[block];
  std::size_t at = block * kBlock;
  constexpr std::size_t kStep = 512;
  for (;; at += kStep) {
    const std::uint64_t starts = CountStarts(text_.substr(at, kStep));
    if (starts > left) break;
    left -= starts;
  }
  for (;; ++at) {
    if (StartsCharacter(text_[at]) && left-- == 0) return at;
  }
}

std::uint64_t CharacterIndex::ToCharacter(std::uint64_t offset) const {
  if (offset >= text_.size()) return count_;
  const std::uint64_t block = offset / kBlock;
  const std::size_t start = block * kBlock;
  const std::uint64_t upto = before_[block] + CountStarts(text_.substr(start, offset + 1 - start));
  return upto > 0 ? upto - 1 : 0;
}

}  // namespace dossier::ask
