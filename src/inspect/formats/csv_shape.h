// What the first rows of a text say about it as a table: delimiter, header, columns.
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
  std::optional<char> delimiter;  // forced
  char fallback = ',';            // where nothing in the text parts cells
  HeaderRow header = HeaderRow::kAuto;
  std::optional<std::string> comment;  // forced; empty: no line is a comment
  TextEnds ends = TextEnds::kLater;
};

struct CsvGuess {
  TableShape shape;
  std::vector<std::string> names;  // of the columns, unique
  std::vector<CsvRow> rows;        // the first 101, header included; behind `sep=`
  bool duplicate_names = false;
  bool header_of_values = false;  // years, dates or 1, 2, 3 are taken for names of columns
  bool sep_line = false;          // the text starts with sep=;
  std::size_t text_start = 0;     // bytes: behind that line, or behind the comments in front
  std::uint64_t comments = 0;     // lines in front of text_start
  bool certain = false;           // surely a table, whatever the file's name says
  bool fits_sniffed = false;      // table enough for a text without a telling name
};

// Names of columns from a header row: an empty one is `column 3`, a repeated one `name#2`.
std::vector<std::string> ColumnNames(const std::vector<std::string>& header);
// The two header lines that a shape with `below` has, as one: `2023` above `Q1` is `2023 Q1`. An
// empty cell of the first goes on with the one in front of it, if the second has a name there.
std::vector<std::string> JoinHeader(const std::vector<std::string>& first, const TableShape& shape);
// "column 3" for 2.
std::string ColumnName(std::size_t column);

// `head`: the beginning of a text, whole lines or not.
CsvGuess GuessCsv(std::string_view head, const CsvHints& hints);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_CSV_SHAPE_H_
