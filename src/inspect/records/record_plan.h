// Decides from the first bytes of a text which scan of records is worth running during the counting
// pass.
//
//   RecordPlan plan = PlanRecords(scan);                  // looks at scan.head
//   TakeCensus(source, {.records = plan.pass()});
//   scan.plan = &plan;                                    // Describe… takes what it wants from it
//
// A plan is a guess that costs time if it is wrong, never a result: whoever takes the scan checks
// that it is the one needed, and else scans the text once more.
// Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_PLAN_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_PLAN_H_

#include <memory>

#include "inspect/description/description.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/json/field_collector.h"
#include "inspect/json/json_machine.h"
#include "inspect/records/record_passes.h"

namespace dossier::inspect {

struct NdjsonPlan {
  explicit NdjsonPlan(const FieldLimits& limits) : fields(limits) {}

  NdjsonSummary probe;  // of the head
  FieldCollector fields;
  JsonCapture sample;
  std::unique_ptr<NdjsonPass> pass;  // reports to the two above; null: the probe speaks against it
};

struct TablePlan {
  CsvGuess guess;
  std::unique_ptr<TablePass> pass;  // null: the guess speaks against it
};

// Stanzas or log lines.
struct CountPlan {
  Format format = Format::kLog;
  std::unique_ptr<CountPass> pass;
};

struct RecordPlan {
  std::unique_ptr<NdjsonPlan> ndjson;
  std::unique_ptr<TablePlan> table;
  std::unique_ptr<CountPlan> count;

  RecordPass* pass() const {
    if (ndjson && ndjson->pass) return ndjson->pass.get();
    if (table && table->pass) return table->pass.get();
    return count ? count->pass.get() : nullptr;
  }
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_PLAN_H_
