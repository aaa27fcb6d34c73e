// Finds the rows of CSV and TSV (RFC 4180) and parses their cells.
//
//   Rows rows(text, ',');
//   std::size_t at = 0;
//   for (ByteRange row; rows.Next(&at, &row);) Use(ParseCells(Slice(text, row), ','));
//
// A quote is special only at the start of a cell; a quote that never closes is text. Thread-safety:
// const methods of Rows may be called from many threads.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_TABLE_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_TABLE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/description/description.h"
#include "inspect/description/record_range.h"

namespace dossier::inspect {

class Rows {
 public:
  // `comment`: prefix of lines that are not rows, except those that IsMarkedRow accepts by their
  // number of cells; empty: all lines are rows.
  Rows(std::string_view text, char delimiter, std::string comment = {},
       std::uint64_t marked_row_cells = 0)
      : text_(text),
        delimiter_(delimiter),
        comment_(std::move(comment)),
        marked_row_cells_(marked_row_cells) {}

  // Finds the next non-blank row at or after *position, which must be the start of a row. The range
  // excludes the line end. Returns false at the end of the text.
  bool Next(std::size_t* position, ByteRange* row) const;

 private:
  std::size_t EndOfQuotedRow(std::size_t start) const;
  std::size_t SkipQuotedCell(std::size_t quote) const;

  std::string_view text_;
  char delimiter_;
  std::string comment_;
  std::uint64_t marked_row_cells_;
  // The one quote that never closes, once known: searching for its end again would read the rest of
  // the text every time. There is at most one, because after it every run of quotes is even.
  mutable std::atomic<std::size_t> open_quote_{std::string_view::npos};
};

// Returns the cells of one row, without quotes. At least one.
std::vector<std::string> ParseCells(std::string_view row, char delimiter);

// Returns the offset after a byte order mark and the lines before the rows: `sep=;`, comments.
std::size_t TableStart(std::string_view text, const TableShape& shape);
// Returns `text` without what follows the rows.
std::string_view TableText(std::string_view text, const TableShape& shape);
// Moves *position, which is that start, after the header row (or both rows) and returns its cells;
// none if the table has no header.
std::vector<std::string> TakeHeader(std::string_view text, const TableShape& shape,
                                    std::size_t* position);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_TABLE_H_
