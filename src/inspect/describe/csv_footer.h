// Rows at the end of a table that are none of its records: totals, empty ones, notes.
//
//   CsvFooter footer = FindFooter("id;name;sum\n1;a;2\n2;b;3\n;Total;5\n", shape);
//   footer.rows.size() == 1 && footer.rows[0].why == "sums of the rows above";
//
// Structure tells, never a word: a row lacks a cell that every row above it has, and its numbers
// are their sums, or it has one cell, or none. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIBE_CSV_FOOTER_H_
#define DOSSIER_INSPECT_DESCRIBE_CSV_FOOTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/description/description.h"

namespace dossier::inspect {

struct CsvFooterRow {
  std::uint64_t offset = 0;  // bytes
  std::string why;
  bool ragged = false;
};

struct CsvFooter {
  std::vector<CsvFooterRow> rows;
  // The last row is like the others, but its numbers are their sums: it stays a record.
  bool sums_last = false;
  std::uint64_t last_offset = 0;
};

// `text`: a whole table, from its first row on.
CsvFooter FindFooter(std::string_view text, const TableShape& shape);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIBE_CSV_FOOTER_H_
