// Markdown tables, fitted to the width of a terminal.
//
//   const std::vector<std::string> lines = {"| package | size |", "|---|---:|", "| vim | 12 |"};
//   for (auto& line : DrawTable(lines, {.width = 60, …})) out << line << "\n";
//
// Cells that are too wide wrap within their column, wide characters count as two; with so many
// columns that none would be readable, each row becomes a list of "HEADER: value" lines.
// Thread-safety: pure.

#ifndef DOSSIER_CLI_MARKDOWN_MARKDOWN_TABLE_H_
#define DOSSIER_CLI_MARKDOWN_MARKDOWN_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "cli/markdown/markdown_inline.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

struct TableOptions {
  int width = 80;
  Terminal::Color color = Terminal::Color::kNo;
  Markers markers = Markers::kShow;
};

// The cells of a row: between `|`, trimmed; `\|` is a bar of the text.
std::vector<std::string> SplitRow(std::string_view line);

// Whether `line` is the line below a table's header: dashes, bars and colons.
bool IsDelimiterRow(std::string_view line);

// `lines` is a header, a delimiter row, and rows; longer rows lose their surplus cells, as in
// GitHub's tables. At most as wide as asked for, unless a single character is wider.
std::vector<std::string> DrawTable(const std::vector<std::string>& lines,
                                   const TableOptions& options);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_MARKDOWN_TABLE_H_
