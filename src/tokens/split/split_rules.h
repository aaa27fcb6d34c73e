// The splitting rules as types, so that the loops over pieces are compiled for each rule.
//
//   VisitRule(rule, [&](auto piece_end) {
//     for (std::size_t at = 0; at < text.size();) at = piece_end(text, at);
//   });
//
// Internal to `tokens`; NextPiece (tokens/split/splitter.h) is the ordinary interface. Valid UTF-8
// only. Thread-safety: pure functions.

#ifndef DOSSIER_TOKENS_SPLIT_SPLIT_RULES_H_
#define DOSSIER_TOKENS_SPLIT_SPLIT_RULES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokens/split/splitter.h"

namespace dossier::tokens::internal {

// The class of a code point for token splitting: \p{Lu}, \p{N}, \s and so on in seven classes.
//
//   ClassOf(U'é')        // CharClass::kLower
//
// The table is Unicode 16.0 (scripts/generate-unicode-tables). Thread-safety: constant data.

enum class CharClass : std::uint8_t {
  kOther,   // punctuation, symbols, controls, unassigned
  kUpper,   // \p{Lu} \p{Lt}
  kLower,   // \p{Ll}
  kLetter,  // \p{Lm} \p{Lo}
  kMark,    // \p{M}
  kNumber,  // \p{N}
  kSpace,   // \s, including line ends
};

constexpr bool IsLetter(CharClass c) { return c >= CharClass::kUpper && c <= CharClass::kLetter; }

namespace internal {
#include "tokens/split/unicode_tables.inc"

constexpr CharClass TableClass(char32_t c) {
  return static_cast<CharClass>(kClasses[kBlockOf[c >> 7] * 128u + (c & 127)]);
}
}  // namespace internal

// `c` must be at most U+10FFFF.
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

// Classifies the code point that starts at `p`. The text must be valid UTF-8: nothing is checked.
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

// Bit sets of classes.
using ClassSet = std::uint32_t;
constexpr ClassSet Only(CharClass c) { return 1u << static_cast<unsigned>(c); }
constexpr bool In(CharClass c, ClassSet set) { return (set >> static_cast<unsigned>(c) & 1) != 0; }

inline constexpr ClassSet kLetters =
    Only(CharClass::kUpper) | Only(CharClass::kLower) | Only(CharClass::kLetter);
inline constexpr ClassSet kBoth = Only(CharClass::kLetter) | Only(CharClass::kMark);
inline constexpr ClassSet kUppers =
    Only(CharClass::kUpper) | kBoth;  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
inline constexpr ClassSet kLowers = Only(CharClass::kLower) | kBoth;  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
inline constexpr ClassSet kMarksOfText =
    Only(CharClass::kOther) | Only(CharClass::kMark);  // [^\s\p{L}\p{N}]
inline constexpr ClassSet kSpaces = Only(CharClass::kSpace);
inline constexpr ClassSet kNumbers = Only(CharClass::kNumber);

constexpr bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

// Returns the end of the run of code points in `set` that starts at `at`.
template <ClassSet set>
std::size_t RunEnd(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const ClassifiedChar c = ClassifyAt(text.data() + at);
    if (!In(c.cls, set)) break;
    at += c.bytes;
  }
  return at;
}

enum class Contractions : std::uint8_t { kAnyCase, kLowerCase };

// Returns the bytes of 's 't 're 've 'm 'll 'd at `at`, or 0. kAnyCase includes U+017F, which folds
// to s.
template <Contractions kind>
std::size_t ContractionBytes(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '\'') return 0;
  const auto lower = [](char c) {
    return kind == Contractions::kAnyCase && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  const char first = lower(text[at + 1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (at + 2 >= text.size()) return 0;
  const char second = lower(text[at + 2]);
  if (first == 'l' && second == 'l') return 3;
  if ((first == 'r' || first == 'v') && second == 'e') return 3;
  const bool long_s = kind == Contractions::kAnyCase && first == '\xC5' && second == '\xBF';
  return long_s ? 3 : 0;
}

// Matches \p{N}{1,most} at `at`, where a number must be; most 0: no limit.
template <int most>
std::size_t NumberEnd(std::string_view text, std::size_t at) {
  for (int count = 0; at < text.size() && (most == 0 || count < most); ++count) {
    const ClassifiedChar c = ClassifyAt(text.data() + at);
    if (c.cls != CharClass::kNumber) break;
    at += c.bytes;
  }
  return at;
}

enum class SpaceAtEnd : std::uint8_t { kCutAtLineEnd, kWhole };
enum class LineEndRule : std::uint8_t { kCut, kPlain };

// Matches white space that no other rule took: up to the last line end of the run, else all but the
// last code point, which belongs to what follows: \s*[\r\n]+|\s+(?!\S)|\s+
template <SpaceAtEnd end_rule, LineEndRule line_rule>
std::size_t SpaceEnd(std::string_view text, std::size_t at) {
  std::size_t end = at, last = at, after_line = 0;
  while (end < text.size()) {
    const ClassifiedChar c = ClassifyAt(text.data() + end);
    if (c.cls != CharClass::kSpace) break;
    last = end;
    end += c.bytes;
    if (IsLineEnd(text[last])) after_line = end;
  }
  if (end_rule == SpaceAtEnd::kWhole && end == text.size()) return end;
  if (line_rule == LineEndRule::kCut && after_line != 0) return after_line;
  return end == text.size() || last == at ? end : last;
}

// Matches ` ?[^\s\p{L}\p{N}]+` and then bytes of `tail`; returns `at` if there is no match.
template <char... tail>
std::size_t SignsEnd(std::string_view text, std::size_t at) {
  const std::size_t start = text[at] == ' ' ? at + 1 : at;
  std::size_t end = RunEnd<kMarksOfText>(text, start);
  if (end == start) return at;
  while (end < text.size() && (false || ... || (text[end] == tail))) ++end;
  return end;
}

// cl100k and the rules derived from it.
template <int digits, SpaceAtEnd end_rule>
struct Cl100kLike {
  std::size_t operator()(std::string_view text, std::size_t at) const {
    const ClassifiedChar first = ClassifyAt(text.data() + at);
    if (text[at] == '\'') {
      if (const auto bytes = ContractionBytes<Contractions::kAnyCase>(text, at)) return at + bytes;
    }
    if (IsLetter(first.cls)) return RunEnd<kLetters>(text, at + first.bytes);
    if (first.cls == CharClass::kNumber) return NumberEnd<digits>(text, at);
    if (!IsLineEnd(text[at])) {
      const std::size_t word = at + first.bytes;
      const std::size_t end = RunEnd<kLetters>(text, word);
      if (end > word) return end;
    }
    const std::size_t signs = SignsEnd<'\r', '\n'>(text, at);
    return signs > at ? signs : SpaceEnd<end_rule, LineEndRule::kCut>(text, at);
  }
};

struct O200k {
  // Matches U*L+ or U+L* from `at`; returns `at` if neither matches.
  static std::size_t WordEnd(std::string_view text, std::size_t at) {
    std::size_t end = at, after_both = 0;
    bool last_is_both = false;
    while (end < text.size()) {
      const ClassifiedChar c = ClassifyAt(text.data() + end);
      if (!In(c.cls, kUppers)) {
        if (c.cls == CharClass::kLower) return RunEnd<kLowers>(text, end + c.bytes);
        break;
      }
      end += c.bytes;
      last_is_both = c.cls != CharClass::kUpper;
      if (last_is_both) after_both = end;
    }
    // L+ takes code points that count as both upper and lower back from U*; capitals after them
    // stay out.
    return after_both != 0 && !last_is_both ? after_both : end;
  }

  std::size_t operator()(std::string_view text, std::size_t at) const {
    const ClassifiedChar first = ClassifyAt(text.data() + at);
    if (first.cls == CharClass::kNumber) return NumberEnd<3>(text, at);
    if (!IsLineEnd(text[at])) {
      const std::size_t start = IsLetter(first.cls) ? at : at + first.bytes;
      std::size_t end = WordEnd(text, start);
      // A mark may be the sign before a word, unless a capital follows: then it is a word itself.
      if (first.cls == CharClass::kMark && !HasLower(text, start, end)) end = WordEnd(text, at);
      const bool word = end > start || first.cls == CharClass::kMark;
      if (word) return end + ContractionBytes<Contractions::kAnyCase>(text, end);
    }
    const std::size_t signs = SignsEnd<'\r', '\n', '/'>(text, at);
    return signs > at ? signs : SpaceEnd<SpaceAtEnd::kCutAtLineEnd, LineEndRule::kCut>(text, at);
  }

 private:
  // Returns true if the word [start, end) matched by U*L+, not only by U+L*.
  static bool HasLower(std::string_view text, std::size_t start, std::size_t end) {
    for (std::size_t at = start; at < end;) {
      const ClassifiedChar c = ClassifyAt(text.data() + at);
      if (In(c.cls, kLowers)) return true;
      at += c.bytes;
    }
    return false;
  }
};

struct Gpt2 {
  std::size_t operator()(std::string_view text, std::size_t at) const {
    if (const auto bytes = ContractionBytes<Contractions::kLowerCase>(text, at)) return at + bytes;
    const std::size_t start = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
    const ClassifiedChar first = ClassifyAt(text.data() + start);
    if (IsLetter(first.cls)) return RunEnd<kLetters>(text, start + first.bytes);
    if (first.cls == CharClass::kNumber) return RunEnd<kNumbers>(text, start + first.bytes);
    const std::size_t signs = SignsEnd<>(text, at);
    return signs > at ? signs : SpaceEnd<SpaceAtEnd::kCutAtLineEnd, LineEndRule::kPlain>(text, at);
  }
};

struct WholeText {
  std::size_t operator()(std::string_view text, std::size_t) const { return text.size(); }
};

// Calls `visitor` with the function object of `rule`.
template <typename Visitor>
decltype(auto) VisitRule(SplitRule rule, Visitor&& visitor) {
  switch (rule) {
    case SplitRule::kCl100k:
      return visitor(Cl100kLike<3, SpaceAtEnd::kWhole>{});
    case SplitRule::kO200k:
      return visitor(O200k{});
    case SplitRule::kLlama3:
      return visitor(Cl100kLike<3, SpaceAtEnd::kCutAtLineEnd>{});
    case SplitRule::kQwen2:
      return visitor(Cl100kLike<1, SpaceAtEnd::kCutAtLineEnd>{});
    case SplitRule::kGpt2:
      return visitor(Gpt2{});
    case SplitRule::kNone:
    case SplitRule::kPattern:
      break;
  }
  return visitor(WholeText{});
}

}  // namespace dossier::tokens::internal

#endif  // DOSSIER_TOKENS_SPLIT_SPLIT_RULES_H_
