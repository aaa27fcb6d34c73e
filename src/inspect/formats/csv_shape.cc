#include "inspect/formats/csv_shape.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/cell_form.h"
#include "inspect/description/value_type.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kSampledRows = 100;
constexpr std::uint64_t kMaxNameChars = 64;
constexpr char kDelimiters[] = {'\t', ',', ';', '|'};  // in the order of preference

// How well one delimiter explains the rows.
struct Fit {
  char delimiter = ',';
  std::size_t rows = 0;
  std::size_t modal_rows = 0;  // rows with the commonest number of cells
  std::size_t modal_cells = 0;
  std::size_t fewest_cells = 0, most_cells = 0;  // of a row
  bool even() const { return modal_rows * 10 >= rows * 9; }
  bool better(const Fit& other) const {
    const std::size_t mine = modal_rows * other.rows, theirs = other.modal_rows * rows;
    return mine != theirs ? mine > theirs : modal_cells > other.modal_cells;
  }
};

Fit FitOf(std::span<const CsvRow> rows, char delimiter) {
  Fit fit{.delimiter = delimiter, .rows = rows.size()};
  std::map<std::size_t, std::size_t> counts;
  for (const CsvRow& row : rows) ++counts[row.cells.size()];
  for (const auto& [cells, count] : counts) {
    if (count >= fit.modal_rows) {
      fit.modal_rows = count;
      fit.modal_cells = cells;
    }
  }
  if (counts.empty()) return fit;
  fit.fewest_cells = counts.begin()->first;
  fit.most_cells = counts.rbegin()->first;
  return fit;
}

// A delimiter that occurs nowhere makes one column everywhere: the last resort.
Fit ChooseDelimiter(std::string_view text, const CsvComments& comments, const CsvHints& hints) {
  const auto fit_of = [&](char delimiter) {
    return FitOf(ParseCsv(text, delimiter, kSampledRows, hints.ends, comments), delimiter);
  };
  if (hints.delimiter) return fit_of(*hints.delimiter);
  Fit best;
  bool found = false;
  for (const char delimiter : kDelimiters) {
    const Fit fit = fit_of(delimiter);
    if (fit.modal_cells < 2) continue;
    if (!found || fit.better(best)) best = fit;
    found = true;
  }
  return found ? best : fit_of(hints.fallback);
}

// A number, boolean or date.
bool IsValue(std::string_view cell, FieldType type) {
  return type == FieldType::kString ? IsNumeral(cell) : type != FieldType::kEmpty;
}

// Whether most cells of a column below the first row are numbers, booleans or dates.
bool HoldsValues(std::span<const CsvRow> rows, std::size_t column) {
  std::size_t values = 0, cells = 0;
  for (const CsvRow& row : rows.subspan(1)) {
    if (column >= row.cells.size()) continue;
    const FieldType type = TypeOfText(row.cells[column]);
    if (type == FieldType::kEmpty) continue;
    ++cells;
    values += IsValue(row.cells[column], type) ? 1 : 0;
  }
  return cells > 0 && values * 10 >= cells * 8;
}

// Some column is mostly values below a first row that is not.
bool HasTypeContrast(std::span<const CsvRow> rows) {
  for (std::size_t column = 0; column < rows[0].cells.size(); ++column) {
    if (HoldsValues(rows, column)) return true;
  }
  return false;
}

bool FirstRowHasValue(const CsvRow& row) {
  return std::any_of(row.cells.begin(), row.cells.end(),
                     [](const std::string& cell) { return IsValue(cell, TypeOfText(cell)); });
}

// Row 1 reads like names: distinct, short, and none comes again in its column.
bool ReadsLikeNames(std::span<const CsvRow> rows) {
  std::set<std::string> seen;
  for (std::size_t column = 0; column < rows[0].cells.size(); ++column) {
    const std::string& name = rows[0].cells[column];
    if (utf8::CodePoints(name) > kMaxNameChars) return false;
    if (!name.empty() && !seen.insert(name).second) return false;
    if (IsValue(name, TypeOfText(name))) continue;  // 12 may be a month, and a number in its column
    for (std::size_t r = 1; r < rows.size(); ++r) {
      if (!name.empty() && column < rows[r].cells.size() && rows[r].cells[column] == name) {
        return false;
      }
    }
  }
  return true;
}

// Values that name columns: dates, years that rise or fall, or numbers that count on from 0 or 1.
struct Series {
  enum class Kind : std::uint8_t { kNone, kDates, kYears, kCount };

  Kind kind = Kind::kNone;
  std::vector<std::size_t> columns;
  int first = 0, last = 0;  // of kCount
};

// Whole numbers of up to four digits; -1: it is none.
int SmallNumber(std::string_view cell) {
  cell = TrimSpace(cell);
  if (cell.empty() || cell.size() > 4 || !std::ranges::all_of(cell, IsDigit)) return -1;
  int number = 0;
  for (const char digit : cell) number = number * 10 + (digit - '0');
  return number;
}

bool IsYear(int number) { return number >= 1800 && number < 2200; }

// All values of the row are of one series.
Series SeriesOf(const CsvRow& row) {
  Series found;
  std::vector<int> numbers;
  std::size_t dates = 0;
  for (std::size_t c = 0; c < row.cells.size(); ++c) {
    const FieldType type = TypeOfText(row.cells[c]);
    if (!IsValue(row.cells[c], type)) continue;
    found.columns.push_back(c);
    numbers.push_back(SmallNumber(row.cells[c]));
    dates += type == FieldType::kDate ? 1 : 0;
  }
  if (numbers.empty()) return found;
  const auto steps = [&](auto breaks) {
    return std::ranges::adjacent_find(numbers, breaks) == numbers.end();
  };
  if (dates == numbers.size()) {
    found.kind = Series::Kind::kDates;
  } else if (std::ranges::all_of(numbers, IsYear) &&
             (steps(std::greater_equal<>()) || steps(std::less_equal<>()))) {
    found.kind = Series::Kind::kYears;
  } else if (steps([](int a, int b) { return b != a + 1; }) &&
             (numbers[0] == 0 || numbers[0] == 1)) {
    found.kind = Series::Kind::kCount;
  }
  found.first = numbers.front();
  found.last = numbers.back();
  return found;
}

// Whether a cell below such a name could be one itself.
bool IsOfSeries(std::string_view cell, const Series& series) {
  if (series.kind == Series::Kind::kDates) return TypeOfText(cell) == FieldType::kDate;
  const int number = SmallNumber(cell);
  return series.kind == Series::Kind::kYears ? IsYear(number)
                                             : number >= series.first && number <= series.last;
}

// Whether few cells of a column could be names of the series; of a long one, not all.
bool DiffersFromSeries(std::span<const CsvRow> below, std::size_t column, const Series& series) {
  std::size_t filled = 0, alike = 0;
  for (const CsvRow& row : below) {
    if (column >= row.cells.size() || row.cells[column].empty()) continue;
    ++filled;
    alike += IsOfSeries(row.cells[column], series) ? 1 : 0;
  }
  const std::size_t most = series.kind == Series::Kind::kCount && series.columns.size() > 5 ? 3 : 1;
  return alike * 4 <= filled * most;
}

// `Kanton;2021;2022`: the values of the first row are a series, and those below are of another kind
// or size. The fewer there are, the more the cells beside them have to say.
bool NamesBySeries(std::span<const CsvRow> rows) {
  constexpr std::size_t kEnough = 3;
  const CsvRow& row = rows[0];
  const Series series = SeriesOf(row);
  if (series.kind == Series::Kind::kNone || rows.size() < 2) return false;
  const std::span<const CsvRow> below = rows.subspan(1);
  const bool counts = series.kind == Series::Kind::kCount;
  bool told = row.cells[0].empty() && std::ranges::none_of(below, [](const CsvRow& other) {
                return other.cells[0].empty();
              });
  for (std::size_t c = 0; c < row.cells.size() && !counts; ++c) {
    const bool text = !row.cells[c].empty() && !std::ranges::binary_search(series.columns, c);
    told = told || (text && HoldsValues(rows, c));
  }
  const bool alone = series.columns.size() == row.cells.size();
  if (alone && counts) return false;
  const std::size_t fewest = told ? 1 : counts || alone ? kEnough : 2;
  return series.columns.size() >= fewest && std::ranges::all_of(series.columns, [&](auto column) {
           return DiffersFromSeries(below, column, series);
         });
}

bool ReadsLikeHeader(std::span<const CsvRow> rows) {
  return !FirstRowHasValue(rows[0]) || NamesBySeries(rows);
}

// Whether the cell of the first row has a form that names do not have, and all filled cells below
// it, at least two, have the same.
bool GoesOnInForm(std::span<const CsvRow> rows, std::size_t column) {
  constexpr std::size_t kFewest = 2;
  const CellForm first = FormOfCell(rows[0].cells[column]);
  if (first.names) return false;
  std::size_t filled = 0;
  for (const CsvRow& row : rows.subspan(1)) {
    if (column >= row.cells.size() || TrimSpace(row.cells[column]).empty()) continue;
    if (FormOfCell(row.cells[column]) != first) return false;
    ++filled;
  }
  return filled >= kFewest;
}

bool GuessHeader(std::span<const CsvRow> rows) {
  if (rows.empty()) return false;
  if (FirstRowHasValue(rows[0])) return NamesBySeries(rows) && ReadsLikeNames(rows);
  if (rows.size() == 1 || HasTypeContrast(rows)) return true;
  for (std::size_t column = 0; column < rows[0].cells.size(); ++column) {
    if (GoesOnInForm(rows, column)) return false;
  }
  return ReadsLikeNames(rows);
}

// Whether the second row belongs to the header, as units and types do: no cell of it is a value,
// though those below are; and either it lacks what every row below has, or all columns are of
// values, or it has different texts above all columns of values.
bool IsSecondHeader(std::span<const CsvRow> rows) {
  constexpr std::size_t kFewestBelow = 2;
  if (rows.size() < 2 + kFewestBelow || !ReadsLikeHeader(rows.subspan(1))) return false;
  const std::size_t columns = rows[0].cells.size();
  if (columns < 2 || rows[1].cells.size() > columns) return false;
  std::size_t texts = 0, of_values = 0;  // cells of the second row above values; such columns
  std::set<std::string_view> different;
  bool lacks = false;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t filled = 0, values = 0;
    for (std::size_t r = 2; r < rows.size(); ++r) {
      const std::string_view cell =
          c < rows[r].cells.size() ? TrimSpace(rows[r].cells[c]) : std::string_view();
      filled += cell.empty() ? 0 : 1;
      values += !cell.empty() && IsValue(cell, TypeOfText(cell)) ? 1 : 0;
    }
    const bool above = c < rows[1].cells.size() && !TrimSpace(rows[1].cells[c]).empty();
    const bool valued = filled >= kFewestBelow && values == filled;
    of_values += valued ? 1 : 0;
    texts += valued && above ? 1 : 0;
    if (valued && above) different.insert(rows[1].cells[c]);
    lacks = lacks || (!above && !valued && filled + 2 == rows.size());
  }
  return texts > 0 &&
         (lacks || (texts == of_values && (of_values == columns || different.size() > 1)));
}

// Whether the names of columns need both lines: the first repeats some, or lacks some.
bool NeedsBoth(const CsvRow& first, const CsvRow& second) {
  std::set<std::string_view> seen;
  for (std::size_t c = 0; c < first.cells.size(); ++c) {
    const bool below = c < second.cells.size() && !second.cells[c].empty();
    if (below && (first.cells[c].empty() || !seen.insert(first.cells[c]).second)) return true;
  }
  return false;
}

bool HasLetterOrUnderscore(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) {
    return c == '_' || IsLetter(c) || static_cast<unsigned char>(c) >= 0x80;
  });
}

// "Dear Bob, hi": a space or the line's end behind every delimiter is how prose, verses and code
// look.
bool LooksLikeProse(std::string_view text, const CsvRow& row, char delimiter) {
  const std::string_view line = text.substr(row.offset, row.end - row.offset);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view behind = line.substr(i + 1, 1);
    if (line[i] == delimiter && !behind.empty() && std::string_view(" \r\n").find(behind) > 2) {
      return false;
    }
  }
  return true;
}

bool FitsSniffed(std::string_view text, const Fit& fit, const std::vector<CsvRow>& rows) {
  if (rows.size() < 2 || fit.modal_cells < 2 || !fit.even()) return false;
  const bool short_cells =
      std::all_of(rows[0].cells.begin(), rows[0].cells.end(),
                  [](const std::string& cell) { return utf8::CodePoints(cell) <= kMaxNameChars; });
  const auto filled = std::count_if(rows[0].cells.begin(), rows[0].cells.end(),
                                    [](const std::string& cell) { return !cell.empty(); });
  const bool lettered =
      std::any_of(rows[0].cells.begin(), rows[0].cells.end(), HasLetterOrUnderscore);
  if (!short_cells || filled < 2 || !lettered) return false;
  // Several tabs that align columns, not empty names.
  const auto& names = rows[0].cells;
  const bool aligned = fit.delimiter == '\t' && names.size() > 2 &&
                       std::find(names.begin() + 1, names.end() - 1, "") != names.end() - 1;
  if (aligned) return false;
  const bool prose = std::all_of(rows.begin(), rows.end(), [&](const CsvRow& row) {
    return LooksLikeProse(text, row, fit.delimiter);
  });
  if (prose) return rows.size() >= 5 && HasTypeContrast(rows);
  return rows.size() >= 5 || !LooksLikeProse(text, rows[0], fit.delimiter);
}

std::optional<char> SepLine(std::string_view head, std::size_t* end) {
  if (head.size() < 5 || ToLowerAscii(head.substr(0, 4)) != "sep=") return std::nullopt;
  const char delimiter = head[4];
  std::size_t at = 5;
  if (at < head.size() && head[at] == '\r') ++at;
  if (at < head.size() && head[at] == '\n') ++at;
  if (at == 5 && head.size() > 5) return std::nullopt;
  if (delimiter == '"' || delimiter == '\r' || delimiter == '\n') return std::nullopt;
  *end = at;
  return delimiter;
}

}  // namespace

namespace {

// Comment lines: what they begin with, and those in front of the first row.
struct Preamble {
  std::string mark;           // empty: there are no comments
  std::size_t size = 0;       // bytes
  std::size_t last_line = 0;  // bytes in front of the last of them
  std::uint64_t lines = 0;
};

// The lines at the beginning of `text` that start with `mark`, and blank ones between them.
Preamble ReadPreamble(std::string_view text, std::string_view mark) {
  Preamble out{.mark = std::string(mark)};
  for (std::size_t at = 0; at < text.size();) {
    const Line line = NextLine(text, at);
    if (line.text.starts_with(mark)) {
      ++out.lines;
      out.last_line = at;
      out.size = line.next;
    } else if (!IsBlankLine(line.text)) {
      break;
    }
    at = line.next;
  }
  return out;
}

bool BeginsWith(const CsvRow& row, std::string_view text, std::string_view mark) {
  return text.substr(row.offset).starts_with(mark);
}

// Rows that begin with `mark` are comments if they do not have the cells that the others have.
bool SpeaksForComments(std::string_view text, std::string_view mark, const CsvHints& hints) {
  const Fit fit = ChooseDelimiter(text, {.mark = mark}, hints);
  if (fit.modal_cells < 2 || mark.front() == fit.delimiter) return false;
  const std::size_t fewest = text.starts_with(mark) ? 1 : 2;
  // Behind comments in front, rows may leave out their last cells.
  const bool uneven = !fit.even();
  const bool table = !uneven || (text.starts_with(mark) && fit.fewest_cells >= 2);
  if (!table || fit.rows < fewest) return false;
  std::size_t comments = 0, alike = 0, led = 0;
  bool spaced = true;  // every row reads like prose, so that this tells nothing
  const std::vector<CsvRow> rows = ParseCsv(text, fit.delimiter, kSampledRows, hints.ends);
  for (const CsvRow& row : rows) {
    spaced = spaced && (BeginsWith(row, text, mark) || LooksLikeProse(text, row, fit.delimiter));
  }
  bool leading = true;
  for (const CsvRow& row : rows) {
    leading = leading && BeginsWith(row, text, mark);
    if (!BeginsWith(row, text, mark)) continue;
    ++comments;
    const bool sentence = !spaced && LooksLikeProse(text, row, fit.delimiter);
    const std::size_t cells = row.cells.size();
    const bool as_wide =
        uneven ? cells >= fit.fewest_cells && cells <= fit.most_cells : cells == fit.modal_cells;
    const bool like_rows = as_wide && !sentence;
    alike += like_rows ? 1 : 0;
    led += leading && !like_rows ? 1 : 0;
  }
  // One may be the header: #CHROM. Behind lines that only comments can be, rows may be marked too.
  return comments > alike && (alike <= 1 || led > 0);
}

// Which lines are comments. `#` may begin one anywhere, the other marks only if the text begins so.
Preamble FindComments(std::string_view text, const CsvHints& hints) {
  if (hints.comment)
    return hints.comment->empty() ? Preamble{} : ReadPreamble(text, *hints.comment);
  const std::size_t first = text.find_first_not_of("\r\n");
  if (first == std::string_view::npos) return {};
  for (const std::string_view mark : {"#", "//", "%", ";"}) {
    if (mark != "#" && !text.substr(first).starts_with(mark)) continue;
    const bool anywhere = text.starts_with(mark) || text.find("\n#") != std::string_view::npos ||
                          text.find("\r#") != std::string_view::npos;
    if (anywhere && SpeaksForComments(text, mark, hints)) return ReadPreamble(text, mark);
  }
  return {};
}

std::size_t FilledCells(const CsvRow& row) {
  return static_cast<std::size_t>(
      std::ranges::count_if(row.cells, [](const std::string& cell) { return !cell.empty(); }));
}

// Whether the last comment in front of the rows is their header: it has their cells, or a name for
// each cell of the longest, and their first row is none itself. Where that row only reads like
// names, such a comment is the better header, if no other is like it and it is no sentence.
bool IsHeaderCommented(std::string_view text, const Preamble& comments, const Fit& fit,
                       const CsvHints& hints) {
  if (comments.lines == 0 || hints.header == HeaderRow::kNo || fit.modal_cells < 2) return false;
  const std::string_view line = text.substr(comments.last_line, comments.size - comments.last_line);
  const auto last = ParseCsv(line, fit.delimiter, 1, TextEnds::kHere);
  if (last.empty() || FirstRowHasValue(last[0])) return false;
  const std::size_t cells = last[0].cells.size();
  if (cells != fit.modal_cells && FilledCells(last[0]) != fit.most_cells) return false;
  const auto rows = ParseCsv(text.substr(comments.size), fit.delimiter, kSampledRows, hints.ends,
                             {.mark = comments.mark});
  if (rows.empty()) return false;
  if (FirstRowHasValue(rows[0]) || !GuessHeader(rows)) return true;
  const auto others =
      ParseCsv(text.substr(0, comments.last_line), fit.delimiter, kSampledRows, TextEnds::kHere);
  return !HasTypeContrast(rows) && !LooksLikeProse(line, last[0], fit.delimiter) &&
         std::ranges::none_of(others, [&](const CsvRow& row) { return row.cells.size() == cells; });
}

constexpr std::size_t kMostTitles = 10;  // rows

// The number of rows in front of a blank one that are labels with a value, above a longer table
// with other columns of values: as wide as it, they are titles all the same. 0: there are none.
std::size_t LabelsInFront(std::span<const CsvRow> rows) {
  std::size_t labels = 0, next = 0;
  for (; next == 0; ++labels) {
    if (labels > kMostTitles || labels + 1 >= rows.size()) return 0;
    const CsvRow& row = rows[labels];
    if (row.cells[0].empty() || FilledCells(row) > 2 ||
        IsValue(row.cells[0], TypeOfText(row.cells[0]))) {
      return 0;
    }
    const CsvRow& behind = rows[labels + 1];
    const bool blank = FilledCells(behind) == 0;
    if (blank || behind.offset > row.end) next = labels + (blank ? 2 : 1);
  }
  const bool longer = rows.size() >= next + 2 * labels && rows.size() >= next + 2;
  return longer && !FirstRowHasValue(rows[next]) && HasTypeContrast(rows.subspan(next)) ? next : 0;
}

// Bytes of the titles in front of a table: lines with fewer cells than its rows have, or with one
// filled cell of three or more, above a row that is a header by all signs. 0: there are none.
std::size_t TitlesInFront(std::string_view text, const Fit& fit, const CsvHints& hints) {
  if (fit.modal_cells < 2 || hints.header == HeaderRow::kNo) return 0;
  const std::vector<CsvRow> all = ParseCsv(text, fit.delimiter, kSampledRows, hints.ends);
  std::size_t titles = LabelsInFront(all);
  bool single = titles == 0;  // each has one filled cell at most, which no header of a table has
  while (titles < all.size() && (all[titles].cells.size() < fit.modal_cells ||
                                 (fit.modal_cells > 2 && FilledCells(all[titles]) < 2))) {
    single = single && FilledCells(all[titles]) < 2;
    ++titles;
  }
  if (titles == 0 || titles > kMostTitles || titles + 2 > all.size()) return 0;
  const std::span<const CsvRow> rows = std::span(all).subspan(titles);
  const Fit below = FitOf(rows, fit.delimiter);
  // A corner may be empty, and so may be what a delimiter at the end of each row begins.
  const auto& cells = rows[0].cells;
  const std::size_t edge = cells.front().empty() || cells.back().empty() ? 1 : 0;
  const bool table = below.even() && cells.size() == fit.modal_cells &&
                     FilledCells(rows[0]) + edge == cells.size();
  if (!table || !ReadsLikeHeader(rows)) return 0;
  const bool header = HasTypeContrast(rows) || (single && ReadsLikeNames(rows));
  return header ? rows[0].offset : 0;
}

}  // namespace

namespace {

// Whether the first row, or the first two, are the header.
void DecideHeader(const CsvHints& hints, const CsvComments& marked, CsvGuess* guess) {
  const bool commented = marked.first_is_row;
  const bool automatic = hints.header == HeaderRow::kAuto;
  const bool two_lines = automatic && !commented && IsSecondHeader(guess->rows);
  guess->shape.header = automatic ? commented || two_lines || GuessHeader(guess->rows)
                                  : hints.header == HeaderRow::kYes;
  guess->header_of_values =
      automatic && !two_lines && guess->shape.header && FirstRowHasValue(guess->rows[0]);
  if (!two_lines) return;
  guess->shape.below = guess->rows[1].cells;
  guess->shape.below_is_name = NeedsBoth(guess->rows[0], guess->rows[1]);
}

void NameColumns(CsvGuess* guess) {
  std::vector<std::string> raw = JoinHeader(guess->shape.raw_names, guess->shape);
  raw.resize(guess->shape.columns);
  guess->names = ColumnNames(raw);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    guess->duplicate_names |= !raw[i].empty() && guess->names[i] != raw[i];
  }
}

}  // namespace

CsvGuess GuessCsv(std::string_view head, const CsvHints& given) {
  CsvGuess guess;
  CsvHints hints = given;
  if (const auto sep = SepLine(head, &guess.text_start)) {
    guess.sep_line = true;
    if (!hints.delimiter) hints.delimiter = sep;
  }
  std::string_view text = head.substr(guess.text_start);
  const Preamble comments = FindComments(text, hints);
  CsvComments marked{.mark = comments.mark};
  const Fit fit = ChooseDelimiter(text, marked, hints);
  marked.first_is_row = IsHeaderCommented(text, comments, fit, hints);
  const std::size_t skipped = marked.first_is_row ? comments.last_line : comments.size;
  guess.text_start += skipped;
  guess.comments = comments.lines - (marked.first_is_row ? 1 : 0);
  text.remove_prefix(skipped);
  if (skipped == 0 && !guess.sep_line) {
    const std::size_t titles = TitlesInFront(text, fit, hints);
    guess.text_start += titles;
    guess.comments += static_cast<std::uint64_t>(std::ranges::count(text.substr(0, titles), '\n'));
    text.remove_prefix(titles);
  }
  guess.shape.comment = comments.mark;
  guess.shape.header_commented = marked.first_is_row;
  guess.shape.start_offset = guess.text_start;
  guess.shape.delimiter = fit.delimiter;
  guess.rows = ParseCsv(text, fit.delimiter, kSampledRows + 1, hints.ends, marked);
  DecideHeader(hints, marked, &guess);
  if (guess.rows.empty()) return guess;
  const CsvRow first = guess.rows[0];
  const bool named = guess.shape.header;
  const bool aligned = marked.first_is_row && first.cells.size() > fit.most_cells;
  guess.shape.columns = static_cast<std::uint32_t>(
      aligned ? FilledCells(first) : (named ? first.cells.size() : fit.modal_cells));
  if (named) guess.shape.raw_names = first.cells;
  if (!comments.mark.empty() && !hints.comment && guess.shape.columns > 1) {
    guess.shape.marked_row_cells = marked.marked_row_cells = guess.shape.columns;
    guess.rows = ParseCsv(text, fit.delimiter, kSampledRows + 1, hints.ends, marked);
  }
  if (!guess.shape.below.empty()) guess.rows.erase(guess.rows.begin() + 1);
  NameColumns(&guess);
  const bool same_cells = fit.modal_rows == fit.rows;
  guess.certain = guess.sep_line || (fit.rows >= 5 && fit.modal_cells >= 2 && same_cells &&
                                     !FirstRowHasValue(first) && HasTypeContrast(guess.rows));
  guess.fits_sniffed = guess.sep_line || FitsSniffed(text, fit, guess.rows);
  return guess;
}

std::vector<std::string> JoinHeader(const std::vector<std::string>& first,
                                    const TableShape& shape) {
  std::vector<std::string> names = first;
  // Several tabs align a header in a comment with the rows below it.
  if (shape.header_commented && names.size() > shape.columns) std::erase(names, "");
  if (!shape.below_is_name) return names;
  std::string_view above;
  for (std::size_t c = 0; c < names.size() && c < shape.below.size(); ++c) {
    if (!first[c].empty()) above = first[c];
    if (shape.below[c].empty()) continue;
    names[c] = above.empty() ? shape.below[c] : fmt::format("{} {}", above, shape.below[c]);
  }
  return names;
}

std::string ColumnName(std::size_t column) { return fmt::format("column {}", column + 1); }

std::vector<std::string> ColumnNames(const std::vector<std::string>& header) {
  const std::set<std::string> raw(header.begin(), header.end());
  std::set<std::string> used;
  std::map<std::string, int> next;  // copy of a name: all columns may have the same one
  std::vector<std::string> names;
  for (std::size_t column = 0; column < header.size(); ++column) {
    const std::string base = header[column].empty() ? ColumnName(column) : header[column];
    std::string name = base;
    int& copy = next.try_emplace(base, 2).first->second;
    while (used.contains(name) || (name != base && raw.contains(name))) {
      name = fmt::format("{}#{}", base, copy++);
    }
    used.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace dossier::inspect
