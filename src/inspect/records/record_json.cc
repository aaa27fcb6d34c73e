#include "inspect/records/record_json.h"

#include <array>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dossier::inspect {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool EndsPlainRun(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

// The first quote, backslash or control from `at` on, or text.size().
std::size_t SkipPlainRun(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  while (at + 16 <= text.size()) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(block, last_control), last_control);
    const __m128i found = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
    if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(found)); mask != 0) {
      return at + static_cast<std::size_t>(std::countr_zero(mask));
    }
    at += 16;
  }
#endif
  while (at < text.size() && !EndsPlainRun(text[at])) ++at;
  return at;
}

// One value without recursion: a bit for each open level says whether it is an object.
class Skipper {
 public:
  Skipper(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  bool Value() {
    if (!Open()) return false;
    while (depth_ > 0) {
      if (!Continue()) return false;
    }
    return true;
  }

  bool String() {
    if (peek() != '"') return false;
    ++at_;
    for (;;) {
      at_ = SkipPlainRun(text_, at_);
      if (peek() == '"') return ++at_, true;
      if (peek() != '\\' || !Escape()) return false;
    }
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() { at_ = SkipJsonSpace(text_, at_); }
  bool InObject() const { return (levels_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64)) & 1; }

  // At the first byte of a value: a scalar is read to its end; a container is entered, up to its
  // first value, or left again if it is empty.
  bool Open() {
    switch (peek()) {
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      case 'N':
        return Word("NaN");
      case 'I':
        return Word("Infinity");
      case '{':
      case '[':
        return Enter();
      default:
        return Number();
    }
  }

  bool Enter() {
    if (depth_ == kMaxJsonDepth) return false;
    const bool object = text_[at_++] == '{';
    SkipSpace();
    if (peek() == (object ? '}' : ']')) return ++at_, true;
    const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
    std::uint64_t& word = levels_[depth_ / 64];
    word = object ? word | bit : word & ~bit;
    ++depth_;
    fresh_ = true;
    return true;
  }

  // Inside a container: its next member, or its end.
  bool Continue() {
    const bool object = InObject();
    if (!fresh_) {
      SkipSpace();
      if (peek() == (object ? '}' : ']')) {
        --depth_;
        return ++at_, true;
      }
      if (peek() != ',') return false;
      ++at_;
      SkipSpace();
    }
    fresh_ = false;
    return (!object || Key()) && Open();
  }

  bool Key() {
    if (!String()) return false;
    SkipSpace();
    if (peek() != ':') return false;
    ++at_;
    SkipSpace();
    return true;
  }

  bool Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool Digits() {
    if (!IsDigit(peek())) return false;
    while (IsDigit(peek())) ++at_;
    return true;
  }

  bool Number() {
    if (peek() == '-') {
      ++at_;
      if (peek() == 'I') return Word("Infinity");
    }
    if (peek() == '0') {
      ++at_;
    } else if (!Digits()) {
      return false;
    }
    if (peek() == '.' && (++at_, !Digits())) return false;
    if (peek() != 'e' && peek() != 'E') return true;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    return Digits();
  }

  bool Escape() {
    ++at_;
    const char kind = peek();
    if (kind == 'u') {
      for (std::size_t digit = 1; digit <= 4; ++digit) {
        if (at_ + digit >= text_.size() || !IsHexDigit(text_[at_ + digit])) return false;
      }
      at_ += 5;
      return true;
    }
    if (kind == '\0' || std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) {
      return false;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t depth_ = 0;
  bool fresh_ = false;  // a container was just entered and is not empty
  std::array<std::uint64_t, kMaxJsonDepth / 64> levels_;  // bits below depth_ are set on entry
};

}  // namespace

std::size_t SkipJsonSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

std::string_view TrimJsonSpace(std::string_view text) {
  text.remove_prefix(SkipJsonSpace(text, 0));
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool SkipJsonValue(std::string_view text, std::size_t* at) {
  Skipper skipper(text, *at);
  const bool valid = skipper.Value();
  *at = skipper.at();
  return valid;
}

bool SkipJsonString(std::string_view text, std::size_t* at) {
  Skipper skipper(text, *at);
  const bool valid = skipper.String();
  *at = skipper.at();
  return valid;
}

bool IsJsonValue(std::string_view text) {
  std::size_t at = SkipJsonSpace(text, 0);
  return SkipJsonValue(text, &at) && SkipJsonSpace(text, at) == text.size();
}

std::size_t FindJsonArray(std::string_view text, std::span<const std::string> path) {
  std::size_t at = SkipJsonSpace(text, 0);
  if (at >= text.size() || text[at] != '{') return std::string_view::npos;
  for (++at;;) {
    at = SkipJsonSpace(text, at);
    const std::size_t start = at;
    if (!SkipJsonString(text, &at)) return std::string_view::npos;
    const std::string_view name = text.substr(start + 1, at - start - 2);
    at = SkipJsonSpace(text, at);
    if (at >= text.size() || text[at] != ':') return std::string_view::npos;
    at = SkipJsonSpace(text, at + 1);
    if (name == path.front() && at < text.size()) {
      if (path.size() == 1 && text[at] == '[') return at + 1;
      const std::size_t inner = path.size() > 1 ? FindJsonArray(text.substr(at), path.subspan(1))
                                                : std::string_view::npos;
      if (inner != std::string_view::npos) return at + inner;
    }
    if (!SkipJsonValue(text, &at)) return std::string_view::npos;
    at = SkipJsonSpace(text, at);
    if (at >= text.size() || text[at] != ',') return std::string_view::npos;
    ++at;
  }
}

}  // namespace dossier::inspect
