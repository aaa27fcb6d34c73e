// Scans CSV and TSV (RFC 4180): rows and ragged rows of a whole text, cells of its beginning.
//
//   CsvScanner scanner({.delimiter = ',', .columns = 2});
//   scanner.Feed("a,b\n\"x\ny\",2\n");
//   scanner.Finish().rows == 2;                       // the quoted line end ends no row
//
// The input may be split anywhere. Thread-safety: one owner; ParseCsv is pure.

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

// A text with more cells in a row is read as plain text: real tables stay far below, spreadsheets
// end at 16,384, and each cell that is read takes 32 bytes and a name.
constexpr std::uint64_t kMaxColumns = 65'536;

struct CsvFault {
  std::uint64_t offset = 0;  // decoded bytes: position of the row or the quote
  std::uint64_t cells = 0;   // in a ragged row
};

// The position in the table where the fed text starts.
enum class CsvStart : std::uint8_t { kRow, kInsideCell, kInsideQuotes };

struct CsvScanOptions {
  char delimiter = ',';
  std::uint64_t columns = 0;    // rows with another number of cells are ragged; 0: none
  std::uint64_t skip_rows = 0;  // rows that are not checked: header
  // Decoded offset of a quote that is plain text; for the second scan after an open quote.
  std::uint64_t literal_quote_at = std::numeric_limits<std::uint64_t>::max();
  bool literal_from_there = false;  // also for all later quotes
  CsvStart start = CsvStart::kRow;
  std::string comment;                 // prefix of lines that are not rows; empty: none
  bool first_is_row = false;           // even if the first line begins with `comment`
  std::uint64_t marked_row_cells = 0;  // see IsMarkedRow
  bool operator==(const CsvScanOptions&) const = default;
};

struct CsvSummary {
  std::uint64_t rows = 0;  // non-blank rows, including the header
  std::uint64_t ragged = 0;
  std::uint64_t stray_quotes = 0;
  std::uint64_t most_cells = 0;         // in one row, including the header
  std::uint64_t comments = 0;           // number of lines
  std::vector<CsvFault> ragged_rows;    // the first 10
  std::optional<CsvFault> first_stray;  // a quote inside an unquoted cell, or after a quoted one
  std::optional<CsvFault> open_quote;   // still open at the end
  std::optional<CsvFault> first_comment;
};

class CsvScanner {
 public:
  using Summary = CsvSummary;

  explicit CsvScanner(const CsvScanOptions& options);

  void Feed(std::string_view text);
  // With kLater more text follows: the open row is not counted.
  const CsvSummary& Finish(TextEnds ends = TextEnds::kHere);
  // Returns true if the last byte ended a row, or may be the first byte of a row end.
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
  std::uint64_t cells_ = 0;       // cells that ended in this row
  std::uint64_t quote_at_ = 0;    // the opening quote
  std::uint64_t closing_at_ = 0;  // kQuoteSeen: the quote that may be closing
  // Number of bytes of the comment mark that the line has so far.
  std::size_t matched_ = 0;
  bool matching_ = false;
  bool in_comment_ = false;
  std::string comment_;             // the part of the line that is needed to judge it
  std::uint64_t comment_kept_ = 0;  // where the rest of it begins
  std::string_view block_;          // the block being fed
  bool finished_ = false;
};

// Identifies the lines of a text that are not rows.
struct CsvComments {
  std::string_view mark;  // empty: all lines are rows
  bool first_is_row = false;
  std::uint64_t marked_row_cells = 0;  // see IsMarkedRow
};

// Returns true if a line that begins like a comment is a row: `#12,open` if rows have two cells.
// None of its cells may continue on the next line. If `cells` is 0, no such line is a row.
bool IsMarkedRow(std::string_view line, char delimiter, std::uint64_t cells);

// A row at the beginning of a text.
struct CsvRow {
  std::vector<std::string> cells;
  std::size_t offset = 0;  // bytes
  std::size_t end = 0;     // after its line end
  bool whole = true;       // false: the text was cut inside it
};

// Returns the first `limit` non-blank rows, up to one of more than kMaxColumns cells, which is cut
// to one cell more than that. A row that the text cuts off is returned only if it is first.
std::vector<CsvRow> ParseCsv(std::string_view head, char delimiter, std::size_t limit,
                             TextEnds ends, const CsvComments& comments = {});

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_CSV_SCANNER_H_
