#include "sources/template/template_lexer.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/template/template_value.h"

namespace dossier::sources {
namespace {

// String literals in templates.
//
//   UnescapeString(R"(a\tb\x41)")   // "a<TAB>bA"
//
// Thread-safety: a pure function.

// The letters of single-letter escapes, and their meanings.
constexpr std::string_view kLetters = "\n\\'\"abfnrtv";
constexpr std::string_view kMeanings{"\0\\'\"\a\b\f\n\r\t\v", 11};  // an escaped line end: nothing

std::size_t HexDigits(char letter) {
  switch (letter) {
    case 'x':
      return 2;
    case 'u':
      return 4;
    case 'U':
      return 8;
    default:
      return 0;
  }
}

// Reads exactly `digits` hexadecimal digits at the start of `text`.
std::optional<std::uint32_t> ReadHex(std::string_view text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t number = 0;
  const char* end = text.data() + digits;
  const auto parsed = std::from_chars(text.data(), end, number, 16);
  return parsed.ptr == end ? std::optional(number) : std::nullopt;
}

// Returns the text between the quotes with Python's escapes replaced; an unknown escape is kept.
// Errors: kConfig (digits missing, no such code point, \N{…}).
Result<std::string> UnescapeString(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
      continue;
    }
    const char letter = text[at + 1];
    const std::size_t known = kLetters.find(letter);
    if (known != std::string_view::npos) {
      if (known > 0) out += kMeanings[known];
      at += 2;
    } else if (const std::size_t digits = HexDigits(letter); digits > 0) {
      const auto code_point = ReadHex(text.substr(at + 2), digits);
      if (!code_point || *code_point > 0x10FFFF ||
          (*code_point >= 0xD800 && *code_point <= 0xDFFF)) {
        return MakeError(ErrorCode::kConfig,
                         "a string holds an escape \\{} without {} hex digits "
                         "of a code point",
                         letter, digits);
      }
      utf8::Append(*code_point, &out);
      at += 2 + digits;
    } else if (letter >= '0' && letter <= '7') {
      std::uint32_t number = 0;
      const char* start = text.data() + at + 1;
      const char* limit = text.data() + std::min(text.size(), at + 4);
      at = static_cast<std::size_t>(std::from_chars(start, limit, number, 8).ptr - text.data());
      utf8::Append(number, &out);
    } else if (letter == 'N') {
      return MakeError(ErrorCode::kConfig, "a string holds \\N, which is not supported");
    } else {
      out += '\\';
      ++at;
    }
  }
  return out;
}

using TokenKind = TemplateToken::Kind;

bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }

// Jinja reads every line ending as LF.
std::string UnifyLineEnds(std::string_view text) {
  return ReplaceAll(ReplaceAll(text, "\r\n", "\n"), "\r", "\n");
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<TemplateToken>> Run() {
    while (at_ < text_.size()) DOSSIER_RETURN_IF_ERROR(LexTextAndTag());
    Add(TokenKind::kEnd, "", at_);
    return std::move(tokens_);
  }

 private:
  std::string_view Rest() const { return text_.substr(at_); }
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Moves `place` from the offset `*from` to `offset`.
  void Advance(std::size_t* from, std::size_t offset, TemplatePlace* place) const {
    for (; *from < offset; ++*from) {
      const char c = text_[*from];
      if (c == '\n') {
        *place = {place->line + 1, 1};
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++place->column;
      }
    }
  }

  tl::unexpected<Error> Fail(std::size_t offset, std::string_view message) const {
    TemplatePlace place;
    std::size_t from = 0;
    Advance(&from, offset, &place);
    return tl::unexpected(TemplateError(place, message));
  }

  // Offsets only grow from token to token, so each byte is examined once.
  void Add(TokenKind kind, std::string_view text, std::size_t offset) {
    Advance(&placed_, offset, &place_);
    tokens_.push_back({kind, std::string(text), place_});
  }

  // Reads the text up to the next tag, and the tag.
  Status LexTextAndTag() {
    const std::size_t start = at_;
    std::size_t tag = start;
    while (true) {
      tag = text_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 >= text_.size()) {
        AddText(text_.substr(start), start);
        at_ = text_.size();
        return {};
      }
      const char sign = text_[tag + 1];
      if (sign == '{' || sign == '%' || sign == '#') break;
      ++tag;
    }
    at_ = tag + 2;
    if (Peek() == '+') return Fail(at_, "the mark + is not supported");
    const bool trim = Peek() == '-';
    if (trim) ++at_;
    const char sign = text_[tag + 1];
    AddText(TextBefore(text_.substr(start, tag - start), trim, sign != '{'), start);
    if (sign == '#') return SkipComment(tag);
    if (sign == '{') return LexTag(tag, TokenKind::kPrintBegin, TokenKind::kPrintEnd, "}}");
    if (SkipRawTag("raw", Suffix::kKept)) return LexRaw(tag);
    return LexTag(tag, TokenKind::kBlockBegin, TokenKind::kBlockEnd, "%}");
  }

  void AddText(std::string_view text, std::size_t offset) {
    if (!text.empty()) Add(TokenKind::kText, text, offset);
  }

  // A trim mark removes all white space before the tag; lstrip_blocks removes what is between the
  // start of the line and a block.
  std::string_view TextBefore(std::string_view text, bool trim, bool block) const {
    if (trim) return StripPythonSpaceRight(text);
    if (!block) return text;
    const std::size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos && !line_starting_) return text;
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    const bool blank = line + PythonSpaceLength(text.substr(line)) == text.size();
    return blank ? text.substr(0, line) : text;
  }

  enum class Suffix { kTrimmed, kKept };  // the newline after a block: trim_blocks

  // Called after the end of a tag; its last character ends at at_.
  void EndTag(bool trim, Suffix suffix) {
    const std::size_t start = at_;
    if (trim) {
      at_ += PythonSpaceLength(Rest());
    } else if (suffix == Suffix::kTrimmed && Peek() == '\n') {
      ++at_;
    }
    line_starting_ = at_ > start && text_[at_ - 1] == '\n';
  }

  Status SkipComment(std::size_t tag) {
    const std::size_t end = text_.find("#}", at_);
    if (end == std::string_view::npos) return Fail(tag, "{# is never closed");
    if (end > at_ && text_[end - 1] == '+') return Fail(end - 1, "the mark + is not supported");
    const bool trim = end > at_ && text_[end - 1] == '-';
    at_ = end + 2;
    EndTag(trim, Suffix::kTrimmed);
    return {};
  }

  // Reads `word` and the end of the tag if the tag has nothing else; otherwise reads nothing.
  bool SkipRawTag(std::string_view word, Suffix suffix) {
    std::size_t at = at_ + PythonSpaceLength(Rest());
    if (!text_.substr(at).starts_with(word)) return false;
    at += word.size();
    at += PythonSpaceLength(text_.substr(at));
    const bool trim = text_.substr(at).starts_with("-%}");
    if (!trim && !text_.substr(at).starts_with("%}")) return false;
    at_ = at + (trim ? 3 : 2);
    EndTag(trim, suffix);
    return true;
  }

  Status LexRaw(std::size_t opened) {
    const std::size_t start = at_;
    for (std::size_t tag = start;; ++tag) {
      tag = text_.find("{%", tag);
      if (tag == std::string_view::npos) return Fail(opened, "{% raw %} is never closed");
      const bool line_starting = line_starting_;
      at_ = tag + 2;
      const bool trim = Peek() == '-';
      if (trim) ++at_;
      if (!SkipRawTag("endraw", Suffix::kTrimmed)) continue;
      const bool line_starts_now = std::exchange(line_starting_, line_starting);
      AddText(TextBefore(text_.substr(start, tag - start), trim, true), start);
      line_starting_ = line_starts_now;
      return {};
    }
  }

  Status LexTag(std::size_t tag, TokenKind begin, TokenKind end, std::string_view closing) {
    Add(begin, closing == "}}" ? "{{" : "{%", tag);
    while (true) {
      at_ += PythonSpaceLength(Rest());
      if (at_ >= text_.size()) {
        return Fail(tag, fmt::format("{} is never closed", closing == "}}" ? "{{" : "{%"));
      }
      const bool trim = Peek() == '-' && Rest().substr(1).starts_with(closing);
      if (trim || Rest().starts_with(closing)) {
        Add(end, closing, at_);
        at_ += trim ? 3 : 2;
        EndTag(trim, closing == "}}" ? Suffix::kKept : Suffix::kTrimmed);
        return {};
      }
      DOSSIER_RETURN_IF_ERROR(LexWord());
    }
  }

  Status LexWord() {
    const char c = Peek();
    if (IsNameStart(c)) return LexRun(TokenKind::kName, IsWordByte);
    if (IsDigit(c)) return LexNumber();
    if (c == '\'' || c == '"') return LexString(c);
    constexpr std::string_view kOperators[] = {"==", "!=", "<=", ">=", "//", "**", "<", ">", "~",
                                               "|",  ".",  "[",  "]",  "(",  ")",  ",", "-", "+",
                                               "*",  "/",  "%",  "=",  ":",  "{",  "}"};
    for (const std::string_view sign : kOperators) {
      if (!Rest().starts_with(sign)) continue;
      Add(TokenKind::kOperator, sign, at_);
      at_ += sign.size();
      return {};
    }
    std::size_t next = at_;
    utf8::Next(text_, &next);
    return Fail(
        at_, fmt::format("unexpected '{}'", utf8::CleanForTerminal(text_.substr(at_, next - at_))));
  }

  Status LexRun(TokenKind kind, bool (*in)(char)) {
    const std::size_t start = at_;
    while (in(Peek())) ++at_;
    Add(kind, text_.substr(start, at_ - start), start);
    return {};
  }

  // 0, 12, 1.5, 1e5, 1.5e-3; leading zeros, underscores and other bases are not supported.
  Status LexNumber() {
    const std::size_t start = at_;
    TokenKind kind = TokenKind::kInteger;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.' && IsDigit(Peek(1))) {
      kind = TokenKind::kReal;
      for (++at_; IsDigit(Peek());) ++at_;
    }
    const std::size_t sign = Peek(1) == '-' || Peek(1) == '+' ? 2 : 1;
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(sign))) {
      kind = TokenKind::kReal;
      for (at_ += sign; IsDigit(Peek());) ++at_;
    }
    const std::string_view number = text_.substr(start, at_ - start);
    const bool leading = number.size() > 1 && number[0] == '0' && kind == TokenKind::kInteger;
    if (leading || IsWordByte(Peek())) {
      while (IsWordByte(Peek())) ++at_;
      return Fail(start, fmt::format("{} is no number", text_.substr(start, at_ - start)));
    }
    Add(kind, number, start);
    return {};
  }

  Status LexString(char quote) {
    const std::size_t start = at_++;
    while (at_ < text_.size() && Peek() != quote) at_ += Peek() == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return Fail(start, "a string is never closed");
    auto meant = UnescapeString(text_.substr(start + 1, at_ - start - 1));
    if (!meant) return Fail(start, meant.error().message);
    Add(TokenKind::kString, *meant, start);
    ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t placed_ = 0;
  TemplatePlace place_;
  bool line_starting_ = true;  // the last tag ended at the start of a line
  std::vector<TemplateToken> tokens_;
};

}  // namespace

Error TemplateError(TemplatePlace place, std::string_view message) {
  if (place.line == 1) {
    return {ErrorCode::kConfig, fmt::format("column {}: {}", place.column, message)};
  }
  return {ErrorCode::kConfig,
          fmt::format("line {}, column {}: {}", place.line, place.column, message)};
}

Result<std::vector<TemplateToken>> LexTemplate(std::string_view text) {
  if (text.size() > kMaxCommandTemplate) {
    return MakeError(ErrorCode::kConfig, "the template is larger than 1 MiB");
  }
  if (!utf8::IsValid(text)) return MakeError(ErrorCode::kConfig, "the template is not UTF-8");
  const std::string unified = UnifyLineEnds(text);
  return Lexer(unified).Run();
}

}  // namespace dossier::sources
