#include "sources/header/front_matter.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }
constexpr bool IsKeyByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// The line at `at` without its end and trailing blanks; moves `at` behind it.
std::string_view TakeLine(std::string_view text, std::size_t* at) {
  const std::size_t end = std::min(text.find('\n', *at), text.size());
  std::string_view line = text.substr(*at, end - *at);
  *at = std::min(end + 1, text.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
  return line;
}

// What YAML's double quotes know, by letter.
constexpr std::pair<char, char32_t> kEscapes[] = {
    {'0', 0},   {'a', 7},     {'b', 8},    {'t', '\t'}, {'\t', '\t'},  {'n', '\n'},
    {'v', 11},  {'f', 12},    {'r', '\r'}, {'e', 27},   {' ', ' '},    {'"', '"'},
    {'/', '/'}, {'\\', '\\'}, {'N', 0x85}, {'_', 0xA0}, {'L', 0x2028}, {'P', 0x2029},
};

// The escape behind the backslash at `*at`; moves behind it.
std::optional<char32_t> TakeEscape(std::string_view text, std::size_t* at) {
  if (*at >= text.size()) return std::nullopt;
  const char letter = text[(*at)++];
  for (const auto& [known, code] : kEscapes) {
    if (known == letter) return code;
  }
  const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits == 0 || *at + digits > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const char* end = text.data() + *at + digits;
  const auto [stop, error] = std::from_chars(text.data() + *at, end, code, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return std::nullopt;
  *at += digits;
  return code;
}

// The quoted text that begins at `*at`; moves behind its closing quote.
std::optional<std::string> TakeQuoted(std::string_view text, std::size_t* at) {
  const char quote = text[(*at)++];
  std::string value;
  while (*at < text.size()) {
    const char c = text[(*at)++];
    if (c == quote) {
      if (quote == '"' || *at >= text.size() || text[*at] != '\'') return value;
      ++*at;  // '' is one quote
      value += '\'';
    } else if (quote == '"' && c == '\\') {
      const auto code = TakeEscape(text, at);
      if (!code) return std::nullopt;
      utf8::Append(*code, &value);
    } else {
      value += c;
    }
  }
  return std::nullopt;
}

void SkipBlanks(std::string_view text, std::size_t* at) {
  while (*at < text.size() && IsBlank(text[*at])) ++*at;
}

// Where the plain text that begins at `at` ends: at ` #`, or before one of `stops`.
std::size_t PlainEnd(std::string_view text, std::size_t at, std::string_view stops) {
  for (std::size_t i = at; i < text.size(); ++i) {
    if (stops.find(text[i]) != std::string_view::npos) return i;
    if (text[i] == '#' && (i == 0 || IsBlank(text[i - 1]))) return i;
  }
  return text.size();
}

bool OnlyCommentFollows(std::string_view text, std::size_t at) {
  const std::size_t before = at;
  SkipBlanks(text, &at);
  return at >= text.size() || (text[at] == '#' && at > before);
}

struct Scalar {
  std::string value;
  std::string_view raw;
};

// A quoted or plain value that fills `text` but for a comment; nullopt if a quote is malformed.
std::optional<Scalar> ReadScalar(std::string_view text) {
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
    std::size_t at = 0;
    auto value = TakeQuoted(text, &at);
    if (!value || !OnlyCommentFollows(text, at)) return std::nullopt;
    return Scalar{std::move(*value), text.substr(0, at)};
  }
  const std::string_view plain = TrimBlanks(text.substr(0, PlainEnd(text, 0, "")));
  return Scalar{std::string(plain), plain};
}

struct FlowList {
  std::vector<std::string> values;
  std::string_view raw;
};

// `[a, "b"]` on one line; nullopt if it is malformed.
std::optional<FlowList> ReadFlowList(std::string_view text) {
  FlowList list;
  std::size_t at = 1;
  while (true) {
    SkipBlanks(text, &at);
    if (at >= text.size()) return std::nullopt;
    if (text[at] == ']') break;
    if (text[at] == '"' || text[at] == '\'') {
      auto value = TakeQuoted(text, &at);
      if (!value) return std::nullopt;
      list.values.push_back(std::move(*value));
    } else {
      const std::size_t end = PlainEnd(text, at, ",]");
      const std::string_view plain = TrimBlanks(text.substr(at, end - at));
      if (plain.empty()) return std::nullopt;
      list.values.emplace_back(plain);
      at = end;
    }
    SkipBlanks(text, &at);
    if (at < text.size() && text[at] == ',') {
      ++at;
    } else if (at >= text.size() || text[at] != ']') {
      return std::nullopt;
    }
  }
  ++at;
  if (!OnlyCommentFollows(text, at)) return std::nullopt;
  list.raw = text.substr(0, at);
  return list;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  FrontMatter Read() {
    std::size_t at = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    if (TakeLine(text_, &at) != "---") return {};
    FrontMatter out;
    out.entries.reserve(8);
    out.first_line_end = at;
    while (at < text_.size()) {
      ++line_;
      const std::string_view line = TakeLine(text_, &at);
      if (line == "---" || line == "...") {
        out.state = FrontMatter::State::kRead;
        out.end = at;
        break;
      }
      ReadLine(line, &out);
    }
    if (out.state == FrontMatter::State::kRead) return out;
    return {.state = FrontMatter::State::kUnclosed,
            .problems = {"the front matter is never closed"}};
  }

 private:
  void ReadLine(std::string_view line, FrontMatter* out) {
    const std::string_view text = TrimBlanks(line);
    if (text.empty() || text[0] == '#') return;
    if (text[0] == '-' && (text.size() == 1 || IsBlank(text[1])) && ReadItem(text, out)) return;
    std::size_t at = 0;
    while (at < text.size() && IsKeyByte(text[at])) ++at;
    const std::string_view key = text.substr(0, at);
    SkipBlanks(text, &at);
    if (key.empty() || at >= text.size() || text[at] != ':') {
      return Lose("is no `key: value`", out);
    }
    ReadValue(key, TrimBlanks(text.substr(at + 1)), text.substr(at + 1), out);
  }

  // "- x" below a key without a value.
  bool ReadItem(std::string_view text, FrontMatter* out) {
    if (!may_list_ || out->entries.empty()) return false;
    FrontMatterEntry& entry = out->entries.back();
    const auto scalar = ReadScalar(TrimBlanks(text.substr(1)));
    if (!scalar) {
      Lose("has a quoted value that is malformed", out);
      return true;
    }
    if (entry.kind == FrontMatterEntry::Kind::kScalar) {
      entry.kind = FrontMatterEntry::Kind::kList;
      entry.values.clear();
    }
    entry.values.push_back(scalar->value);
    return true;
  }

  void ReadValue(std::string_view key, std::string_view value, std::string_view place,
                 FrontMatter* out) {
    may_list_ = false;
    if (value.starts_with('[')) {
      auto list = ReadFlowList(value);
      if (!list) return Lose("has a list that is malformed", out);
      out->entries.push_back(
          {key, FrontMatterEntry::Kind::kList, std::move(list->values), list->raw});
      return;
    }
    auto scalar = ReadScalar(value);
    if (!scalar) return Lose("has a quoted value that is malformed", out);
    may_list_ = scalar->raw.empty();
    // An empty value has a place, too: where one would be written.
    const std::string_view raw = scalar->raw.empty() ? place.substr(0, 0) : scalar->raw;
    out->entries.push_back({key, FrontMatterEntry::Kind::kScalar, {std::move(scalar->value)}, raw});
  }

  void Lose(std::string_view why, FrontMatter* out) {
    out->problems.push_back(fmt::format("line {} {}", line_, why));
  }

  std::string_view text_;
  int line_ = 1;
  bool may_list_ = false;  // the last key had no value
};

}  // namespace

FrontMatter ReadFrontMatter(std::string_view text) { return Reader(text).Read(); }

}  // namespace dossier::sources
