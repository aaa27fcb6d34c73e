// CSV and TSV (INS-35, INS-46, INS-60 to INS-69).

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "inspect/csv_shape.h"
#include "inspect/scan.h"

namespace dossier::inspect {
namespace {

constexpr int kMaxRescans = 3;

// INS-68: counts again from a quote that never closes, with that quote as text. After some of them
// all later quotes are text, so that a file of stray quotes is not read once for each.
Result<CsvSummary> ScanRows(const Scan& scan, const CsvGuess& guess) {
  CsvScanOptions options{.delimiter = guess.shape.delimiter,
                         .columns = guess.shape.columns,
                         .skip_rows = guess.shape.header ? 1u : 0u};
  std::optional<CsvFault> open_quote;
  for (int round = 0;; ++round) {
    CsvScanner scanner(options);
    DOSSIER_RETURN_IF_ERROR(ReadText(scan, guess.text_start, [&](std::string_view block) {
      scanner.Feed(block);
      return Flow::kContinue;
    }));
    CsvSummary summary = scanner.Finish(scan.ends());
    if (!open_quote) open_quote = summary.open_quote;
    if (!summary.open_quote || options.literal_from_there) {
      summary.open_quote = open_quote;
      return summary;
    }
    options.literal_from_there = round > 0;
    options.literal_quote_at = options.literal_from_there
                                   ? std::min(options.literal_quote_at, summary.open_quote->offset)
                                   : summary.open_quote->offset;
    static_assert(kMaxRescans > 0);
  }
}

// Lines of the scan count from behind a `sep=` line.
Status NoteAt(const Scan& scan, const CsvGuess& guess, std::string code, std::string text,
              std::uint64_t offset) {
  DOSSIER_ASSIGN_OR_RETURN(const Place place, FindPlace(scan, guess.text_start + offset));
  AddNote(scan.out, std::move(code), std::move(text), place);
  return {};
}

Status AddTableNotes(const Scan& scan, const CsvGuess& guess, const CsvSummary& rows) {
  const std::uint64_t skipped_lines = guess.sep_line ? 1 : 0;
  if (rows.ragged > 0) {
    std::string lines;
    for (const CsvFault& fault : rows.ragged_rows) {
      if (!lines.empty()) lines += "; ";
      lines += fmt::format("line {}: {} {}", GroupDigits(fault.line + skipped_lines), fault.cells,
                           fault.cells == 1 ? "cell" : "cells");
    }
    if (rows.ragged > rows.ragged_rows.size()) {
      lines += fmt::format("; and {} more", GroupDigits(rows.ragged - rows.ragged_rows.size()));
    }
    DOSSIER_RETURN_IF_ERROR(NoteAt(scan, guess, "ragged",
                                   fmt::format("{} {} not {} cells: {}", GroupDigits(rows.ragged),
                                               rows.ragged == 1 ? "row has" : "rows have",
                                               guess.shape.columns, lines),
                                   rows.ragged_rows.front().offset));
  }
  if (rows.open_quote) {
    DOSSIER_RETURN_IF_ERROR(NoteAt(
        scan, guess, "open-quote",
        fmt::format("the quote in line {} never closes; it was taken as text",
                    GroupDigits(rows.open_quote->line + skipped_lines)),
        rows.open_quote->offset));
  }
  // The quote that never closes is itself one of them.
  const std::uint64_t stray = rows.stray_quotes - std::min<std::uint64_t>(
                                  rows.stray_quotes, rows.open_quote ? 1 : 0);
  if (stray > 0 && rows.first_stray) {
    DOSSIER_RETURN_IF_ERROR(NoteAt(
        scan, guess, "stray-quote",
        fmt::format("stray quote: {} inside unquoted cells, the first in line {}",
                    GroupDigits(stray), GroupDigits(rows.first_stray->line + skipped_lines)),
        rows.first_stray->offset));
  }
  if (guess.duplicate_names) {
    AddNote(scan.out, "duplicate-names", "columns of one name are numbered: name#2");
  }
  return {};
}

FieldCollector CollectColumns(const Scan& scan, const CsvGuess& guess) {
  FieldCollector collector(scan.limits());
  for (std::size_t r = guess.shape.header ? 1 : 0; r < guess.rows.size(); ++r) {
    TextRecord record;
    const std::vector<std::string>& cells = guess.rows[r].cells;
    for (std::size_t c = 0; c < cells.size() && c < guess.names.size(); ++c) {
      record.emplace_back(guess.names[c], cells[c]);
    }
    collector.AddRecord(record);
  }
  return collector;
}

// A table without a data row still has columns.
void AddUnseenColumns(const Scan& scan, const CsvGuess& guess) {
  if (!scan.out->fields.empty()) return;
  for (const std::string& name : guess.names) {
    if (scan.out->fields.size() == scan.options.fields) break;
    FieldCollector one(scan.limits());
    one.AddRecord({{name, ""}});
    Field field = one.Build(1).fields.front();
    field.types = TypeSet{FieldType::kEmpty};
    field.present = field.sampled = 0;
    scan.out->fields.push_back(std::move(field));
  }
  scan.out->fields_total = guess.names.size();
}

void SampleFirstRow(const Scan& scan, const CsvGuess& guess) {
  const std::size_t row = guess.shape.header ? 1 : 0;
  if (row >= guess.rows.size()) return;
  const CsvRow& first = guess.rows[row];
  const std::string_view text =
      scan.head.substr(guess.text_start).substr(first.offset, first.end - first.offset);
  SetSample(scan, text.substr(0, text.find_last_not_of("\r\n") + 1), 0);
}

}  // namespace

Result<bool> DescribeTable(Scan* scan, TableDemand demand) {
  std::optional<char> delimiter = scan->options.delimiter;
  const CsvGuess guess = GuessCsv(scan->head, {.delimiter = delimiter,
                                               .header = scan->options.header,
                                               .ends = scan->head_ends});
  if (demand == TableDemand::kCertain && !guess.certain) return false;
  if (demand == TableDemand::kSniffed && !guess.fits_sniffed) return false;
  if (guess.rows.empty()) return false;
  Description& out = *scan->out;
  DOSSIER_ASSIGN_OR_RETURN(const CsvSummary rows, ScanRows(*scan, guess));
  const bool tab = guess.shape.delimiter == '\t';
  // One column says nothing about the delimiter: the name is right then.
  const bool one_column_tsv = guess.shape.columns < 2 && out.named_format == Format::kTsv;
  out.format = tab || one_column_tsv ? Format::kTsv : Format::kCsv;
  out.certain = guess.certain;
  out.table = guess.shape;
  if (one_column_tsv) out.table->delimiter = '\t';
  out.records = RecordSummary{.records = rows.rows - (guess.shape.header && rows.rows > 0 ? 1 : 0),
                              .ragged = rows.ragged,
                              .exactness = scan->exactness()};
  SetFields(*scan, CollectColumns(*scan, guess));
  AddUnseenColumns(*scan, guess);
  SampleFirstRow(*scan, guess);
  DOSSIER_RETURN_IF_ERROR(AddTableNotes(*scan, guess, rows));
  return true;
}

}  // namespace dossier::inspect
