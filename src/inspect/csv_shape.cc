#include "inspect/csv_shape.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/utf8.h"
#include "inspect/value_type.h"

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
  bool better(const Fit& other) const {
    const std::size_t mine = modal_rows * other.rows, theirs = other.modal_rows * rows;
    return mine != theirs ? mine > theirs : modal_cells > other.modal_cells;
  }
};

Fit FitOf(const std::vector<CsvRow>& rows, char delimiter) {
  Fit fit{.delimiter = delimiter, .rows = rows.size()};
  std::map<std::size_t, std::size_t> counts;
  for (const CsvRow& row : rows) ++counts[row.cells.size()];
  for (const auto& [cells, count] : counts) {
    if (count >= fit.modal_rows) {
      fit.modal_rows = count;
      fit.modal_cells = cells;
    }
  }
  return fit;
}

// INS-61. A delimiter that occurs nowhere makes one column everywhere: the last resort.
Fit ChooseDelimiter(std::string_view text, char fallback, TextEnds ends) {
  Fit best;
  bool found = false;
  for (const char delimiter : kDelimiters) {
    const Fit fit = FitOf(ParseCsv(text, delimiter, kSampledRows, ends), delimiter);
    if (fit.modal_cells < 2) continue;
    if (!found || fit.better(best)) best = fit;
    found = true;
  }
  return found ? best : FitOf(ParseCsv(text, fallback, kSampledRows, ends), fallback);
}

bool IsValueType(FieldType type) { return type != FieldType::kString && type != FieldType::kEmpty; }

// Some column is mostly numbers, booleans or dates below a first row that is not.
bool HasTypeContrast(const std::vector<CsvRow>& rows) {
  for (std::size_t column = 0; column < rows[0].cells.size(); ++column) {
    std::size_t values = 0, cells = 0;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      if (column >= rows[r].cells.size()) continue;
      const FieldType type = TypeOfText(rows[r].cells[column]);
      if (type == FieldType::kEmpty) continue;
      ++cells;
      values += IsValueType(type) ? 1 : 0;
    }
    if (cells > 0 && values * 10 >= cells * 8) return true;
  }
  return false;
}

bool FirstRowHasValue(const CsvRow& row) {
  return std::any_of(row.cells.begin(), row.cells.end(),
                     [](const std::string& cell) { return IsValueType(TypeOfText(cell)); });
}

// Row 1 reads like names: distinct, short, and none comes again in its column.
bool ReadsLikeNames(const std::vector<CsvRow>& rows) {
  std::set<std::string> seen;
  for (std::size_t column = 0; column < rows[0].cells.size(); ++column) {
    const std::string& name = rows[0].cells[column];
    if (utf8::CodePoints(name) > kMaxNameChars) return false;
    if (!name.empty() && !seen.insert(name).second) return false;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      if (!name.empty() && column < rows[r].cells.size() && rows[r].cells[column] == name) {
        return false;
      }
    }
  }
  return true;
}

// INS-64.
bool GuessHeader(const std::vector<CsvRow>& rows) {
  if (rows.empty()) return false;
  if (FirstRowHasValue(rows[0])) return false;
  return rows.size() == 1 || HasTypeContrast(rows) || ReadsLikeNames(rows);
}

// INS-66: the raw names, made unique.
std::vector<std::string> UniqueNames(const std::vector<std::string>& raw, bool* duplicate) {
  std::vector<std::string> names;
  std::set<std::string> taken(raw.begin(), raw.end());
  std::set<std::string> used;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    std::string name = raw[i].empty() ? fmt::format("column {}", i + 1) : raw[i];
    if (used.contains(name)) {
      *duplicate = true;
      int number = 2;
      while (taken.contains(fmt::format("{}#{}", name, number)) ||
             used.contains(fmt::format("{}#{}", name, number))) {
        ++number;
      }
      name = fmt::format("{}#{}", name, number);
    }
    used.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

bool HasLetterOrUnderscore(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// "Dear Bob, hi": a space behind every delimiter of the first line is how prose looks.
bool LooksLikeProse(std::string_view text, const CsvRow& row, char delimiter) {
  const std::string_view line = text.substr(row.offset, row.end - row.offset);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == delimiter && (i + 1 >= line.size() || line[i + 1] != ' ')) return false;
  }
  return true;
}

// INS-46.
bool FitsSniffed(std::string_view text, const Fit& fit, const std::vector<CsvRow>& rows) {
  if (rows.size() < 2 || fit.modal_cells < 2 || fit.modal_rows * 10 < fit.rows * 9) return false;
  const bool short_cells =
      std::all_of(rows[0].cells.begin(), rows[0].cells.end(),
                  [](const std::string& cell) { return utf8::CodePoints(cell) <= kMaxNameChars; });
  const auto filled = std::count_if(rows[0].cells.begin(), rows[0].cells.end(),
                                    [](const std::string& cell) { return !cell.empty(); });
  const bool lettered =
      std::any_of(rows[0].cells.begin(), rows[0].cells.end(), HasLetterOrUnderscore);
  if (!short_cells || filled < 2 || !lettered) return false;
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

CsvGuess GuessCsv(std::string_view head, const CsvHints& hints) {
  CsvGuess guess;
  std::optional<char> delimiter = hints.delimiter;
  if (const auto sep = SepLine(head, &guess.text_start)) {
    guess.sep_line = true;
    if (!delimiter) delimiter = sep;
  }
  const std::string_view text = head.substr(guess.text_start);
  const Fit fit = delimiter
                      ? FitOf(ParseCsv(text, *delimiter, kSampledRows, hints.ends), *delimiter)
                      : ChooseDelimiter(text, hints.fallback, hints.ends);
  guess.shape.delimiter = fit.delimiter;
  guess.rows = ParseCsv(text, fit.delimiter, kSampledRows + 1, hints.ends);
  const bool guessed_header = GuessHeader(guess.rows);
  guess.shape.header =
      hints.header == HeaderRow::kAuto ? guessed_header : hints.header == HeaderRow::kYes;
  if (guess.rows.empty()) return guess;
  const CsvRow& first = guess.rows[0];
  const bool named = guess.shape.header;
  guess.shape.columns = static_cast<std::uint32_t>(named ? first.cells.size() : fit.modal_cells);
  if (named) guess.shape.raw_names = first.cells;
  std::vector<std::string> raw = named ? first.cells : std::vector<std::string>();
  raw.resize(guess.shape.columns);
  guess.names = UniqueNames(raw, &guess.duplicate_names);
  guess.shape.data_offset = guess.text_start + (named ? first.end : first.offset);
  // The LF of the header's CRLF belongs to the header.
  if (named && guess.shape.data_offset < head.size() && head[guess.shape.data_offset] == '\n' &&
      head[guess.shape.data_offset - 1] == '\r') {
    ++guess.shape.data_offset;
  }
  const bool same_cells = fit.modal_rows == fit.rows;
  guess.certain = guess.sep_line || (fit.rows >= 5 && fit.modal_cells >= 2 && same_cells &&
                                     !FirstRowHasValue(first) && HasTypeContrast(guess.rows));
  guess.fits_sniffed = guess.sep_line || FitsSniffed(text, fit, guess.rows);
  return guess;
}

}  // namespace dossier::inspect
