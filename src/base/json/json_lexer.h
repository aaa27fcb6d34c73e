// Steps over JSON text by position, without building anything (RFC 8259). It serves readers that
// need the position of a value, or the exact syntax error.
//
//   JsonLexer lexer(R"("a\n" : 12)");
//   lexer.String() && (lexer.SkipSpace(), lexer.Take(':'));   // lexer.at() is behind the colon
//
// A failed step leaves at() on the wrong byte and sets fault(). The text is UTF-8; bytes above 0x7F
// in strings are not checked. Thread-safety: one owner; the text must outlive it.

#ifndef DOSSIER_BASE_JSON_JSON_LEXER_H_
#define DOSSIER_BASE_JSON_JSON_LEXER_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text/ascii.h"

namespace dossier {

class JsonLexer {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kValue,       // no value begins here
    kDigit,       // a number lacks a digit
    kQuote,       // a string should begin here
    kOpenString,  // the text ends inside a string
    kControl,     // a control character inside a string
    kOpenEscape,  // the text ends after a backslash
    kEscape,      // no such escape
    kHexDigit,    // \u without four hexadecimal digits
  };

  explicit JsonLexer(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::string_view text() const { return text_; }
  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  char Peek() const { return done() ? '\0' : text_[at_]; }
  Fault fault() const { return fault_; }

  void SkipSpace() {
    while (!done() && IsJsonSpace(text_[at_])) ++at_;
  }

  bool Take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Takes `word`: true, false, null.
  bool Word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return Fail(Fault::kValue);
    at_ += word.size();
    return true;
  }

  bool Number() {
    if (Peek() != '-' && !IsDigit(Peek())) return Fail(Fault::kValue);
    Take('-');
    if (!Take('0') && !Digits()) return false;
    if (Take('.') && !Digits()) return false;
    if (!Take('e') && !Take('E')) return true;
    if (!Take('+')) Take('-');
    return Digits();
  }

  // Takes a string with its quotation marks.
  bool String() {
    if (!Take('"')) return Fail(Fault::kQuote);
    while (true) {
      SkipPlainText();
      if (done()) return Fail(Fault::kOpenString);
      if (Take('"')) return true;
      if (text_[at_] != '\\') return Fail(Fault::kControl);
      if (!Escape()) return false;
    }
  }

 private:
  bool Fail(Fault fault) {
    fault_ = fault;
    return false;
  }

  bool Digits() {
    if (!IsDigit(Peek())) return Fail(Fault::kDigit);
    while (IsDigit(Peek())) ++at_;
    return true;
  }

  // Called at the backslash.
  bool Escape() {
    ++at_;
    if (done()) return Fail(Fault::kOpenEscape);
    if (!Take('u')) {
      if (std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
        return Fail(Fault::kEscape);
      }
      ++at_;
      return true;
    }
    for (int i = 0; i < 4; ++i, ++at_) {
      if (!IsHexDigit(Peek())) return Fail(Fault::kHexDigit);
    }
    return true;
  }

  // Skips to the next quotation mark, backslash or control character: most bytes of most texts.
  void SkipPlainText() {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1f);
    for (; at_ + 16 <= text_.size(); at_ += 16) {
      const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text_.data() + at_));
      const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(block, last_control), last_control);
      const __m128i found = _mm_or_si128(
          control, _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
      if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(found)); mask != 0) {
        at_ += static_cast<std::size_t>(std::countr_zero(mask));
        return;
      }
    }
#endif
    while (!done() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20) {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_;
  Fault fault_ = Fault::kNone;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_JSON_JSON_LEXER_H_
