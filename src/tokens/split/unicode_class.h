// What a code point is to a token splitter: \p{Lu}, \p{N}, \s and so on, folded into seven classes.
//
//   ClassOf(U'é')        // CharClass::kLower
//
// The table is Unicode 16.0 (scripts/generate-unicode-tables). Thread-safety: constant data.

#ifndef DOSSIER_TOKENS_SPLIT_UNICODE_CLASS_H_
#define DOSSIER_TOKENS_SPLIT_UNICODE_CLASS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace dossier::tokens {

enum class CharClass : std::uint8_t {
  kOther,   // punctuation, symbols, controls, unassigned
  kUpper,   // \p{Lu} \p{Lt}
  kLower,   // \p{Ll}
  kLetter,  // \p{Lm} \p{Lo}
  kMark,    // \p{M}
  kNumber,  // \p{N}
  kSpace,   // \s, line ends included
};

constexpr bool IsLetter(CharClass c) { return c >= CharClass::kUpper && c <= CharClass::kLetter; }

namespace internal {
#include "tokens/split/unicode_tables.inc"

constexpr CharClass TableClass(char32_t c) {
  return static_cast<CharClass>(kClasses[kBlockOf[c >> 7] * 128u + (c & 127)]);
}
}  // namespace internal

// `c` at most U+10FFFF.
inline CharClass ClassOf(char32_t c) { return internal::TableClass(c); }

inline constexpr std::array<CharClass, 128> kAsciiClasses = [] {
  std::array<CharClass, 128> classes{};
  for (char32_t c = 0; c < 128; ++c) classes[c] = internal::TableClass(c);
  return classes;
}();

struct ClassifiedChar {
  CharClass cls;
  std::uint32_t bytes;  // 1 to 4
};

// The code point that starts at `p`. The text must be valid UTF-8: nothing is checked.
inline ClassifiedChar ClassifyAt(const char* p) {
  const auto byte = [p](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(p[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {kAsciiClasses[lead], 1};
  if (lead < 0xE0) return {ClassOf((lead & 0x1F) << 6 | (byte(1) & 0x3F)), 2};
  if (lead < 0xF0) {
    return {ClassOf((lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F)), 3};
  }
  return {ClassOf((lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
                  (byte(3) & 0x3F)),
          4};
}

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_SPLIT_UNICODE_CLASS_H_
