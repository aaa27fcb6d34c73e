// Draws Markdown tables, fitted to the width of a terminal.
//
//   const std::vector<std::string> lines = {"| package | size |", "|---|---:|", "| vim | 12 |"};
//   for (auto& line : DrawTable(lines, {.width = 60, …})) out << line << "\n";
//
// Cells that are too wide wrap within their column; wide characters count as two columns. If there
// are too many columns to be readable, each row becomes a list of "HEADER: value" lines.
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

// Returns the cells of a row: the trimmed texts between `|`; `\|` is a literal bar.
std::vector<std::string> SplitRow(std::string_view line);

// Returns true if `line` is a table's delimiter row: dashes, bars and colons.
bool IsDelimiterRow(std::string_view line);

// `lines` is a header, a delimiter row, and rows; surplus cells of longer rows are dropped, as in
// GitHub's tables. The result is at most as wide as requested, unless a single character is wider.
std::vector<std::string> DrawTable(const std::vector<std::string>& lines,
                                   const TableOptions& options);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_MARKDOWN_TABLE_H_
