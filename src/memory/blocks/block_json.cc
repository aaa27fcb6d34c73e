#include "memory/blocks/block_json.h"

#include <algorithm>
#include <set>

#include "base/json/json_lexer.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxRepeated = 20;    // paths
constexpr std::size_t kMaxNameInPath = 80;  // code points

// Returns what was expected where a step failed.
std::string_view Expected(const JsonLexer& lexer) {
  using Fault = JsonLexer::Fault;
  switch (lexer.fault()) {
    case Fault::kNone:
    case Fault::kValue:
      return "a value";
    case Fault::kDigit:
      return "a digit";
    case Fault::kQuote:
    case Fault::kOpenString:
      return "'\"'";
    case Fault::kControl:
      return lexer.Peek() == '\n' ? "'\"' (a line end in a text is written \\n)"
                                  : "no control character in a text";
    case Fault::kOpenEscape:
    case Fault::kEscape:
      return "one of \" \\ / b f n r t u after '\\'";
    case Fault::kHexDigit:
      return "four hexadecimal digits";
  }
  return "a value";
}

// Returns the code unit of the escape `\uXXXX` at `at`; -1 if it is incomplete.
int UnitAt(std::string_view text, std::size_t at) {
  if (text.size() < at + 6 || text.substr(at, 2) != "\\u") return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    if (!IsHexDigit(text[i])) return -1;
    unit = unit * 16 + HexValue(text[i]);
  }
  return unit;
}
bool IsFirstHalf(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsSecondHalf(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Parses JSON by RFC 8259 and stops at the first byte that is not allowed.
class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text), lexer_(text) {}

  BlockJson Read() && {
    const std::size_t start = SkipBlanks();
    if (start == text_.size()) return {};
    if (const std::size_t bad = utf8::FirstInvalid(text_); bad < text_.size()) {
      Fail(bad, "valid UTF-8");
    } else if (lexer_.Peek() != '{') {
      Fail(lexer_.at(), "'{'");
    } else if (ReadMembers(Level::kTop)) {
      SkipBlanks();
      if (lexer_.at() < text_.size()) Fail(lexer_.at(), "the end of the block");
    }
    if (read_.fault) read_.members.clear();
    return std::move(read_);
  }

 private:
  enum class Level : std::uint8_t { kTop, kInner };

  std::size_t SkipBlanks() {
    lexer_.SkipSpace();
    return lexer_.at();
  }
  // Returns `stepped`; a failed step of the lexer is recorded as a fault.
  bool Check(bool stepped) { return stepped || Fail(lexer_.at(), std::string(Expected(lexer_))); }
  bool Fail(std::size_t offset, std::string expected) {
    if (!read_.fault) read_.fault = BlockFault{offset, std::move(expected)};
    return false;
  }

  // Starts at '{'. Keeps the members of the block's own object.
  bool ReadMembers(Level level) {
    if (++depth_ > kMaxDepth) return Fail(lexer_.at(), "at most 64 levels");
    lexer_.Take(lexer_.Peek());
    std::set<std::string_view> names;
    SkipBlanks();
    if (lexer_.Peek() != '}') {
      do {
        SkipBlanks();
        if (!ReadMember(level, names)) return false;
        SkipBlanks();
      } while (lexer_.Take(','));
    }
    if (!lexer_.Take('}'))
      return Fail(lexer_.at(), names.empty() ? "a name in double quotes or '}'" : "',' or '}'");
    --depth_;
    return true;
  }

  bool ReadMember(Level level, std::set<std::string_view>& names) {
    const std::size_t start = lexer_.at();
    if (lexer_.Peek() != '"') {
      return Fail(lexer_.at(),
                  names.empty() ? "a name in double quotes or '}'" : "a name in double quotes");
    }
    if (!ReadString()) return false;
    const std::string_view name = text_.substr(start, lexer_.at() - start);
    path_.push_back(Unquoted(name));
    if (!names.insert(name).second) NoteRepeated();
    SkipBlanks();
    if (!lexer_.Take(':')) return Fail(lexer_.at(), "':'");
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
    if (read_.repeated.paths.size() == kMaxRepeated) {
      ++read_.repeated.more;
      return;
    }
    std::string path = "$";
    for (const std::string& name : path_) {
      path.append(".").append(utf8::Prefix(name, kMaxNameInPath));
    }
    read_.repeated.paths.push_back(std::move(path));
  }

  bool Keep(const std::string& name, std::size_t start) {
    Result<Json> value = ParseJson(text_.substr(start, lexer_.at() - start), kMaxDepth);
    if (!value) return Fail(start, "a value that can be read");
    read_.members.emplace_back(name, *std::move(value));
    return true;
  }

  bool ReadValue() {
    switch (lexer_.Peek()) {
      case '{':
        return ReadMembers(Level::kInner);
      case '[':
        return ReadList();
      case '"':
        return ReadString();
      case 't':
        return Check(lexer_.Word("true"));
      case 'f':
        return Check(lexer_.Word("false"));
      case 'n':
        return Check(lexer_.Word("null"));
      default:
        return Check(lexer_.Number());
    }
  }

  bool ReadList() {
    if (++depth_ > kMaxDepth) return Fail(lexer_.at(), "at most 64 levels");
    lexer_.Take(lexer_.Peek());
    SkipBlanks();
    if (lexer_.Peek() != ']') {
      do {
        SkipBlanks();
        if (!ReadValue()) return false;
        SkipBlanks();
      } while (lexer_.Take(','));
    }
    if (!lexer_.Take(']')) return Fail(lexer_.at(), "',' or ']'");
    --depth_;
    return true;
  }

  // Reads a string and checks that surrogate escapes form pairs, those before a fault first.
  bool ReadString() {
    const std::size_t start = lexer_.at();
    const bool stepped = lexer_.String();
    return CheckSurrogates(start, lexer_.at()) && Check(stepped);
  }

  bool CheckSurrogates(std::size_t at, std::size_t end) {
    constexpr std::string_view kSecond = "the second half of a surrogate pair";
    const std::string_view read = text_.substr(0, end);
    while ((at = read.find('\\', at)) != std::string_view::npos) {
      const int unit = UnitAt(read, at);
      if (IsSecondHalf(unit)) return Fail(at, "the first half of a surrogate pair");
      at += unit < 0 ? 2 : 6;
      if (!IsFirstHalf(unit)) continue;
      if (text_.substr(std::min(at, text_.size()), 2) != "\\u") {
        return Fail(at, std::string(kSecond));
      }
      const int second = UnitAt(read, at);
      if (second >= 0 && !IsSecondHalf(second)) return Fail(at, std::string(kSecond));
      at += 6;
    }
    return true;
  }

  const std::string_view text_;
  JsonLexer lexer_;
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
