#include "ask/documents/document_words.h"

#include <array>

namespace dossier::ask {
namespace {

constexpr std::uint64_t kSeed = 0xcbf29ce484222325;  // FNV-1a
constexpr std::uint64_t kPrime = 0x100000001b3;

enum class ByteKind : std::uint8_t { kSeparator, kWord, kUpper, kWide };

constexpr std::array<ByteKind, 256> MakeKinds() {
  std::array<ByteKind, 256> kinds{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool digit = byte >= '0' && byte <= '9';
    const bool lower = byte >= 'a' && byte <= 'z';
    const bool upper = byte >= 'A' && byte <= 'Z';
    kinds[byte] = upper            ? ByteKind::kUpper
                  : digit || lower ? ByteKind::kWord
                  : byte >= 0x80   ? ByteKind::kWide
                                   : ByteKind::kSeparator;
  }
  return kinds;
}
constexpr std::array<ByteKind, 256> kKinds = MakeKinds();

std::uint64_t Add(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * kPrime; }

// How a character outside ASCII counts for words, and its case-folded bytes.
struct WideCharacter {
  std::size_t length = 1;
  bool separator = false;
  bool alone = false;  // CJK: a separate word
  std::array<unsigned char, 4> bytes{};
};

void FoldTwoBytes(WideCharacter* character) {
  auto& [lead, next, third, fourth] = character->bytes;
  if (lead == 0xC3 && next >= 0x80 && next <= 0x9E && next != 0x97) next += 0x20;  // À to Þ
  if (lead == 0xCE && next >= 0x91 && next <= 0x9F) {                              // Α to Ο
    next += 0x20;
  } else if (lead == 0xCE && next >= 0xA0 && next <= 0xA9) {  // Π to Ω
    lead = 0xCF;
    next -= 0x20;
  }
  if (lead != 0xD0) return;
  if (next >= 0x90 && next <= 0x9F) {  // А to П
    next += 0x20;
  } else if (next >= 0xA0 && next <= 0xAF) {  // Р to Я
    lead = 0xD1;
    next -= 0x20;
  } else if (next <= 0x8F) {  // Ѐ to Џ
    lead = 0xD1;
    next += 0x10;
  }
}

WideCharacter ReadWide(std::string_view text, std::size_t at) {
  WideCharacter out;
  const auto lead = static_cast<unsigned char>(text[at]);
  out.length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  out.length = std::min(out.length, text.size() - at);
  for (std::size_t i = 0; i < out.length; ++i) {
    out.bytes[i] = static_cast<unsigned char>(text[at + i]);
  }
  const unsigned char next = out.bytes[1];
  if (out.length == 2) {
    out.separator = lead == 0xC2 && next != 0xAA && next != 0xB5 && next != 0xBA;
    FoldTwoBytes(&out);
  } else if (out.length == 3) {
    const bool punctuation = lead == 0xE2 && (next == 0x80 || next == 0x81);
    const bool cjk_punctuation = lead == 0xE3 && next == 0x80;
    const bool full_width = lead == 0xEF && (next == 0xBC || next == 0xBB);
    out.separator = punctuation || cjk_punctuation || full_width;
    out.alone = !out.separator && lead >= 0xE3 && lead <= 0xED;
  }
  return out;
}

}  // namespace

bool WordReader::SkipToWord() {
  while (at_ < text_.size()) {
    const ByteKind kind = kKinds[static_cast<unsigned char>(text_[at_])];
    if (kind == ByteKind::kSeparator) {
      ++at_;
      continue;
    }
    if (kind != ByteKind::kWide) return true;
    const WideCharacter character = ReadWide(text_, at_);
    if (!character.separator) return true;
    at_ += character.length;
  }
  return false;
}

bool WordReader::Next(std::uint64_t* word) {
  if (!SkipToWord()) return false;
  begin_ = at_;
  *word = ReadWord();
  return true;
}

std::uint64_t WordReader::ReadWord() {
  const std::size_t start = at_;
  std::uint64_t hash = kSeed;
  std::uint64_t without_last = kSeed;  // the hash before the last byte
  unsigned char last = 0, before_last = 0;
  while (at_ < text_.size()) {
    auto byte = static_cast<unsigned char>(text_[at_]);
    const ByteKind kind = kKinds[byte];
    if (kind == ByteKind::kSeparator) break;
    if (kind == ByteKind::kWide) {
      const WideCharacter character = ReadWide(text_, at_);
      if (character.separator || (character.alone && at_ > start)) break;
      for (std::size_t i = 0; i < character.length; ++i) hash = Add(hash, character.bytes[i]);
      at_ += character.length;
      last = 0;
      if (character.alone) break;
      continue;
    }
    if (kind == ByteKind::kUpper) byte = static_cast<unsigned char>(byte + ('a' - 'A'));
    without_last = hash;
    hash = Add(hash, byte);
    before_last = last;
    last = byte;
    ++at_;
  }
  // gates -> gate, but not glass, status, this.
  const bool plural = last == 's' && at_ - start > 3 && before_last != 's' && before_last != 'u' &&
                      before_last != 'i';
  return plural ? without_last : hash;
}

std::uint64_t WordHash(std::string_view word) {
  std::uint64_t hash = kSeed;
  WordReader(word).Next(&hash);
  return hash;
}

}  // namespace dossier::ask
