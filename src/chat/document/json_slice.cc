#include "chat/document/json_slice.h"

#include "base/json/json_lexer.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"

namespace dossier::chat {
namespace {

std::string_view Reason(JsonLexer::Fault fault) {
  using Fault = JsonLexer::Fault;
  switch (fault) {
    case Fault::kQuote:
      return "a text in quotation marks is expected";
    case Fault::kOpenString:
      return "the text ends inside quotation marks";
    case Fault::kControl:
      return "a control character inside a text";
    case Fault::kOpenEscape:
      return "the text ends inside an escape";
    case Fault::kEscape:
      return "an unknown escape";
    case Fault::kHexDigit:
      return "an escape without four hex digits";
    case Fault::kNone:
    case Fault::kValue:
    case Fault::kDigit:
      break;
  }
  return "not a JSON value";
}

// Walks over values; the position is always inside the text or at its end.
class Walker {
 public:
  Walker(std::string_view text, std::size_t at) : lexer_(text, at) {}

  std::size_t at() const { return lexer_.at(); }
  bool done() const { return lexer_.done(); }
  void SkipSpace() { lexer_.SkipSpace(); }
  bool Take(char c) { return lexer_.Take(c); }

  Status Value(int depth) {
    if (done()) return Fail("the text ends early");
    switch (lexer_.Peek()) {
      case '{':
        return Container('}', depth);
      case '[':
        return Container(']', depth);
      case '"':
        return String();
      case 't':
        return Checked(lexer_.Word("true"));
      case 'f':
        return Checked(lexer_.Word("false"));
      case 'n':
        return Checked(lexer_.Word("null"));
      default:
        return Checked(lexer_.Number());
    }
  }

  Status String() { return Checked(lexer_.String()); }

  tl::unexpected<Error> Fail(std::string_view what) const {
    return MakeError(ErrorCode::kDamaged, "{} at byte {}", what, at());
  }

 private:
  Status Checked(bool stepped) const {
    if (!stepped) return Fail(Reason(lexer_.fault()));
    return {};
  }

  Status Container(char close, int depth) {
    if (depth >= kMaxDepth) return Fail("nested too deeply");
    Take(lexer_.Peek());
    SkipSpace();
    if (Take(close)) return {};
    while (true) {
      if (close == '}') {
        DOSSIER_RETURN_IF_ERROR(String());
        SkipSpace();
        if (!Take(':')) return Fail("a colon is expected");
        SkipSpace();
      }
      DOSSIER_RETURN_IF_ERROR(Value(depth + 1));
      SkipSpace();
      if (Take(close)) return {};
      if (!Take(',')) return Fail(done() ? "the text ends early" : "a comma is expected");
      SkipSpace();
    }
  }

  JsonLexer lexer_;
};

// The code unit of a `\uXXXX` at `at`, -1 if there is none.
int UnitAt(std::string_view raw, std::size_t at) {
  if (at + 6 > raw.size() || raw[at] != '\\' || raw[at + 1] != 'u') return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) unit = unit * 16 + HexValue(raw[i]);
  return unit;
}

bool IsHigh(int unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool IsLow(int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

std::string WithoutLoneSurrogates(std::string_view raw) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\') {
      out += raw[at++];
      continue;
    }
    const int unit = UnitAt(raw, at);
    if (unit < 0) {
      out += raw.substr(at, 2);
      at += 2;
    } else if (IsHigh(unit) && IsLow(UnitAt(raw, at + 6))) {
      out += raw.substr(at, 12);
      at += 12;
    } else {
      out += IsHigh(unit) || IsLow(unit) ? std::string_view("\\ufffd") : raw.substr(at, 6);
      at += 6;
    }
  }
  return out;
}

}  // namespace

Result<Slice> SliceDocument(std::string_view text) {
  if (!utf8::IsValid(text)) {
    return MakeError(ErrorCode::kDamaged, "it is not UTF-8 text");
  }
  Walker walker(text, 0);
  walker.SkipSpace();
  if (walker.done()) return MakeError(ErrorCode::kDamaged, "it is empty");
  const std::size_t begin = walker.at();
  DOSSIER_RETURN_IF_ERROR(walker.Value(0));
  const std::size_t end = walker.at();
  walker.SkipSpace();
  if (!walker.done()) return walker.Fail("text behind the end");
  return Slice{begin, end};
}

Result<std::vector<Member>> SliceObject(std::string_view text, Slice container) {
  Walker walker(text, container.begin);
  if (!walker.Take('{')) return walker.Fail("an object is expected");
  std::vector<Member> members;
  walker.SkipSpace();
  while (!walker.Take('}')) {
    if (!members.empty()) {
      if (!walker.Take(',')) return walker.Fail("a comma is expected");
      walker.SkipSpace();
    }
    Member member;
    member.name.begin = walker.at();
    DOSSIER_RETURN_IF_ERROR(walker.String());
    member.name.end = walker.at();
    DOSSIER_ASSIGN_OR_RETURN(const Json key, ReadValue(Of(text, member.name)));
    member.key = key.as_string();
    walker.SkipSpace();
    if (!walker.Take(':')) return walker.Fail("a colon is expected");
    walker.SkipSpace();
    member.value.begin = walker.at();
    DOSSIER_RETURN_IF_ERROR(walker.Value(0));
    member.value.end = walker.at();
    members.push_back(std::move(member));
    walker.SkipSpace();
  }
  return members;
}

Result<std::vector<Slice>> SliceArray(std::string_view text, Slice container) {
  Walker walker(text, container.begin);
  if (!walker.Take('[')) return walker.Fail("a list is expected");
  std::vector<Slice> items;
  walker.SkipSpace();
  while (!walker.Take(']')) {
    if (!items.empty()) {
      if (!walker.Take(',')) return walker.Fail("a comma is expected");
      walker.SkipSpace();
    }
    const std::size_t begin = walker.at();
    DOSSIER_RETURN_IF_ERROR(walker.Value(0));
    items.push_back({begin, walker.at()});
    walker.SkipSpace();
  }
  return items;
}

Result<Json> ReadValue(std::string_view raw) {
  auto value = ParseJson(raw);
  if (value || raw.find("\\u") == raw.npos) return value;
  return ParseJson(WithoutLoneSurrogates(raw));
}

}  // namespace dossier::chat
