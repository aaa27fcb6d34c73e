// Whether a value was made at random, as keys and generated passwords are, or written by a person,
// as names, words, numbers, paths and placeholders are.
//
//   BitsOfChance("next_token")            // negative: letters follow each other as in words
//   BitsOfChance("q7Zr0xKfW2mB9tLc")      // some 50: 2^50 times likelier drawn than written
//   IsPlaceholder("xxxxxxxxxxxxxxxx")     // true
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_CHANCE_H_
#define DOSSIER_BASE_TEXT_CHANCE_H_

#include <cstdint>
#include <string_view>

namespace dossier {

// The classes of characters that a value is made of, as a set of bits.
struct CharacterSet {
  static constexpr std::uint8_t kLower = 1, kUpper = 2, kDigit = 4, kOther = 8, kPastHex = 16;

  std::uint8_t bits = 0;  // kPastHex: some letter is none of a to f

  bool has(std::uint8_t wanted) const { return (bits & wanted) == wanted; }
  // Digits and letters from a to f of one case: a checksum looks like a key of this kind.
  bool is_hex() const { return (bits & (kOther | kPastHex)) == 0 && !has(kLower | kUpper); }
};

CharacterSet CharactersOf(std::string_view value);

// The binary logarithm of how much likelier `value` is as characters drawn at random than as
// something that a person wrote. Both likelihoods are estimates: usual names in source code are
// below 0, random values gain 1 to 3 a character. Linear in the length.
int BitsOfChance(std::string_view value);

// Whether `value` is a placeholder: it has very few different characters, is mostly a sequence such
// as "abcdefgh" or "12345678", repeats something short, or holds the word "example", as the example
// keys of cloud providers do.
bool IsPlaceholder(std::string_view value);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_CHANCE_H_
