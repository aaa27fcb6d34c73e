#include "inspect/description/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text/redact.h"
#include "base/text/utf8.h"
#include "inspect/description/json_text.h"

namespace dossier::inspect {
namespace {

constexpr std::uint64_t kMaxName = 120, kNameHead = 80, kNameTail = 39;
constexpr std::uint64_t kMaxExample = 40;
constexpr std::uint64_t kMaxFieldName = 80;
constexpr std::uint64_t kMaxStepBack = 20;

struct Range {
  char32_t first, last;
};

bool InRanges(char32_t c, const Range* begin, const Range* end) {
  const Range* range = std::lower_bound(
      begin, end, c, [](const Range& r, char32_t value) { return r.last < value; });
  return range != end && c >= range->first;
}

// Controls, zero-width characters and those that reorder displayed text.
constexpr Range kUnsafe[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},  {0x200B, 0x200F},
                             {0x2028, 0x202E}, {0x2060, 0x2069}, {0xFEFF, 0xFEFF}};

// Code points that join the one before them: combining marks of the common scripts, variation
// selectors, emoji modifiers, tags (Unicode 15, Grapheme_Extend, in blocks).
constexpr Range kExtends[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},     {0x610, 0x61A},     {0x64B, 0x65F},
    {0x670, 0x670},   {0x6D6, 0x6DC},   {0x8D3, 0x903},     {0x93A, 0x93C},     {0x93E, 0x94F},
    {0x951, 0x957},   {0x962, 0x963},   {0x981, 0x983},     {0x9BC, 0x9CD},     {0xA01, 0xA03},
    {0xA3C, 0xA51},   {0xA81, 0xA83},   {0xABC, 0xACD},     {0xB01, 0xB03},     {0xB3C, 0xB57},
    {0xBBE, 0xBD7},   {0xC00, 0xC04},   {0xC3E, 0xC56},     {0xCBC, 0xCD6},     {0xD00, 0xD03},
    {0xD3B, 0xD57},   {0xDCA, 0xDDF},   {0xE31, 0xE31},     {0xE34, 0xE3A},     {0xE47, 0xE4E},
    {0xEB1, 0xEBC},   {0xF71, 0xF84},   {0x102B, 0x103E},   {0x135D, 0x135F},   {0x17B4, 0x17D3},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},   {0x302A, 0x302F},   {0x3099, 0x309A},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE007F}, {0xE0100, 0xE01EF}};

bool IsRegionalIndicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

enum class NameRules : std::uint8_t { kNo, kYes };

void AppendClean(char32_t c, NameRules rules, std::string* out) {
  if (c == '\n') {
    *out += "\\n";
  } else if (c == '\t') {
    *out += "\\t";
  } else if (c == '\r') {
    *out += "\\r";
  } else if (InRanges(c, std::begin(kUnsafe), std::end(kUnsafe))) {
    *out += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(c));
  } else {
    if (rules == NameRules::kYes && (c == '"' || c == '\\')) *out += '\\';
    utf8::Append(c, out);
  }
}

std::string Clean(std::string_view text, NameRules rules) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) AppendClean(utf8::Next(text, &at), rules, &out);
  return out;
}

// Returns the length of an escape by CleanText at the start of `text`; 0 if there is none.
std::size_t EscapeLength(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return 0;
  if (!text.starts_with("\\u{")) return 2;
  const std::size_t close = text.substr(0, 11).find('}');
  return close == std::string_view::npos ? 2 : close + 1;
}

struct Border {
  std::size_t offset;   // bytes
  std::uint64_t chars;  // before it
};

// Returns the places where `text` may be cut, up to `max_chars`, in order.
std::vector<Border> Borders(std::string_view text, std::uint64_t max_chars) {
  std::vector<Border> borders;
  std::uint64_t chars = 0;
  char32_t previous = 0;
  bool flag_open = false;  // an odd number of regional indicators precedes
  for (std::size_t at = 0; at < text.size() && chars <= max_chars;) {
    std::size_t next = at;
    const char32_t c = utf8::Next(text, &next);
    const bool joins = InRanges(c, std::begin(kExtends), std::end(kExtends)) ||
                       (IsRegionalIndicator(c) && flag_open) || previous == 0x200D;
    if (!joins) borders.push_back({at, chars});
    flag_open = IsRegionalIndicator(c) && !flag_open;
    previous = c;
    const std::size_t escape = EscapeLength(text.substr(at));
    if (escape > 0) {
      chars += utf8::CodePoints(text.substr(at, escape));
      at += escape;
    } else {
      ++chars;
      at = next;
    }
  }
  return borders;
}

bool IsGoodEnd(char c) { return c == ',' || c == '}' || c == ']' || c == ' '; }

}  // namespace

std::string CleanText(std::string_view utf8) { return Clean(utf8, NameRules::kNo); }

std::string CleanName(std::string_view utf8) {
  const std::string clean = Clean(utf8, NameRules::kYes);
  if (utf8::CodePoints(clean) <= kMaxName) return clean;
  return fmt::format("{}…{}", utf8::Prefix(clean, kNameHead), utf8::Suffix(clean, kNameTail));
}

CutResult CutText(std::string_view cleaned, std::uint64_t chars) {
  const std::string_view head = utf8::Prefix(cleaned, chars);
  if (head.size() == cleaned.size()) return {std::string(cleaned), false};
  const std::vector<Border> borders = Borders(cleaned, chars);
  Border last{0, 0};
  for (const Border& border : borders) {
    if (border.chars <= chars) last = border;
  }
  for (auto it = borders.rbegin(); it != borders.rend(); ++it) {
    if (it->chars > last.chars || it->offset == 0) continue;
    if (it->chars + kMaxStepBack < last.chars) break;
    if (IsGoodEnd(cleaned[it->offset - 1]))
      return {std::string(cleaned.substr(0, it->offset)), true};
  }
  return {std::string(cleaned.substr(0, last.offset)), true};
}

std::string CleanExample(std::string_view name, std::string_view utf8) {
  const std::string_view kind = KindOfNamedSecret(name, utf8);
  if (!kind.empty()) return fmt::format("[redacted:{}]", kind);
  // Only the beginning is shown, so text far behind it is not processed.
  constexpr std::size_t kLookedAt = 4096;
  const std::string_view head = utf8.substr(0, utf8::FloorBoundary(utf8, kLookedAt));
  const std::string clean = CleanText(Redact(head));
  if (utf8::CodePoints(clean) <= kMaxExample) return clean;
  const std::vector<Border> borders = Borders(clean, kMaxExample);
  std::size_t end = 0;
  for (const Border& border : borders) {
    if (border.chars < kMaxExample) end = border.offset;
  }
  return clean.substr(0, end) + "…";
}

std::string ShowFieldName(std::string_view utf8) {
  const std::string_view head = utf8::Prefix(utf8, kMaxFieldName);
  const bool cut = head.size() < utf8.size();
  bool quote = head.empty() || head.front() == ' ' || head.back() == ' ';
  for (std::size_t at = 0; at < head.size();) {
    const char32_t c = utf8::Next(head, &at);
    quote = quote || c == '.' || c == ',' || c == '{' || c == '(' || c == '"' || c == '\'' ||
            c == '`' || c == '\\' || InRanges(c, std::begin(kUnsafe), std::end(kUnsafe));
  }
  const std::string shown = quote ? CleanText(QuoteJson(head)) : std::string(head);
  return cut ? shown + "…" : shown;
}

}  // namespace dossier::inspect
