#include "inspect/formats/pipe_tables.h"

#include <algorithm>
#include <map>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

// Code points. Each table and each of its rows holds the title.
constexpr std::uint64_t kLongestTitle = 200;

// A pipe behind a backslash parts nothing.
std::vector<std::string> PipeCells(std::string_view line) {
  line = TrimSpace(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  std::vector<std::string> cells(1);
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\' && line.substr(at + 1).starts_with('|')) {
      cells.back() += line[++at];
    } else if (line[at] != '|') {
      cells.back() += line[at];
    } else if (at + 1 < line.size()) {
      cells.emplace_back();
    }
  }
  for (std::string& cell : cells) cell = TrimSpace(cell);
  return cells;
}

// The number of columns that `|---|:--:|` or `---+---` rules off; 0: it is no rule.
std::size_t RuledColumns(std::string_view line) {
  line = TrimSpace(line);
  const bool rule = line.find_first_not_of("|+-: ") == std::string_view::npos &&
                    line.find('-') != std::string_view::npos &&
                    line.find_first_of("|+") != std::string_view::npos;
  return rule ? PipeCells(ReplaceAll(line, "+", "|")).size() : 0;
}

std::string_view HeadingOf(std::string_view line) {
  const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  const bool heading = hashes > 0 && hashes <= 6 && line.substr(hashes).starts_with(' ');
  return heading ? TrimSpace(utf8::Prefix(line.substr(hashes), kLongestTitle)) : std::string_view();
}

void NameApart(std::vector<PipeTable>* tables) {
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < tables->size(); ++i) {
    std::string& title = (*tables)[i].title;
    if (title.empty()) title = fmt::format("table {}", i + 1);
    if (const int copy = ++seen[title]; copy > 1) title += fmt::format(" ({})", copy);
  }
}

void TakeFooterOff(std::string_view text, PipeTable* table) {
  std::vector<ByteRange>& rows = table->rows;
  const auto row_at = [&](std::size_t row) {  // **7** is a number as well
    return FooterRow{rows[row].begin, PipeCells(ReplaceAll(Slice(text, rows[row]), "**", ""))};
  };
  table->footer = FindFooter({.rows = rows.size(), .columns = table->names.size(), .row = row_at});
  rows.resize(rows.size() - table->footer.rows.size());
}

}  // namespace

std::vector<PipeTable> FindPipeTables(std::string_view text) {
  std::vector<PipeTable> tables;
  if (text.find("--") == std::string_view::npos) return tables;
  std::string_view before, heading;  // the line in front, the last heading
  std::uint64_t before_at = 0;
  bool inside = false, fenced = false;
  for (std::size_t at = 0; at < text.size();) {
    const Line line = NextLine(text, at);
    const bool piped = line.text.find('|') != std::string_view::npos;
    const std::string_view trimmed = TrimSpace(line.text);
    if (trimmed.starts_with("```") || trimmed.starts_with("~~~")) fenced = !fenced;
    if (fenced) {
      inside = false;
    } else if (inside && piped) {
      if (RuledColumns(line.text) == 0) tables.back().rows.push_back({at, at + line.text.size()});
    } else if (const std::size_t columns = RuledColumns(line.text);
               columns > 0 && before.find('|') != std::string_view::npos &&
               PipeCells(before).size() == columns) {
      inside = true;
      tables.push_back({std::string(heading), ColumnNames(PipeCells(before)), before_at, {}, {}});
    } else {
      inside = false;
      if (const auto title = HeadingOf(line.text); !title.empty()) heading = title;
    }
    before = line.text;
    before_at = at;
    at = line.next;
  }
  std::erase_if(tables, [](const PipeTable& table) { return table.rows.empty(); });
  NameApart(&tables);
  for (PipeTable& table : tables) TakeFooterOff(text, &table);
  return tables;
}

TextRecord ReadPipeRow(const std::vector<PipeTable>& tables, std::string_view row,
                       std::uint64_t begin) {
  const auto behind =
      std::upper_bound(tables.begin(), tables.end(), begin,
                       [](std::uint64_t at, const PipeTable& table) { return at < table.begin; });
  TextRecord record;
  if (behind == tables.begin()) return record;
  const PipeTable& table = *std::prev(behind);
  if (tables.size() > 1) record.emplace_back(kRowTable, table.title);
  std::vector<std::string> cells = PipeCells(row);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    record.emplace_back(c < table.names.size() ? table.names[c] : ColumnName(c),
                        std::move(cells[c]));
  }
  return record;
}

}  // namespace dossier::inspect
