// References: BibTeX and RIS.

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/formats/items.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

// The lower-case type of an entry that begins here; empty: none does.
std::string EntryType(std::string_view line) {
  line = TrimSpace(line);
  if (!line.starts_with('@')) return {};
  const std::size_t end = line.find_first_of("{(");
  if (end == std::string_view::npos || end > 40) return {};
  const std::string_view type = TrimSpace(line.substr(1, end - 1));  // of @type{
  if (type.empty() || !std::ranges::all_of(type, IsLetter)) return {};
  return ToLowerAscii(type);
}

bool IsEntry(std::string_view type) {
  return !type.empty() && type != "comment" && type != "string" && type != "preamble";
}

int BracesOf(std::string_view line) {
  int depth = 0;
  for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  return depth;
}

// The letter with the accent, for the commonest of them; empty: it is none of these.
std::string_view Accented(char accent, char letter) {
  struct Row {
    char accent, letter;
    std::string_view text;
  };
  constexpr Row kRows[] = {
      {'"', 'a', "ä"},  {'"', 'o', "ö"},  {'"', 'u', "ü"},  {'"', 'A', "Ä"},  {'"', 'O', "Ö"},
      {'"', 'U', "Ü"},  {'"', 'e', "ë"},  {'"', 'i', "ï"},  {'\'', 'a', "á"}, {'\'', 'e', "é"},
      {'\'', 'i', "í"}, {'\'', 'o', "ó"}, {'\'', 'u', "ú"}, {'\'', 'c', "ć"}, {'\'', 'n', "ń"},
      {'\'', 'E', "É"}, {'`', 'a', "à"},  {'`', 'e', "è"},  {'`', 'i', "ì"},  {'`', 'o', "ò"},
      {'`', 'u', "ù"},  {'^', 'a', "â"},  {'^', 'e', "ê"},  {'^', 'i', "î"},  {'^', 'o', "ô"},
      {'^', 'u', "û"},  {'~', 'n', "ñ"},  {'~', 'a', "ã"},  {'~', 'o', "õ"},  {'c', 'c', "ç"},
      {'v', 'c', "č"},  {'v', 's', "š"},  {'v', 'z', "ž"},  {'v', 'r', "ř"},  {'v', 'e', "ě"}};
  for (const Row& row : kRows) {
    if (row.accent == accent && row.letter == letter) return row.text;
  }
  return {};
}

// Text of TeX as people read it: without braces and accents as commands, in one line.
std::string PlainTex(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      std::size_t letter = at + 2;
      while (letter < text.size() && letter < at + 5 &&
             std::string_view("{ \\").find(text[letter]) != std::string_view::npos) {
        ++letter;
      }
      const bool command = IsLetter(text[at + 1]) && letter == at + 2;  // \verb is no accent
      const std::string_view found = letter < text.size() && !command
                                         ? Accented(text[at + 1], text[letter])
                                         : std::string_view();
      if (!found.empty()) {
        out += found;
        at = letter;
      } else if (!IsLetter(text[at + 1])) {
        out += text[++at];
      } else {
        out += c;
      }
    } else if (c == '{' || c == '}') {
      continue;
    } else if (IsJsonSpace(c) || c == '~') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

// Takes a value off *rest, up to the comma or brace that ends it.
std::string TakeBibtexValue(std::string_view* rest) {
  std::size_t at = 0;
  int depth = 0;
  bool quoted = false;
  std::string value;
  for (; at < rest->size(); ++at) {
    const char c = (*rest)[at];
    if (c == '{') ++depth;
    if (c == '}' && --depth < 0) break;
    if (depth == 0) {
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == ',' && !quoted) break;
      if (c == '#' && !quoted) continue;  // parts in a row
    }
    value += c;
  }
  rest->remove_prefix(std::min(at + 1, rest->size()));
  return PlainTex(value);
}

struct RisName {
  std::string_view tag, name;
};
constexpr RisName kRisNames[] = {
    {"TY", "type"},       {"TI", "title"},    {"T1", "title"},  {"AU", "author"},
    {"A1", "author"},     {"PY", "year"},     {"Y1", "year"},   {"JO", "journal"},
    {"JF", "journal"},    {"T2", "journal"},  {"VL", "volume"}, {"IS", "issue"},
    {"SP", "start_page"}, {"EP", "end_page"}, {"DO", "doi"},    {"UR", "url"},
    {"AB", "abstract"},   {"KW", "keywords"}, {"SN", "issn"},   {"PB", "publisher"},
    {"DA", "date"},       {"LA", "language"}, {"ID", "id"}};

// `TY  - ` at the start of a line.
bool IsRisTag(std::string_view line) {
  return line.size() >= 5 && (IsUpper(line[0]) || IsDigit(line[0])) &&
         (IsUpper(line[1]) || IsDigit(line[1])) && line.substr(2, 3) == "  -";
}

}  // namespace

ItemLine JudgeBibtexLine(std::string_view line, ItemState* state) {
  const std::string type = EntryType(line);
  // At the margin an entry begins whatever is open in front of it: a brace may be missing.
  const bool begins = !type.empty() && (state->depth <= 0 || line.starts_with('@'));
  if (begins) state->depth = 0;
  constexpr int kDeepest = 1 << 20;
  if (begins || state->depth > 0) state->depth = std::min(state->depth + BracesOf(line), kDeepest);
  const bool closed = state->depth <= 0;
  if (begins && !IsEntry(type)) return ItemLine::kOutside;
  if (begins) return closed ? ItemLine::kWhole : ItemLine::kBegin;
  if (!state->open) return ItemLine::kOutside;
  return closed ? ItemLine::kEnd : ItemLine::kInside;
}

TextRecord ReadBibtex(const Item& item) {
  TextRecord record;
  std::string_view rest = TrimSpace(item.record());
  record.emplace_back("type", EntryType(rest));
  rest.remove_prefix(std::min(rest.find_first_of("{(") + 1, rest.size()));
  const std::string_view key = rest.substr(0, rest.find_first_of(",}\n"));
  record.emplace_back("key", TrimSpace(key));
  rest.remove_prefix(std::min(key.size() + 1, rest.size()));
  while (!rest.empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    std::string_view name = rest.substr(0, equals);
    if (const std::size_t edge = name.find_last_of(",}"); edge != name.npos) {
      name.remove_prefix(edge + 1);
    }
    name = TrimSpace(name);
    rest.remove_prefix(equals + 1);
    const std::string value = TakeBibtexValue(&rest);
    if (!name.empty() && name.size() <= 64) AddValue(ToLowerAscii(name), value, &record);
  }
  return record;
}

ItemLine JudgeRisLine(std::string_view line, ItemState*) {
  if (!IsRisTag(line)) return ItemLine::kInside;
  if (line.starts_with("TY")) return ItemLine::kBegin;
  return line.starts_with("ER") ? ItemLine::kEnd : ItemLine::kInside;
}

TextRecord ReadRis(const Item& item) {
  TextRecord record;
  for (std::size_t at = 0; at < item.record().size();) {
    const Line line = NextLine(item.record(), at);
    at = line.next;
    if (!IsRisTag(line.text)) {  // goes on with the value above
      if (!record.empty() && !IsBlankLine(line.text)) {
        record.back().second += fmt::format(" {}", TrimSpace(line.text));
      }
      continue;
    }
    const std::string_view tag = line.text.substr(0, 2);
    std::string_view value = TrimSpace(line.text.substr(5));
    if (tag == "ER") continue;
    if (tag == "PY" || tag == "Y1") value = value.substr(0, value.find('/'));
    const auto* known = std::ranges::find(kRisNames, tag, &RisName::tag);
    AddValue(known == std::end(kRisNames) ? tag : known->name, value, &record);
  }
  return record;
}

}  // namespace dossier::inspect
