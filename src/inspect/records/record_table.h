// Rows of CSV and TSV (RFC 4180): where they are and what their cells hold.
//
//   Rows rows(text, ',');
//   std::size_t at = 0;
//   for (ByteRange row; rows.Next(&at, &row);) Use(ParseCells(Slice(text, row), ','));
//
// A quote counts at the start of a cell only; a quote that never closes is text. Thread-safety:
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
  // `comment`: lines that begin with it are no rows, except those that IsMarkedRow knows by their
  // number of cells; empty: all lines are.
  Rows(std::string_view text, char delimiter, std::string comment = {},
       std::uint64_t marked_row_cells = 0)
      : text_(text),
        delimiter_(delimiter),
        comment_(std::move(comment)),
        marked_row_cells_(marked_row_cells) {}

  // The next row that is not blank, at or behind *position, which must be the start of a row. The
  // range excludes the line end. False at the end of the text.
  bool Next(std::size_t* position, ByteRange* row) const;

 private:
  std::size_t EndOfQuotedRow(std::size_t start) const;
  std::size_t SkipQuotedCell(std::size_t quote) const;

  std::string_view text_;
  char delimiter_;
  std::string comment_;
  std::uint64_t marked_row_cells_;
  // The one quote that never closes, once known: looking for its end again would read the rest of
  // the text every time. There is at most one: behind it every run of quotes is even.
  mutable std::atomic<std::size_t> open_quote_{std::string_view::npos};
};

// The cells of one row, without quotes. At least one.
std::vector<std::string> ParseCells(std::string_view row, char delimiter);

// Offset behind a byte order mark and what stands in front of the rows: a line `sep=;`, comments.
std::size_t TableStart(std::string_view text, const TableShape& shape);
// `text` without what stands behind the rows.
std::string_view TableText(std::string_view text, const TableShape& shape);
// Moves *position, which is that start, behind the header row, or both, and gives its cells;
// none if the table has no header.
std::vector<std::string> TakeHeader(std::string_view text, const TableShape& shape,
                                    std::size_t* position);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_TABLE_H_
