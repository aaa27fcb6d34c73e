#include "inspect/formats/markup_text.h"

#include <algorithm>
#include <charconv>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/formats/tag_scanner.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostAttributes = 64;

struct Reference {
  std::string_view name;
  char32_t code;
};
constexpr Reference kReferences[] = {
    {"amp", '&'},      {"lt", '<'},       {"gt", '>'},        {"quot", '"'},     {"apos", '\''},
    {"nbsp", ' '},     {"auml", 0xE4},    {"ouml", 0xF6},     {"uuml", 0xFC},    {"Auml", 0xC4},
    {"Ouml", 0xD6},    {"Uuml", 0xDC},    {"szlig", 0xDF},    {"eacute", 0xE9},  {"egrave", 0xE8},
    {"agrave", 0xE0},  {"aacute", 0xE1},  {"ccedil", 0xE7},   {"ecirc", 0xEA},   {"iacute", 0xED},
    {"oacute", 0xF3},  {"uacute", 0xFA},  {"ntilde", 0xF1},   {"aring", 0xE5},   {"oslash", 0xF8},
    {"aelig", 0xE6},   {"Eacute", 0xC9},  {"euro", 0x20AC},   {"pound", 0xA3},   {"copy", 0xA9},
    {"reg", 0xAE},     {"deg", 0xB0},     {"micro", 0xB5},    {"sup2", 0xB2},    {"times", 0xD7},
    {"middot", 0xB7},  {"ndash", 0x2013}, {"mdash", 0x2014},  {"lsquo", 0x2018}, {"rsquo", 0x2019},
    {"ldquo", 0x201C}, {"rdquo", 0x201D}, {"hellip", 0x2026}, {"bull", 0x2022},  {"minus", '-'}};

// The character of the reference that `text` begins with; 0: it is none. *length: its bytes.
char32_t CharacterOf(std::string_view text, std::size_t* length) {
  const std::size_t end = text.substr(0, 12).find(';');
  if (end == std::string_view::npos) return 0;
  std::string_view name = text.substr(1, end - 1);
  *length = end + 1;
  if (name.starts_with('#')) {
    const bool hex = name.size() > 1 && (name[1] | 0x20) == 'x';
    name.remove_prefix(hex ? 2 : 1);
    std::uint32_t code = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), code, hex ? 16 : 10);
    const bool valid = read.ec == std::errc() && read.ptr == name.data() + name.size() &&
                       code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
    return !valid ? 0 : code == 0xA0 ? U' ' : static_cast<char32_t>(code);
  }
  const auto* known = std::ranges::find(kReferences, name, &Reference::name);
  return known == std::end(kReferences) ? 0 : known->code;
}

// Behind the next `end`, or at the end of the text.
std::size_t Behind(std::string_view text, std::size_t at, std::string_view end) {
  const std::size_t found = text.find(end, at);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

bool EndsBlock(std::string_view name) {
  constexpr std::string_view kBlocks[] = {"p",  "br", "div", "tr", "li", "h1",
                                          "h2", "h3", "h4",  "h5", "h6", "table"};
  return std::ranges::find(kBlocks, name) != std::end(kBlocks);
}

// Adds words, with one space for all white space between them.
void AddWords(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (!IsJsonSpace(c)) {
      *out += c;
    } else if (!out->empty() && !IsJsonSpace(out->back())) {
      *out += ' ';
    }
  }
}

}  // namespace

std::string PlainMarkup(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<![CDATA[")) {
      const std::size_t end = Behind(text, at, "]]>");
      const std::string_view inside = text.substr(at + 9, end - at - 9);
      out += inside.ends_with("]]>") ? inside.substr(0, inside.size() - 3) : inside;
      at = end;
    } else if (rest.starts_with("<!--")) {
      at = Behind(text, at, "-->");
    } else if (rest.starts_with("<?") || rest.starts_with("<!")) {
      at = Behind(text, at, ">");
    } else if (std::size_t length = 0; rest[0] == '&' && CharacterOf(rest, &length) != 0) {
      utf8::Append(CharacterOf(rest, &length), &out);
      at += length;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string TextOfHtml(std::string_view html) {
  std::string out;
  std::size_t from = 0;
  TagScanner tags(Markup::kHtml);
  tags.Feed(html, [&](const Tag& tag) {
    const bool raw = tag.kind == TagKind::kClose && (tag.name == "script" || tag.name == "style");
    if (!raw) AddWords(PlainMarkup(html.substr(from, tag.begin - from)), &out);
    if (EndsBlock(tag.name)) {
      while (out.ends_with(' ')) out.pop_back();
      if (!out.empty() && out.back() != '\n') out += '\n';
    }
    from = tag.end;
  });
  AddWords(PlainMarkup(html.substr(from)), &out);
  return std::string(TrimSpace(out));
}

TextRecord AttributesOf(std::string_view tag) {
  TextRecord attributes;
  std::size_t at = std::min(tag.find_first_of(" \t\r\n/"), tag.size());
  while (attributes.size() < kMostAttributes) {
    at = std::min(tag.find_first_not_of(" \t\r\n/>", at), tag.size());
    const std::size_t end = std::min(tag.find_first_of("= \t\r\n/>", at), tag.size());
    if (end == at || end == tag.size()) break;
    const std::string_view name = tag.substr(at, end - at);
    at = tag.find_first_not_of(" \t\r\n", end);
    if (at == std::string_view::npos) break;
    std::string_view value;
    if (tag[at] == '=') {
      at = tag.find_first_not_of(" \t\r\n", at + 1);
      if (at == std::string_view::npos) break;
      const bool quoted = tag[at] == '"' || tag[at] == '\'';
      const std::size_t begin = at + (quoted ? 1 : 0);
      const std::size_t close =
          quoted ? tag.find(tag[at], begin) : tag.find_first_of(" \t\r\n>", begin);
      value = tag.substr(begin, close - begin);
      at = close == std::string_view::npos ? tag.size() : close + (quoted ? 1 : 0);
    }
    if (name.starts_with("xmlns") || name.starts_with("xsi:")) continue;
    attributes.emplace_back(name.substr(name.rfind(':') + 1), PlainMarkup(value));
  }
  return attributes;
}

}  // namespace dossier::inspect
