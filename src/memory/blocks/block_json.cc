#include "memory/blocks/block_json.h"

#include <algorithm>
#include <set>

#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::string_view kBlanks = " \t\r\n";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Reads JSON by RFC 8259 and stops at the first byte that it does not allow.
class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text) {}

  BlockJson Read() && {
    const std::size_t start = SkipBlanks();
    if (start == text_.size()) return {};
    if (const std::size_t bad = FirstInvalidByte(); bad < text_.size()) {
      Fail(bad, "valid UTF-8");
    } else if (Peek() != '{') {
      Fail(at_, "'{'");
    } else if (ReadMembers(Level::kTop)) {
      SkipBlanks();
      if (at_ < text_.size()) Fail(at_, "the end of the block");
    }
    if (read_.fault) read_.members.clear();
    return std::move(read_);
  }

 private:
  enum class Level : std::uint8_t { kTop, kInner };

  std::size_t FirstInvalidByte() const {
    if (utf8::IsValid(text_)) return text_.size();
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t start = at;
      utf8::Next(text_, &at);
      if (!utf8::IsValid(text_.substr(start, at - start))) return start;
    }
    return at;
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::size_t SkipBlanks() {
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    return at_;
  }
  bool Fail(std::size_t offset, std::string expected) {
    if (!read_.fault) read_.fault = JsonFault{offset, std::move(expected)};
    return false;
  }

  // At '{'. The members of the block's own object are kept.
  bool ReadMembers(Level level) {
    if (++depth_ > kMaxDepth) return Fail(at_, "at most 64 levels");
    ++at_;
    std::set<std::string_view> names;
    SkipBlanks();
    if (Peek() != '}') {
      do {
        SkipBlanks();
        if (!ReadMember(level, names)) return false;
        SkipBlanks();
      } while (Take(','));
    }
    if (!Take('}'))
      return Fail(at_, names.empty() ? "a name in double quotes or '}'" : "',' or '}'");
    --depth_;
    return true;
  }

  bool ReadMember(Level level, std::set<std::string_view>& names) {
    const std::size_t start = at_;
    if (Peek() != '"') {
      return Fail(at_,
                  names.empty() ? "a name in double quotes or '}'" : "a name in double quotes");
    }
    if (!ReadString()) return false;
    const std::string_view name = text_.substr(start, at_ - start);
    path_.push_back(Unquoted(name));
    if (!names.insert(name).second) NoteRepeated();
    SkipBlanks();
    if (!Take(':')) return Fail(at_, "':'");
    const std::size_t value = SkipBlanks();
    if (!ReadValue()) return false;
    if (level == Level::kTop && !Keep(path_.back(), value)) return false;
    path_.pop_back();
    return true;
  }

  static std::string Unquoted(std::string_view name) {
    const Result<Json> text = ParseJson(name);
    const auto* found = text ? text->if_string() : nullptr;
    return found ? std::string(found->data(), found->size()) : std::string();
  }

  void NoteRepeated() {
    std::string path = "$";
    for (const std::string& name : path_) path += "." + name;
    read_.repeated.push_back(std::move(path));
  }

  bool Keep(const std::string& name, std::size_t start) {
    Result<Json> value = ParseJson(text_.substr(start, at_ - start), kMaxDepth);
    if (!value) return Fail(start, "a value that can be read");
    read_.members.emplace_back(name, *std::move(value));
    return true;
  }

  bool ReadValue() {
    switch (Peek()) {
      case '{':
        return ReadMembers(Level::kInner);
      case '[':
        return ReadList();
      case '"':
        return ReadString();
      case 't':
        return ReadWord("true");
      case 'f':
        return ReadWord("false");
      case 'n':
        return ReadWord("null");
      default:
        return ReadNumber();
    }
  }

  bool ReadList() {
    if (++depth_ > kMaxDepth) return Fail(at_, "at most 64 levels");
    ++at_;
    SkipBlanks();
    if (Peek() != ']') {
      do {
        SkipBlanks();
        if (!ReadValue()) return false;
        SkipBlanks();
      } while (Take(','));
    }
    if (!Take(']')) return Fail(at_, "',' or ']'");
    --depth_;
    return true;
  }

  bool ReadWord(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return Fail(at_, "a value");
    at_ += word.size();
    return true;
  }

  bool ReadDigits() {
    if (!IsDigit(Peek())) return Fail(at_, "a digit");
    while (IsDigit(Peek())) ++at_;
    return true;
  }

  bool ReadNumber() {
    if (Peek() != '-' && !IsDigit(Peek())) return Fail(at_, "a value");
    Take('-');
    if (!Take('0') && !ReadDigits()) return false;
    if (Take('.') && !ReadDigits()) return false;
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (!Take('+')) Take('-');
      return ReadDigits();
    }
    return true;
  }

  // At the opening quote.
  bool ReadString() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        return Fail(at_, c == '\n' ? "'\"' (a line end in a text is written \\n)"
                                   : "no control character in a text");
      }
      if (c == '\\' && !ReadEscape()) return false;
    }
    return Fail(at_, "'\"'");
  }

  // At the backslash; ends on the last byte of the escape.
  bool ReadEscape() {
    const std::size_t start = at_++;
    if (Peek() == 'u') return ReadUnicodeEscape(start);
    if (std::string_view("\"\\/bfnrt").find(Peek()) == std::string_view::npos || Peek() == '\0') {
      return Fail(at_, "one of \" \\ / b f n r t u after '\\'");
    }
    return true;
  }

  bool ReadUnicodeEscape(std::size_t start) {
    unsigned unit = 0;
    if (!ReadHexUnit(unit)) return false;
    if (unit >= 0xdc00 && unit < 0xe000) return Fail(start, "the first half of a surrogate pair");
    if (unit < 0xd800 || unit >= 0xdc00) return true;
    if (text_.substr(std::min(at_ + 1, text_.size()), 2) != "\\u") {
      return Fail(at_ + 1, "the second half of a surrogate pair");
    }
    const std::size_t second = at_ + 1;
    at_ += 2;
    if (!ReadHexUnit(unit)) return false;
    if (unit < 0xdc00 || unit >= 0xe000) return Fail(second, "the second half of a surrogate pair");
    return true;
  }

  // At the 'u'; ends on the last digit.
  bool ReadHexUnit(unsigned& unit) {
    unit = 0;
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (!IsHexDigit(Peek())) return Fail(at_, "four hexadecimal digits");
      unit = unit * 16 +
             static_cast<unsigned>(IsDigit(Peek()) ? Peek() - '0' : (Peek() | 0x20) - 'a' + 10);
    }
    return true;
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::string> path_;
  BlockJson read_;
};

}  // namespace

BlockJson ReadBlockJson(std::string_view text) { return JsonChecker(text).Read(); }

TextPlace PlaceOf(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n')),
          .column = 1 + utf8::CodePoints(before.substr(line_start))};
}

}  // namespace dossier::memory
