// CSV and TSV by RFC 4180: rows and ragged rows of a whole text, cells of its beginning.
//
//   CsvScanner scanner({.delimiter = ',', .columns = 2});
//   scanner.Feed("a,b\n\"x\ny\",2\n");
//   scanner.Finish().rows == 2;                       // the quoted line end ends no row
//
// The state survives any split of the input. Thread-safety: one owner; ParseCsv is pure.

#ifndef DOSSIER_INSPECT_FORMATS_CSV_SCANNER_H_
#define DOSSIER_INSPECT_FORMATS_CSV_SCANNER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/description/options.h"

namespace dossier::inspect {

// A text with a row of more cells is read as plain text: tables of people and instruments stay far
// below, spreadsheets end at 16,384, and each cell of a row that is read takes 32 bytes and a name.
constexpr std::uint64_t kMaxColumns = 65'536;

struct CsvFault {
  std::uint64_t offset = 0;  // decoded bytes: where the row or the quote is
  std::uint64_t cells = 0;   // of a ragged row
};

// Where the text that is fed starts.
enum class CsvStart : std::uint8_t { kRow, kInsideCell, kInsideQuotes };

struct CsvScanOptions {
  char delimiter = ',';
  std::uint64_t columns = 0;    // rows with another number of cells are ragged; 0: none is
  std::uint64_t skip_rows = 0;  // rows that are not judged: header
  // Decoded offset from which every quote is text; for the scan after an open quote.
  std::uint64_t literal_quote_at = std::numeric_limits<std::uint64_t>::max();
  bool literal_from_there = false;  // not only that quote, but all behind it
  CsvStart start = CsvStart::kRow;
  std::string comment;                 // lines that begin with it are no rows; empty: none
  bool first_is_row = false;           // even if it begins with `comment`
  std::uint64_t marked_row_cells = 0;  // see IsMarkedRow
  bool operator==(const CsvScanOptions&) const = default;
};

struct CsvSummary {
  std::uint64_t rows = 0;  // rows that are not blank, header included
  std::uint64_t ragged = 0;
  std::uint64_t stray_quotes = 0;
  std::uint64_t most_cells = 0;         // of a row, header included
  std::uint64_t comments = 0;           // lines
  std::vector<CsvFault> ragged_rows;    // the first 10
  std::optional<CsvFault> first_stray;  // a quote inside an unquoted cell, or behind a quoted one
  std::optional<CsvFault> open_quote;   // still open at the end
  std::optional<CsvFault> first_comment;
};

class CsvScanner {
 public:
  using Summary = CsvSummary;

  explicit CsvScanner(const CsvScanOptions& options);

  void Feed(std::string_view text);
  // With kLater the text goes on: the row that is open is not counted.
  const CsvSummary& Finish(TextEnds ends = TextEnds::kHere);
  // Whether the last byte ended a row, or is the beginning of the end of one.
  bool at_record_start() const { return state_ == State::kPlain && row_start_ == fed_; }

 private:
  enum class State : std::uint8_t { kPlain, kQuoted, kQuoteSeen };

  void MatchComment(std::string_view text);
  void Special(char c, std::uint64_t at);
  void Quote(std::uint64_t at);
  void EndRow(std::uint64_t at);
  void EndComment();
  void KeepComment(std::uint64_t to);

  CsvScanOptions options_;
  CsvSummary summary_;
  State state_ = State::kPlain;
  std::uint64_t fed_ = 0;
  std::uint64_t row_start_ = 0, cell_start_ = 0;
  std::uint64_t cells_ = 0;       // ended in this row
  std::uint64_t quote_at_ = 0;    // the opening quote
  std::uint64_t closing_at_ = 0;  // kQuoteSeen: the quote that may close
  // Of a line that may be a comment: bytes of the mark that it has so far.
  std::size_t matched_ = 0;
  bool matching_ = false;
  bool in_comment_ = false;
  std::string comment_;             // the line, as far as it is needed to judge it
  std::uint64_t comment_kept_ = 0;  // where the rest of it begins
  std::string_view block_;          // that is fed
  bool finished_ = false;
};

// Which lines of a text are no rows.
struct CsvComments {
  std::string_view mark;  // empty: all are rows
  bool first_is_row = false;
  std::uint64_t marked_row_cells = 0;  // see IsMarkedRow
};

// Whether a line that begins like a comment is a row all the same: `#12,open` where rows have two
// cells. No cell of it goes on in the next line. With 0 `cells` no such line is a row.
bool IsMarkedRow(std::string_view line, char delimiter, std::uint64_t cells);

// One row of the beginning of a text.
struct CsvRow {
  std::vector<std::string> cells;
  std::size_t offset = 0;  // bytes
  std::size_t end = 0;     // behind its line end
  bool whole = true;       // false: the text ends in it, and goes on
};

// The first `limit` rows that are not blank, up to one of more than kMaxColumns cells, of which it
// has one more than that. A row that is cut off comes only if it is the first.
std::vector<CsvRow> ParseCsv(std::string_view head, char delimiter, std::size_t limit,
                             TextEnds ends, const CsvComments& comments = {});

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_CSV_SCANNER_H_
