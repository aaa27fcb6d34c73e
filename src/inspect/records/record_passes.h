// How the records of NDJSON, of tables, and of stanzas and logs are scanned in parts
// (parted_pass.h).
//
// Thread-safety: as PartedPass says; the events and the capture of NDJSON are those of the first
// records, so one thread at a time uses them.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_PASSES_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_PASSES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "inspect/formats/csv_scanner.h"
#include "inspect/json/ndjson_scanner.h"
#include "inspect/json/text_records.h"
#include "inspect/records/parted_pass.h"

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

struct CountSummary {
  std::uint64_t records = 0;
};

// A counter as a scanner. Thread-safety: one owner.
class CountScanner {
 public:
  using Summary = CountSummary;

  explicit CountScanner(std::unique_ptr<RecordCounter> counter) : counter_(std::move(counter)) {}

  void Feed(std::string_view block) { counter_->Feed(block); }
  bool at_record_start() const { return counter_->at_record_start(); }
  const CountSummary& Finish(TextEnds) {
    summary_.records = counter_->Finish();
    return summary_;
  }

 private:
  std::unique_ptr<RecordCounter> counter_;
  CountSummary summary_;
};

class CountedRecords {
 public:
  using Scanner = CountScanner;
  using MakeCounter = std::function<std::unique_ptr<RecordCounter>(CountFrom)>;

  explicit CountedRecords(MakeCounter make) : make_(std::move(make)) {}

  CountScanner First() const { return CountScanner(make_(CountFrom::kRecord)); }
  CountScanner Later() const { return First(); }
  // The rest of a line that is cut may look like another kind of line.
  CountScanner Finder(std::string_view) const { return CountScanner(make_(CountFrom::kAnywhere)); }
  void Add(const CountSummary& part, std::uint64_t, CountSummary* sum) const {
    sum->records += part.records;
  }

 private:
  MakeCounter make_;
};

using NdjsonPass = PartedPass<NdjsonRecords>;
using TablePass = PartedPass<TableRecords>;
using CountPass = PartedPass<CountedRecords>;

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_PASSES_H_
