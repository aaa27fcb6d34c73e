#include "chat/document/json_patch.h"

#include <algorithm>
#include <vector>

#include "base/json/json_lexer.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"

namespace dossier::chat {
namespace {

constexpr std::string_view kStep = "  ";

void WriteUnit(unsigned unit, std::string* out) { *out += fmt::format("\\u{:04x}", unit); }

std::string WriteText(std::string_view text, JsonStyle::Charset charset) {
  std::string out = boost::json::serialize(boost::json::string_view(text.data(), text.size()));
  if (charset == JsonStyle::Charset::kUtf8) return out;
  std::string ascii;
  for (std::size_t at = 0; at < out.size();) {
    if (static_cast<unsigned char>(out[at]) < 0x80) {
      ascii += out[at++];
      continue;
    }
    const char32_t point = utf8::Next(out, &at);
    if (point < 0x10000) {
      WriteUnit(point, &ascii);
    } else {
      WriteUnit(0xD800 + ((point - 0x10000) >> 10), &ascii);
      WriteUnit(0xDC00 + ((point - 0x10000) & 0x3FF), &ascii);
    }
  }
  return ascii;
}

class Writer {
 public:
  explicit Writer(const JsonStyle& style) : style_(style) {}

  std::string Run(const Json& value, std::string_view indent) {
    indent_ = indent;
    Value(value);
    return std::move(out_);
  }

 private:
  void Value(const Json& value) {
    if (const auto* object = value.if_object(); object && !object->empty()) {
      Children('{', '}', *object, [this](const auto& member) {
        out_ += WriteText(member.key(), style_.charset) + ": ";
        Value(member.value());
      });
    } else if (const auto* array = value.if_array(); array && !array->empty()) {
      Children('[', ']', *array, [this](const Json& item) { Value(item); });
    } else if (const auto* text = value.if_string()) {
      out_ += WriteText(*text, style_.charset);
    } else {
      out_ += ToJson(value);
    }
  }

  template <typename Container, typename Write>
  void Children(char open, char close, const Container& container, const Write& write) {
    const bool lines = style_.lines == JsonStyle::Lines::kIndented;
    out_ += open;
    indent_ += kStep;
    bool first = true;
    for (const auto& child : container) {
      if (!first) out_ += lines ? "," : ", ";
      first = false;
      if (lines) out_ += "\n" + indent_;
      write(child);
    }
    indent_.resize(indent_.size() - kStep.size());
    if (lines) out_ += "\n" + indent_;
    out_ += close;
  }

  const JsonStyle& style_;
  std::string indent_, out_;
};

// Returns the white space before byte `at`.
std::string_view SpaceBefore(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && std::string_view(" \t\r\n").find(text[begin - 1]) != std::string_view::npos) {
    --begin;
  }
  return text.substr(begin, at - begin);
}

std::string_view IndentOf(std::string_view space) {
  const std::size_t line = space.rfind('\n');
  return line == space.npos ? std::string_view() : space.substr(line + 1);
}

std::string Indent(int depth) {
  std::string out;
  for (int i = 0; i < depth; ++i) out += kStep;
  return out;
}

}  // namespace

JsonStyle JsonStyle::Of(std::string_view text) {
  JsonStyle style;
  bool escapes = false;
  for (std::size_t at = text.find("\\u"); at != text.npos; at = text.find("\\u", at + 2)) {
    // \u0000 to \u007f are control characters in every style.
    if (text.substr(at + 2, 2) != "00" || text.substr(at + 4, 1) >= "8") {
      escapes = true;
      break;
    }
  }
  const bool raw = std::any_of(text.begin(), text.end(),
                               [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (escapes && !raw) style.charset = Charset::kAscii;
  const std::size_t line = text.find('\n');
  if (line == text.npos || line + 1 >= text.size()) style.lines = Lines::kOne;
  return style;
}

std::string WriteJson(const Json& value, const JsonStyle& style, std::string_view indent) {
  return Writer(style).Run(value, indent);
}

Insertion InsertInto(std::string_view text, Slice container, std::optional<Slice> last, int depth,
                     std::string_view key, std::span<const Json> values, const JsonStyle& style) {
  Insertion out;
  JsonStyle inner = style;
  std::string before, separator;
  if (last) {
    const std::string_view space = SpaceBefore(text, last->begin);
    const bool first_is_last = text[last->begin - space.size() - 1] != ',';
    separator = "," + std::string(space);
    if (first_is_last && space.empty() && style.lines == JsonStyle::Lines::kOne) separator = ", ";
    before = separator;
    out.at = last->end;
  } else {
    const bool lines = style.lines == JsonStyle::Lines::kIndented;
    before = lines ? "\n" + Indent(depth + 1) : "";
    separator = "," + (lines ? before : " ");
    out.at = container.begin + 1;
  }
  const std::string_view indent = IndentOf(before);
  inner.lines =
      before.find('\n') == std::string::npos ? JsonStyle::Lines::kOne : JsonStyle::Lines::kIndented;
  bool first = true;
  for (const Json& value : values) {
    out.text += first ? before : separator;
    first = false;
    if (!key.empty()) out.text += WriteText(key, style.charset) + ": ";
    out.text += WriteJson(value, inner, indent);
  }
  const bool was_tight = Of(text, container).find('\n') == std::string_view::npos;
  if (!last && inner.lines == JsonStyle::Lines::kIndented && was_tight) {
    out.text += "\n" + Indent(depth);
  }
  return out;
}

// The deepest existing object on a path.
struct JsonPatch::Place {
  Slice container;                   // it; with `found` the object or list that has the value
  std::vector<Member> members;       // of the container
  std::size_t steps = 0;             // number of names of the path that were found
  int depth = 0;                     // of the container
  std::optional<std::size_t> found;  // index in members of the whole path's value
};

Result<JsonPatch::Place> JsonPatch::Find(Path path) const {
  Place place;
  DOSSIER_ASSIGN_OR_RETURN(place.container, SliceDocument(text_));
  place.depth = depth_;
  for (const std::string_view name : path) {
    DOSSIER_ASSIGN_OR_RETURN(place.members, SliceObject(text_, place.container));
    std::optional<std::size_t> index;
    for (std::size_t i = 0; i < place.members.size(); ++i) {
      if (place.members[i].key == name) index = i;
    }
    if (!index) return place;
    ++place.steps;
    if (place.steps == path.size()) {
      place.found = index;
    } else {
      place.container = place.members[*index].value;
      ++place.depth;
    }
  }
  return place;
}

Status JsonPatch::Insert(const Place& place, std::span<const std::string_view> missing,
                         const Json& value) {
  Json whole = value;
  for (std::size_t i = missing.size(); i-- > 1;) whole = JsonObject{{missing[i], whole}};
  std::optional<Slice> last;
  if (!place.members.empty()) {
    last = Slice{place.members.back().name.begin, place.members.back().value.end};
  }
  const Insertion insertion = InsertInto(text_, place.container, last, place.depth, missing[0],
                                         std::span(&whole, 1), style_);
  text_.insert(insertion.at, insertion.text);
  return {};
}

Status JsonPatch::Set(Path path, const Json& value) {
  DOSSIER_ASSIGN_OR_RETURN(const Place place, Find(path));
  if (!place.found) {
    return Insert(place, std::span(path.begin(), path.end()).subspan(place.steps), value);
  }
  const Member& member = place.members[*place.found];
  const std::string_view space = SpaceBefore(text_, member.name.begin);
  JsonStyle inner = style_;
  if (space.find('\n') == space.npos) inner.lines = JsonStyle::Lines::kOne;
  const std::string text = WriteJson(value, inner, IndentOf(space));
  text_.replace(member.value.begin, member.value.end - member.value.begin, text);
  return {};
}

Status JsonPatch::SetRaw(Path path, std::string_view raw) {
  DOSSIER_RETURN_IF_ERROR(Set(path, nullptr));
  DOSSIER_ASSIGN_OR_RETURN(const Place place, Find(path));
  const Slice value = place.members[*place.found].value;
  text_.replace(value.begin, value.end - value.begin, raw);
  return {};
}

Status JsonPatch::Append(Path path, const Json& item) {
  DOSSIER_ASSIGN_OR_RETURN(const Place place, Find(path));
  if (!place.found) {
    return Insert(place, std::span(path.begin(), path.end()).subspan(place.steps), JsonArray{item});
  }
  const Slice list = place.members[*place.found].value;
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Slice> items, SliceArray(text_, list));
  std::optional<Slice> last;
  if (!items.empty()) last = items.back();
  const Insertion insertion =
      InsertInto(text_, list, last, place.depth + 1, {}, std::span(&item, 1), style_);
  text_.insert(insertion.at, insertion.text);
  return {};
}

Status JsonPatch::RemoveLast(Path path, std::size_t count) {
  DOSSIER_ASSIGN_OR_RETURN(const Place place, Find(path));
  if (!place.found || count == 0) return {};
  const Slice list = place.members[*place.found].value;
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Slice> items, SliceArray(text_, list));
  if (count >= items.size()) {
    text_.replace(list.begin, list.end - list.begin, "[]");
    return {};
  }
  const std::size_t begin = items[items.size() - count - 1].end;
  text_.erase(begin, items.back().end - begin);
  return {};
}

Status JsonPatch::Remove(Path path) {
  DOSSIER_ASSIGN_OR_RETURN(const Place place, Find(path));
  if (!place.found) return {};
  const std::size_t index = *place.found;
  const auto& members = place.members;
  if (members.size() == 1) {
    text_.replace(place.container.begin, place.container.end - place.container.begin, "{}");
  } else if (index == 0) {
    text_.erase(members[0].name.begin, members[1].name.begin - members[0].name.begin);
  } else {
    text_.erase(members[index - 1].value.end,
                members[index].value.end - members[index - 1].value.end);
  }
  return {};
}

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

// Walks over values; the position is always in the text or at its end.
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

// Returns the code unit of a `\uXXXX` at `at`, or -1 if there is none.
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
