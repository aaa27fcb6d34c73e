// Tables of fixed width with a rule below their header, as sqlcmd and reports print them, and
// settings: INI, TOML, properties.

#include <algorithm>
#include <charconv>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/formats/items.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostColumns = 256;
constexpr std::size_t kRowsLookedAt = 100;

// Runs of - or =, with spaces between them; none has other characters.
bool IsRuler(std::string_view line) {
  const std::string_view text = TrimSpace(line);
  return text.size() >= 5 && text.size() < 4096 &&
         text.find_first_not_of("-= \t") == std::string_view::npos &&
         (text.find("--") != text.npos || text.find("==") != text.npos);
}

struct Span {
  std::size_t begin = 0, end = 0;  // code points
};

// One character for each code point: blank, or not.
std::string Ink(std::string_view line) {
  std::string ink;
  for (std::size_t at = 0; at < line.size() && ink.size() < 4096;) {
    const char32_t c = utf8::Next(line, &at);
    ink += c == ' ' || c == '\t' || c == 0xA0 ? ' ' : '#';
  }
  return ink;
}

std::vector<Span> RunsOf(std::string_view ink) {
  std::vector<Span> runs;
  for (std::size_t i = 0; i < ink.size() && runs.size() < kMostColumns; ++i) {
    if (ink[i] == ' ') continue;
    if (i == 0 || ink[i - 1] == ' ') runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

std::string_view CellOf(std::string_view line, Span span) {
  const std::string_view before = utf8::Prefix(line, span.begin);
  line.remove_prefix(before.size());
  return TrimSpace(utf8::Prefix(line, span.end - span.begin));
}

// The columns of a table whose rule is one line: what is blank in its header and its rows parts
// them, where the header has two spaces or more.
std::vector<Span> ColumnsByInk(std::string_view text, std::string_view header, std::size_t at) {
  const std::string names = Ink(header);
  std::string ink = names;
  for (std::size_t rows = 0; at < text.size() && rows < kRowsLookedAt; ++rows) {
    const Line line = NextLine(text, at);
    at = line.next;
    if (IsBlankLine(line.text) || IsRuler(line.text)) break;
    const std::string row = Ink(line.text);
    if (row.size() > ink.size()) ink.resize(row.size(), ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] != ' ') ink[i] = '#';
    }
  }
  std::vector<Span> columns;
  for (const Span run : RunsOf(ink)) {
    // A column without a name goes on with the one in front of it.
    const std::string_view own =
        std::string_view(names).substr(std::min(run.begin, names.size()), run.end - run.begin);
    const std::string_view gap =
        columns.empty()
            ? std::string_view("  ")
            : std::string_view(names).substr(std::min(columns.back().end, names.size()));
    const bool parted = run.begin == 0 || columns.empty() || gap.starts_with("  ") ||
                        names.substr(0, std::min(run.begin, names.size())).ends_with("  ");
    if (columns.empty() || (own.find('#') != own.npos && parted)) {
      columns.push_back(run);
    } else {
      columns.back().end = run.end;
    }
  }
  return columns;
}

// A line `[section]` or `[[section]]`; empty: it is none.
std::string_view SectionOf(std::string_view line) {
  line = TrimSpace(line);
  if (const std::size_t comment = line.find(" #"); comment != line.npos) {
    line = TrimSpace(line.substr(0, comment));
  }
  if (line.size() < 3 || line.front() != '[' || line.back() != ']') return {};
  while (line.starts_with('[') && line.ends_with(']') && line.size() > 2) {
    line = line.substr(1, line.size() - 2);
  }
  return TrimSpace(line);
}

// Where the mark stands that parts name and value; npos: the line is no setting.
std::size_t MarkOfSetting(std::string_view line) {
  const std::string_view text = TrimSpace(line);
  if (text.empty() || std::string_view("#;!").find(text[0]) != std::string_view::npos) {
    return std::string_view::npos;
  }
  const std::size_t mark = line.substr(0, 200).find_first_of("=:");
  return mark == 0 ? std::string_view::npos : mark;
}

// A value without the quotes around it, or the comment behind it.
std::string_view PlainValue(std::string_view value) {
  value = TrimSpace(value);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'')) {
    const std::size_t close = value.find(value[0], 1);
    if (close != std::string_view::npos) {
      const std::string_view behind = TrimSpace(value.substr(close + 1));
      if (behind.empty() || behind[0] == '#' || behind[0] == ';') return value.substr(1, close - 1);
    }
    return value;
  }
  for (const std::string_view mark : {" #", " ;", "\t#", "\t;"}) {
    value = TrimSpace(value.substr(0, value.find(mark)));
  }
  return value;
}

}  // namespace

bool BeginsRuled(std::string_view head) {
  for (std::size_t at = 0; at < head.size();) {
    const Line line = NextLine(head, at);
    if (IsRuler(line.text)) {
      const TextRecord columns = ReadRuler(head, at);
      // `Name:  Ann` above a rule is no header.
      return columns.size() >= 2 && std::ranges::none_of(columns, [](const auto& column) {
               return column.first.ends_with(':');
             });
    }
    at = line.next;
  }
  return false;
}

bool BeginsSettings(std::string_view head) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < head.size() && lines < 100; ++lines) {
    const Line line = NextLine(head, at);
    at = line.next;
    const std::string_view text = TrimSpace(line.text);
    if (text.empty() || std::string_view("#;!").find(text[0]) != text.npos) continue;
    if (IsBlank(line.text[0])) continue;  // goes on with the one above
    const std::size_t mark = MarkOfSetting(text);
    std::string_view key = text.substr(0, mark);
    if (key.starts_with("export ")) key.remove_prefix(7);
    const bool named = TrimSpace(key).find_first_of(" \t") == key.npos;
    if (mark == text.npos || !named) return false;
  }
  return true;
}

ItemLine JudgeRuledLine(std::string_view line, ItemState* state) {
  // 0: outside, 1: in a table, 2: behind a second rule, where totals stand.
  if (IsBlankLine(line)) {
    state->depth = 0;
    return ItemLine::kOutside;
  }
  if (IsRuler(line)) {
    ++state->depth;
    if (state->depth == 1) return ItemLine::kHead;
    state->depth = 2;
    return ItemLine::kOutside;
  }
  return state->depth == 1 ? ItemLine::kWhole : ItemLine::kOutside;
}

// Names of columns, each with its span as its value.
TextRecord ReadRuler(std::string_view text, std::uint64_t at) {
  const Line ruler = NextLine(text, at);
  std::string_view before = text.substr(0, at);
  while (!before.empty() && IsLineEnd(before.back())) before.remove_suffix(1);
  const std::size_t start = before.find_last_of("\r\n");
  const std::string_view header =
      start == std::string_view::npos ? before : before.substr(start + 1);
  if (header.size() > 4096) return {};
  std::vector<Span> columns = RunsOf(Ink(ruler.text));
  if (columns.size() < 2) {
    columns = ColumnsByInk(text, header, ruler.next);
  }
  if (columns.empty()) return {};
  for (std::size_t i = 1; i < columns.size(); ++i) columns[i - 1].end = columns[i].begin;
  columns.back().end = std::string_view::npos;
  std::vector<std::string> names;
  for (const Span& column : columns) names.emplace_back(CellOf(header, column));
  names = ColumnNames(names);
  TextRecord head;
  for (std::size_t i = 0; i < names.size(); ++i) {
    head.emplace_back(names[i], fmt::format("{} {}", columns[i].begin, columns[i].end));
  }
  return head;
}

TextRecord ReadRuledRow(const Item& item) {
  TextRecord record;
  for (const auto& [name, where] : item.head) {
    Span span;
    const char* end = where.data() + where.size();
    const auto behind = std::from_chars(where.data(), end, span.begin).ptr;
    std::from_chars(behind + 1, end, span.end);
    record.emplace_back(name, CellOf(item.record().substr(0, 1 << 16), span));
  }
  return record;
}

ItemLine JudgeSettingLine(std::string_view line, ItemState* state) {
  // How many brackets of a list are open; -1: the line in front ends with a backslash.
  const auto count = [&](std::string_view text) {
    for (const char c : text) state->depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    state->depth = std::clamp(state->depth, 0, 1 << 20);
  };
  const bool goes_on = line.ends_with('\\');
  if (state->open && state->depth != 0) {
    if (state->depth > 0) {
      count(line);
    } else {
      state->depth = goes_on ? -1 : 0;
    }
    return ItemLine::kInside;
  }
  state->depth = 0;
  if (!SectionOf(line).empty()) return ItemLine::kHead;
  const std::size_t mark = MarkOfSetting(line);
  if (mark == std::string_view::npos) {
    const bool indented = !line.empty() && IsBlank(line[0]) && !IsBlankLine(line);
    return indented && state->open ? ItemLine::kInside : ItemLine::kOutside;
  }
  const std::string_view value = TrimSpace(line.substr(mark + 1));
  if (value.starts_with('[')) count(value);
  if (goes_on) state->depth = -1;
  return ItemLine::kBegin;
}

TextRecord ReadSection(std::string_view text, std::uint64_t line) {
  return {{"section", std::string(SectionOf(NextLine(text, line).text.substr(0, 4096)))}};
}

TextRecord ReadSetting(const Item& item) {
  const std::string_view line = item.record();
  const std::size_t mark = MarkOfSetting(line);
  TextRecord record = item.head;
  std::string_view key = TrimSpace(line.substr(0, mark));
  if (key.starts_with("export ")) key = TrimSpace(key.substr(7));
  record.emplace_back("key", PlainValue(key));
  record.emplace_back("value", PlainValue(line.substr(std::min(mark, line.size() - 1) + 1)));
  return record;
}

}  // namespace dossier::inspect
