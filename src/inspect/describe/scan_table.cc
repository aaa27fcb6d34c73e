// CSV and TSV, and tables in Markdown.

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/describe/csv_footer.h"
#include "inspect/describe/scan.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/formats/markdown_sections.h"
#include "inspect/formats/pipe_tables.h"

namespace dossier::inspect {
namespace {

constexpr int kMaxRescans = 3;

CsvGuess GuessTable(const Scan& scan) {
  const auto forced = scan.options.format;
  std::optional<char> delimiter = scan.options.delimiter;
  if (!delimiter && forced == Format::kTsv) delimiter = '\t';
  // One column does not reveal the delimiter, so the name decides.
  const bool tsv = forced.value_or(scan.out->named_format.value_or(Format::kCsv)) == Format::kTsv;
  return GuessCsv(scan.head, {.delimiter = delimiter,
                              .fallback = tsv ? '\t' : ',',
                              .header = scan.options.header,
                              .comment = scan.options.comment,
                              .ends = scan.head_ends});
}

// Returns the guess of the plan, if there is one.
CsvGuess GuessOf(const Scan& scan) {
  return scan.plan && scan.plan->table ? scan.plan->table->guess : GuessTable(scan);
}

std::uint64_t HeaderRows(const TableShape& shape) {
  return shape.header ? (shape.below.empty() ? 1 : 2) : 0;
}

CsvScanOptions ScanOptions(const CsvGuess& guess) {
  return {.delimiter = guess.shape.delimiter,
          .columns = guess.shape.columns,
          .skip_rows = HeaderRows(guess.shape),
          .comment = guess.shape.comment,
          .first_is_row = guess.shape.header_commented,
          .marked_row_cells = guess.shape.marked_row_cells};
}

Result<CsvSummary> ScanOnce(const Scan& scan, const CsvGuess& guess,
                            const CsvScanOptions& options) {
  TablePass* pass = scan.plan && scan.plan->table ? scan.plan->table->pass.get() : nullptr;
  if (pass && pass->records().options() == options) {
    if (auto summary = pass->Take(scan.ends())) return std::move(*summary);
  }
  CsvScanner scanner(options);
  DOSSIER_RETURN_IF_ERROR(ReadText(scan, guess.text_start, [&](std::string_view block) {
    scanner.Feed(block);
    return ReadFlow::kContinue;
  }));
  return scanner.Finish(scan.ends());
}

// Counts again from a quote that never closes, with that quote as text. After several of them, all
// later quotes are text, so that a file with stray quotes is not read once for each.
Result<CsvSummary> ScanRows(const Scan& scan, const CsvGuess& guess) {
  CsvScanOptions options = ScanOptions(guess);
  std::optional<CsvFault> open_quote;
  for (int round = 0;; ++round) {
    DOSSIER_ASSIGN_OR_RETURN(CsvSummary summary, ScanOnce(scan, guess, options));
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

std::string RaggedText(const CsvGuess& guess, const CsvSummary& rows, const Places& places) {
  std::string lines;
  for (const CsvFault& fault : rows.ragged_rows) {
    if (!lines.empty()) lines += "; ";
    lines +=
        fmt::format("line {}: {} {}", GroupDigits(places.at(guess.text_start + fault.offset).line),
                    fault.cells, fault.cells == 1 ? "cell" : "cells");
  }
  if (rows.ragged > rows.ragged_rows.size()) {
    lines += fmt::format("; and {} more", GroupDigits(rows.ragged - rows.ragged_rows.size()));
  }
  return fmt::format("{} {} not {} cells: {}", GroupDigits(rows.ragged),
                     rows.ragged == 1 ? "row has" : "rows have", guess.shape.columns, lines);
}

// Finds the footer if the whole table is in memory. Removes its rows from `guess`, and from the
// ragged ones in `rows`.
TableFooter TakeFooter(const Scan& scan, CsvGuess* guess, CsvSummary* rows) {
  if (scan.head_ends != TextEnds::kHere || rows->open_quote) return {};
  TableFooter footer = FindFooter(scan.head.substr(guess->text_start), guess->shape);
  if (footer.rows.empty()) return footer;
  const std::uint64_t begin = footer.rows.front().offset;
  guess->shape.end_offset = guess->text_start + begin;
  std::erase_if(guess->rows, [&](const CsvRow& row) { return row.offset >= begin; });
  std::erase_if(rows->ragged_rows, [&](const CsvFault& fault) { return fault.offset >= begin; });
  rows->ragged -= static_cast<std::uint64_t>(
      std::ranges::count_if(footer.rows, [](const FoundFooterRow& row) { return row.ragged; }));
  return footer;
}

// `start`: the bytes before the text in which the footer's offsets count.
Status AddFooterNote(const Scan& scan, std::uint64_t start, const TableFooter& footer) {
  std::set<std::uint64_t> offsets;
  for (const FoundFooterRow& row : footer.rows) offsets.insert(start + row.offset);
  if (footer.sums_last) offsets.insert(start + footer.last_offset);
  if (offsets.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const Places places, FindPlaces(scan, offsets));
  std::vector<std::string> lines;
  for (const FoundFooterRow& row : footer.rows) {
    lines.push_back(
        fmt::format("line {}: {}", GroupDigits(places.at(start + row.offset).line), row.why));
  }
  const StoredPlace& first = places.begin()->second;
  std::vector<std::string> texts;
  if (!lines.empty()) {
    texts.push_back("taken for what stands behind the rows: " + Join(lines, "; "));
  }
  if (footer.sums_last) {
    texts.push_back(
        fmt::format("line {} holds sums of the rows above: a total? It is kept as a record",
                    GroupDigits(first.line)));
  }
  AddNote(scan.out, "footer", Join(texts, "; "), first);
  return {};
}

Status AddTableNotes(const Scan& scan, const CsvGuess& guess, const CsvSummary& rows) {
  std::set<std::uint64_t> offsets;
  for (const CsvFault& fault : rows.ragged_rows) offsets.insert(guess.text_start + fault.offset);
  for (const auto& fault : {rows.open_quote, rows.first_stray, rows.first_comment}) {
    if (fault) offsets.insert(guess.text_start + fault->offset);
  }
  DOSSIER_ASSIGN_OR_RETURN(const Places places, FindPlaces(scan, offsets));
  const auto place_of = [&](const CsvFault& fault) {
    return places.at(guess.text_start + fault.offset);
  };
  if (rows.ragged > 0) {
    AddNote(scan.out, "ragged", RaggedText(guess, rows, places),
            place_of(rows.ragged_rows.front()));
  }
  if (rows.open_quote) {
    const StoredPlace place = place_of(*rows.open_quote);
    AddNote(scan.out, "open-quote",
            fmt::format("the quote in line {} never closes; it was taken as text",
                        GroupDigits(place.line)),
            place);
  }
  // A quote that never closes is one of them.
  const std::uint64_t stray =
      rows.stray_quotes - std::min<std::uint64_t>(rows.stray_quotes, rows.open_quote ? 1 : 0);
  if (stray > 0 && rows.first_stray) {
    const StoredPlace place = place_of(*rows.first_stray);
    AddNote(scan.out, "stray-quote",
            fmt::format("stray quote: {} inside unquoted cells, the first in line {}",
                        GroupDigits(stray), GroupDigits(place.line)),
            place);
  }
  // A user who sets the mark knows about them.
  if (rows.first_comment && !scan.options.comment) {
    const StoredPlace place = place_of(*rows.first_comment);
    AddNote(scan.out, "comments",
            fmt::format("{} below the header {} with {} and {} the cells of a row, the first in "
                        "line {}: taken for comments",
                        rows.comments == 1 ? "1 line" : GroupDigits(rows.comments) + " lines",
                        rows.comments == 1 ? "begins" : "begin", guess.shape.comment,
                        rows.comments == 1 ? "lacks" : "lack", GroupDigits(place.line)),
            place);
  }
  if (guess.header_of_values) {
    AddNote(scan.out, "header-of-values",
            "the first row is taken for the header though it holds numbers or dates: --header no "
            "makes it a record");
  }
  if (guess.duplicate_names) {
    AddNote(scan.out, "duplicate-names", "columns of one name are numbered: name#2");
  }
  return {};
}

FieldCollector CollectColumns(const Scan& scan, const CsvGuess& guess) {
  FieldLimits limits = scan.limits();
  limits.lone_dots = LoneDotsOf(*scan.out);
  FieldCollector collector(limits);
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

// Adds what a second header line says about the columns.
void AddUnits(const Scan& scan, const CsvGuess& guess) {
  const std::vector<std::string>& below = guess.shape.below;
  if (below.empty()) return;
  AddNote(scan.out, "two-line-header",
          guess.shape.below_is_name
              ? "names of columns are taken from two lines: --header yes takes the first alone"
              : "the line below the header is taken for units: --header yes makes it a record");
  if (guess.shape.below_is_name) return;
  for (Field& field : scan.out->fields) {
    const auto column = std::ranges::find(guess.names, field.path[0]) - guess.names.begin();
    if (static_cast<std::size_t>(column) < below.size()) {
      field.unit = TrimSpace(below[static_cast<std::size_t>(column)]);
    }
  }
}

// A table without data rows still has columns.
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

// Returns the bytes from the tables' headers to the ends of their last rows.
std::uint64_t BytesOf(const std::vector<PipeTable>& tables) {
  std::uint64_t bytes = 0;
  for (const PipeTable& table : tables) bytes += table.rows.back().end - table.begin;
  return bytes;
}

// Treats a table that is too wide as text.
bool TakeAsText(const Scan& scan) {
  scan.out->format = Format::kPlainText;
  AddNote(
      scan.out, "too-wide",
      fmt::format("a row has more than {} cells: read as plain text", GroupDigits(kMaxColumns)));
  return true;
}

}  // namespace

Result<bool> DescribePipeTables(Scan* scan, TableDemand demand) {
  if (scan->head_ends != TextEnds::kHere) return false;
  const std::vector<PipeTable> tables = FindPipeTables(scan->head);
  if (tables.empty()) return false;
  const bool beside = BytesOf(tables) * 2 < TrimSpace(scan->head).size();
  if (beside && demand != TableDemand::kNamed) return false;
  Description& out = *scan->out;
  out.format = Format::kMarkdown;
  out.records_beside = beside;
  out.records = RecordSummary{.tables = tables.size(), .exactness = scan->exactness()};
  FieldLimits limits = scan->limits();
  limits.lone_dots = LoneDotsOf(out);
  FieldCollector collector(limits);
  for (const PipeTable& table : tables) {
    out.records->records += table.rows.size();
    out.records->footers += table.footer.rows.size();
    out.records->sums_last = tables.size() == 1 && table.footer.sums_last;
    DOSSIER_RETURN_IF_ERROR(AddFooterNote(*scan, 0, table.footer));
    for (const ByteRange& row : table.rows) {
      if (!collector.full()) {
        collector.AddRecord(ReadPipeRow(tables, Slice(scan->head, row), row.begin));
      }
    }
  }
  SetFields(*scan, collector);
  SetSample(*scan, Slice(scan->head, tables[0].rows[0]), 0);
  return true;
}

Status DescribeMarkdown(Scan* scan) {
  DOSSIER_ASSIGN_OR_RETURN(const bool tables, DescribePipeTables(scan, TableDemand::kNamed));
  if (tables || scan->head_ends != TextEnds::kHere) return {};
  const std::vector<ByteRange> sections = FindSections(scan->head);
  if (sections.size() < 2) return {};
  Description& out = *scan->out;
  out.flavour = kSections;
  out.records_beside = true;  // the file is read as text
  out.records = RecordSummary{.records = sections.size(), .exactness = scan->exactness()};
  FieldCollector collector(scan->limits());
  for (const ByteRange& section : sections) {
    if (collector.full()) break;
    collector.AddRecord(ReadSection(Slice(scan->head, section)));
  }
  SetFields(*scan, collector);
  SetSample(*scan, TrimSpace(Slice(scan->head, sections[0])), 0);
  return {};
}

std::unique_ptr<TablePlan> PlanTable(const Scan& scan) {
  const auto is_table = [](Format format) {
    return format == Format::kCsv || format == Format::kTsv;
  };
  const auto named = scan.options.format ? scan.options.format : scan.out->named_format;
  const bool table = named && is_table(*named);
  const bool maybe = IsLeftToContent(scan);
  const std::string_view text = TrimSpace(scan.head);
  const bool json = !table && (text.starts_with('{') || text.starts_with('['));
  if (text.empty() || json || (!table && !maybe)) return nullptr;
  auto plan = std::make_unique<TablePlan>();
  plan->guess = GuessTable(scan);
  const CsvGuess& guess = plan->guess;
  const bool fits = table || guess.fits_sniffed;
  if (fits && !guess.rows.empty() && guess.text_start == 0) {
    plan->pass =
        std::make_unique<TablePass>(scan.source, scan.stream, TableRecords(ScanOptions(guess)));
  }
  return plan;
}

bool LooksLikeTable(const Scan& scan) { return GuessOf(scan).fits_sniffed; }

Result<bool> DescribeTable(Scan* scan, TableDemand demand) {
  CsvGuess guess = GuessOf(*scan);
  if (demand == TableDemand::kCertain && !guess.certain) return false;
  if (demand == TableDemand::kSniffed && !guess.fits_sniffed) return false;
  if (guess.rows.empty()) return false;
  Description& out = *scan->out;
  if (guess.shape.columns > kMaxColumns) return TakeAsText(*scan);
  DOSSIER_ASSIGN_OR_RETURN(CsvSummary rows, ScanRows(*scan, guess));
  if (rows.most_cells > kMaxColumns) return TakeAsText(*scan);
  const TableFooter footer = TakeFooter(*scan, &guess, &rows);
  out.format = guess.shape.delimiter == '\t' ? Format::kTsv : Format::kCsv;
  out.certain = guess.certain;
  out.table = guess.shape;
  const std::uint64_t others = footer.rows.size() + std::min(HeaderRows(guess.shape), rows.rows);
  out.records = RecordSummary{.records = rows.rows - others,
                              .ragged = rows.ragged,
                              .comments = guess.comments + rows.comments,
                              .comments_between = scan->options.comment ? 0 : rows.comments,
                              .footers = footer.rows.size(),
                              .sums_last = footer.sums_last,
                              .exactness = scan->exactness()};
  SetFields(*scan, CollectColumns(*scan, guess));
  AddUnits(*scan, guess);
  AddUnseenColumns(*scan, guess);
  SampleFirstRow(*scan, guess);
  DOSSIER_RETURN_IF_ERROR(AddTableNotes(*scan, guess, rows));
  DOSSIER_RETURN_IF_ERROR(AddFooterNote(*scan, guess.text_start, footer));
  return true;
}

}  // namespace dossier::inspect
