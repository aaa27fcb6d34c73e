// Finds rows at the end of a table that are not records: totals, empty rows, notes.
//
//   TableFooter footer = FindFooter({.rows = 3, .columns = 3, .row = [](std::size_t row) { … }});
//   footer.rows.size() == 1 && footer.rows[0].why == "sums of the rows above";
//
// Only the structure is used, never words: a footer row lacks a cell that every row above has, and
// its numbers are their sums; or it has one cell or none. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_TABLE_FOOTER_H_
#define DOSSIER_INSPECT_FORMATS_TABLE_FOOTER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text.h"

namespace dossier::inspect {

struct FooterRow {
  std::uint64_t offset = 0;  // bytes
  std::vector<std::string> cells;

  std::string_view At(std::size_t column) const {
    return column < cells.size() ? TrimSpace(cells[column]) : std::string_view();
  }
  std::size_t filled() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) count += At(i).empty() ? 0 : 1;
    return count;
  }
};

// A table to check, without its header.
struct FooterTable {
  std::size_t rows = 0, columns = 0;
  std::function<FooterRow(std::size_t)> row;
};

struct FoundFooterRow {
  std::uint64_t offset = 0;  // bytes
  std::string why;
  bool ragged = false;
};

struct TableFooter {
  std::vector<FoundFooterRow> rows;
  // The last record has the form of the others, but its numbers are their sums; it stays a record.
  bool sums_last = false;
  std::uint64_t last_offset = 0;
};

TableFooter FindFooter(const FooterTable& table);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_TABLE_FOOTER_H_
