#include "chat/document/json_slice.h"

#include <cstdint>
#include <cstring>

#include "base/text/utf8.h"

namespace dossier::chat {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Whether one of eight bytes ends a run of plain text inside quotation marks. A byte behind such a
// one may count, too; one in front never does.
bool EndsPlainText(std::uint64_t eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t word) { return (word - kOnes) & ~word & kTops; };
  const std::uint64_t control = (eight - kOnes * 0x20) & ~eight & kTops;
  return (control | has_zero(eight ^ (kOnes * '"')) | has_zero(eight ^ (kOnes * '\\'))) != 0;
}

bool IsEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return true;
    default:
      return false;
  }
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Walks over values; the position is always inside the text or at its end.
class Walker {
 public:
  Walker(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }

  void SkipSpace() {
    while (!done() && IsSpace(text_[at_])) ++at_;
  }

  bool Take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status Value(int depth) {
    if (done()) return Fail("the text ends early");
    switch (text_[at_]) {
      case '{':
        return Container('}', depth);
      case '[':
        return Container(']', depth);
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  Status String() {
    if (!Take('"')) return Fail("a text in quotation marks is expected");
    while (true) {
      SkipPlainText();
      if (done()) break;
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return {};
      }
      if (static_cast<unsigned char>(c) < 0x20) return Fail("a control character inside a text");
      if (c == '\\') {
        DOSSIER_RETURN_IF_ERROR(Escape());
      } else {
        ++at_;
      }
    }
    return Fail("the text ends inside quotation marks");
  }

  tl::unexpected<Error> Fail(std::string_view what) const {
    return MakeError(ErrorCode::kDamaged, "{} at byte {}", what, at_);
  }

 private:
  // Most of a conversation's bytes are these: eight at a time.
  void SkipPlainText() {
    std::uint64_t eight;
    while (text_.size() - at_ >= sizeof(eight)) {
      std::memcpy(&eight, text_.data() + at_, sizeof(eight));
      if (EndsPlainText(eight)) return;
      at_ += sizeof(eight);
    }
  }

  Status Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return Fail("not a JSON value");
    at_ += word.size();
    return {};
  }

  Status Escape() {
    ++at_;
    if (done()) return Fail("the text ends inside an escape");
    const char c = text_[at_];
    if (c == 'u') {
      for (int i = 0; i < 4; ++i) {
        ++at_;
        if (done() || HexDigit(text_[at_]) < 0) return Fail("an escape without four hex digits");
      }
    } else if (!IsEscape(c)) {
      return Fail("an unknown escape");
    }
    ++at_;
    return {};
  }

  Status Digits() {
    if (done() || !IsDigit(text_[at_])) return Fail("not a JSON value");
    while (!done() && IsDigit(text_[at_])) ++at_;
    return {};
  }

  Status Number() {
    Take('-');
    if (!Take('0')) DOSSIER_RETURN_IF_ERROR(Digits());
    if (Take('.')) DOSSIER_RETURN_IF_ERROR(Digits());
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      DOSSIER_RETURN_IF_ERROR(Digits());
    }
    return {};
  }

  Status Container(char close, int depth) {
    if (depth >= kMaxDepth) return Fail("nested too deeply");
    ++at_;
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

  std::string_view text_;
  std::size_t at_;
};

// The code unit of a `\uXXXX` at `at`, -1 if there is none.
int UnitAt(std::string_view raw, std::size_t at) {
  if (at + 6 > raw.size() || raw[at] != '\\' || raw[at + 1] != 'u') return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) unit = unit * 16 + HexDigit(raw[i]);
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
