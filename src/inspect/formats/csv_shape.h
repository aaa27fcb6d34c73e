// Guesses the shape of a table from the first rows of a text: delimiter, header, columns.
//
//   CsvGuess guess = GuessCsv("name;age\nAda;36\nBob;41\n", {.ends = TextEnds::kHere});
//   guess.shape.delimiter == ';' && guess.shape.header && guess.shape.columns == 2;
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_CSV_SHAPE_H_
#define DOSSIER_INSPECT_FORMATS_CSV_SHAPE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/description/description.h"
#include "inspect/description/number_style.h"
#include "inspect/description/options.h"
#include "inspect/formats/csv_scanner.h"

namespace dossier::inspect {

struct CsvHints {
  std::optional<char> delimiter;  // fixed by the user
  char fallback = ',';            // used if nothing in the text separates cells
  HeaderRow header = HeaderRow::kAuto;
  std::optional<std::string> comment;  // fixed by the user; empty: no line is a comment
  TextEnds ends = TextEnds::kLater;
};

struct CsvGuess {
  TableShape shape;
  std::vector<std::string> names;  // unique column names
  std::vector<CsvRow> rows;        // the first 101, including the header; after `sep=`
  bool duplicate_names = false;
  bool header_of_values = false;  // years, dates or 1, 2, 3 were taken for column names
  bool sep_line = false;          // the text starts with sep=;
  std::size_t text_start = 0;     // bytes: after that line, or after leading comments
  std::uint64_t comments = 0;     // lines before text_start
  bool certain = false;           // a table, whatever the file's name
  bool fits_sniffed = false;      // enough like a table if the name says nothing
};

// Returns column names for a header row: an empty one becomes `column 3`, a repeated one `name#2`.
std::vector<std::string> ColumnNames(const std::vector<std::string>& header);
// Joins the two header lines of a shape with `below`: `2023` above `Q1` becomes `2023 Q1`. An empty
// cell of the first line repeats the one before it if the second line has a name there.
std::vector<std::string> JoinHeader(const std::vector<std::string>& first, const TableShape& shape);
// Returns "column 3" for 2.
std::string ColumnName(std::size_t column);

// `head` is the beginning of a text; its last line may be cut.
CsvGuess GuessCsv(std::string_view head, const CsvHints& hints);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_CSV_SHAPE_H_
