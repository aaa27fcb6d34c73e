// How the records of NDJSON and of tables are scanned in parts (parted_pass.h).
//
// Thread-safety: as PartedPass says; the events and the capture of NDJSON are those of the first
// records, so one thread at a time uses them.

#ifndef DOSSIER_INSPECT_RECORD_PASSES_H_
#define DOSSIER_INSPECT_RECORD_PASSES_H_

#include <cstdint>
#include <string_view>

#include "inspect/csv_scanner.h"
#include "inspect/ndjson_scanner.h"
#include "inspect/parted_pass.h"

namespace dossier::inspect {

class NdjsonRecords {
 public:
  using Scanner = NdjsonScanner;

  // `first`: a scanner for the start of the text, with its events. The records it reports must end
  // in the first part.
  explicit NdjsonRecords(const NdjsonScanner& first) : first_(first) {}

  NdjsonScanner First() const { return first_; }
  NdjsonScanner Later() const { return NdjsonScanner(); }
  // A line that is cut is broken at worst: its end is found all the same.
  NdjsonScanner Finder(std::string_view) const { return NdjsonScanner(); }
  void Add(const NdjsonSummary& part, std::uint64_t offset, NdjsonSummary* sum) const;

 private:
  NdjsonScanner first_;
};

class TableRecords {
 public:
  using Scanner = CsvScanner;

  // Rows that are skipped must begin in the first part.
  explicit TableRecords(const CsvScanOptions& options) : options_(options) {}

  const CsvScanOptions& options() const { return options_; }
  CsvScanner First() const { return CsvScanner(options_); }
  CsvScanner Later() const;
  // Inside or outside of quotes? What makes more rows of the right length.
  CsvScanner Finder(std::string_view block) const;
  void Add(const CsvSummary& part, std::uint64_t offset, CsvSummary* sum) const;

 private:
  CsvScanner FinderFrom(CsvStart start) const;

  CsvScanOptions options_;
};

using NdjsonPass = PartedPass<NdjsonRecords>;
using TablePass = PartedPass<TableRecords>;

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORD_PASSES_H_
