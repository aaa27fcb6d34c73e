#include "inspect/records/record_json.h"

#include <array>

#include "base/json/json_lexer.h"
#include "base/text/ascii.h"

namespace dossier::inspect {
namespace {

// Skips one value without recursion: a bit per open level tells whether it is an object.
class Skipper {
 public:
  Skipper(std::string_view text, std::size_t at) : lexer_(text, at) {}

  std::size_t at() const { return lexer_.at(); }

  bool Value() {
    if (!Open()) return false;
    while (depth_ > 0) {
      if (!Continue()) return false;
    }
    return true;
  }

 private:
  bool InObject() const { return (levels_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64)) & 1; }

  // At the first byte of a value: a scalar is read to its end; a container is entered up to its
  // first value, or left again if it is empty.
  bool Open() {
    switch (lexer_.Peek()) {
      case '"':
        return lexer_.String();
      case 't':
        return lexer_.Word("true");
      case 'f':
        return lexer_.Word("false");
      case 'n':
        return lexer_.Word("null");
      case 'N':
        return lexer_.Word("NaN");
      case 'I':
        return lexer_.Word("Infinity");
      case '{':
      case '[':
        return Enter();
      default:
        return lexer_.text().substr(lexer_.at()).starts_with("-I") ? lexer_.Word("-Infinity")
                                                                   : lexer_.Number();
    }
  }

  bool Enter() {
    if (depth_ == kMaxJsonDepth) return false;
    const bool object = lexer_.Take('{');
    if (!object) lexer_.Take('[');
    lexer_.SkipSpace();
    if (lexer_.Take(object ? '}' : ']')) return true;
    const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
    std::uint64_t& word = levels_[depth_ / 64];
    word = object ? word | bit : word & ~bit;
    ++depth_;
    fresh_ = true;
    return true;
  }

  // Inside a container: moves to its next member, or its end.
  bool Continue() {
    const bool object = InObject();
    if (!fresh_) {
      lexer_.SkipSpace();
      if (lexer_.Take(object ? '}' : ']')) {
        --depth_;
        return true;
      }
      if (!lexer_.Take(',')) return false;
      lexer_.SkipSpace();
    }
    fresh_ = false;
    return (!object || Key()) && Open();
  }

  bool Key() {
    if (!lexer_.String()) return false;
    lexer_.SkipSpace();
    if (!lexer_.Take(':')) return false;
    lexer_.SkipSpace();
    return true;
  }

  JsonLexer lexer_;
  std::size_t depth_ = 0;
  bool fresh_ = false;  // a container was just entered and is not empty
  std::array<std::uint64_t, kMaxJsonDepth / 64> levels_;  // bits below depth_ are set on entry
};

}  // namespace

std::size_t SkipJsonSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsJsonSpace(text[at])) ++at;
  return at;
}

std::string_view TrimJsonSpace(std::string_view text) {
  text.remove_prefix(SkipJsonSpace(text, 0));
  while (!text.empty() && IsJsonSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool SkipJsonValue(std::string_view text, std::size_t* at) {
  Skipper skipper(text, *at);
  const bool valid = skipper.Value();
  *at = skipper.at();
  return valid;
}

bool SkipJsonString(std::string_view text, std::size_t* at) {
  JsonLexer lexer(text, *at);
  const bool valid = lexer.String();
  *at = lexer.at();
  return valid;
}

JsonParts::JsonParts(std::string_view text) : text_(text), at_(SkipJsonSpace(text, 0)) {
  if (at_ < text_.size()) close_ = text_[at_] == '{' ? '}' : text_[at_] == '[' ? ']' : '\0';
  if (close_ != '\0') at_ = SkipJsonSpace(text_, at_ + 1);
}

bool JsonParts::Next() {
  if (close_ == '\0' || at_ >= text_.size() || text_[at_] == close_) return false;
  std::size_t from = at_;
  if (close_ == '}') {
    if (text_[at_] != '"' || !SkipJsonString(text_, &at_)) return false;
    name_ = text_.substr(from, at_ - from);
    at_ = SkipJsonSpace(text_, at_);
    if (at_ >= text_.size() || text_[at_] != ':') return false;
    from = at_ = SkipJsonSpace(text_, at_ + 1);
  }
  if (!SkipJsonValue(text_, &at_)) return false;
  value_ = text_.substr(from, at_ - from);
  at_ = SkipJsonSpace(text_, at_);
  if (at_ < text_.size() && text_[at_] == ',') at_ = SkipJsonSpace(text_, at_ + 1);
  return true;
}

bool IsJsonValue(std::string_view text) {
  std::size_t at = SkipJsonSpace(text, 0);
  return SkipJsonValue(text, &at) && SkipJsonSpace(text, at) == text.size();
}

std::size_t FindJsonContainer(std::string_view text, std::span<const std::string> path, char open) {
  std::size_t at = SkipJsonSpace(text, 0);
  if (at >= text.size() || text[at] != (path.empty() ? open : '{')) return std::string_view::npos;
  if (path.empty()) return at + 1;
  for (++at;;) {
    at = SkipJsonSpace(text, at);
    const std::size_t start = at;
    if (!SkipJsonString(text, &at)) return std::string_view::npos;
    const std::string_view name = text.substr(start + 1, at - start - 2);
    at = SkipJsonSpace(text, at);
    if (at >= text.size() || text[at] != ':') return std::string_view::npos;
    at = SkipJsonSpace(text, at + 1);
    if (name == path.front() && at < text.size()) {
      const std::size_t inner = FindJsonContainer(text.substr(at), path.subspan(1), open);
      if (inner != std::string_view::npos) return at + inner;
    }
    if (!SkipJsonValue(text, &at)) return std::string_view::npos;
    at = SkipJsonSpace(text, at);
    if (at >= text.size() || text[at] != ',') return std::string_view::npos;
    ++at;
  }
}

}  // namespace dossier::inspect
