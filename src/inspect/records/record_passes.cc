#include "inspect/records/record_passes.h"

#include <algorithm>

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxFaults = 10;
// Bytes of a part that are read to guess whether it begins inside quotes.
constexpr std::size_t kGuessBytes = 32 << 10;

template <typename Fault>
void AddFaults(const std::vector<Fault>& part, std::uint64_t offset, std::vector<Fault>* sum) {
  for (Fault fault : part) {
    if (sum->size() == kMaxFaults) return;
    fault.offset += offset;
    sum->push_back(fault);
  }
}

void KeepFirst(const std::optional<CsvFault>& part, std::uint64_t offset,
               std::optional<CsvFault>* first) {
  if (!part || *first) return;
  *first = part;
  (*first)->offset += offset;
}

// Returns the number of good rows minus the number of bad ones.
std::int64_t Fit(CsvScanner scanner, std::string_view text) {
  scanner.Feed(text);
  const CsvSummary& found = scanner.Finish(TextEnds::kLater);
  return static_cast<std::int64_t>(found.rows) - 2 * static_cast<std::int64_t>(found.ragged) -
         2 * static_cast<std::int64_t>(found.stray_quotes);
}

}  // namespace

void NdjsonRecords::Add(const NdjsonSummary& part, std::uint64_t offset, NdjsonSummary* sum) const {
  sum->records += part.records;
  sum->malformed += part.malformed;
  sum->non_object += part.non_object;
  sum->non_finite += part.non_finite;
  AddFaults(part.faults, offset, &sum->faults);
}

CsvScanner TableRecords::Later() const {
  CsvScanOptions options = options_;
  options.skip_rows = 0;
  options.first_is_row = false;
  return CsvScanner(options);
}

CsvScanner TableRecords::FinderFrom(CsvStart start) const {
  CsvScanOptions options = options_;
  options.start = start;
  options.skip_rows = 1;  // the row that is cut
  return CsvScanner(options);
}

CsvScanner TableRecords::Finder(std::string_view block) const {
  const std::string_view sight = block.substr(0, kGuessBytes);
  CsvScanner outside = FinderFrom(CsvStart::kInsideCell);
  if (sight.find('"') == std::string_view::npos) return outside;
  CsvScanner inside = FinderFrom(CsvStart::kInsideQuotes);
  return Fit(inside, sight) > Fit(outside, sight) ? inside : outside;
}

void TableRecords::Add(const CsvSummary& part, std::uint64_t offset, CsvSummary* sum) const {
  sum->rows += part.rows;
  sum->ragged += part.ragged;
  sum->stray_quotes += part.stray_quotes;
  sum->comments += part.comments;
  sum->most_cells = std::max(sum->most_cells, part.most_cells);
  AddFaults(part.ragged_rows, offset, &sum->ragged_rows);
  KeepFirst(part.first_stray, offset, &sum->first_stray);
  KeepFirst(part.open_quote, offset, &sum->open_quote);
  KeepFirst(part.first_comment, offset, &sum->first_comment);
}

}  // namespace dossier::inspect
