// What went into a prompt and why, as JSON (docs/schemas/assembly-report.schema.json).
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_REPORT_H_
#define DOSSIER_ASSEMBLY_FIT_REPORT_H_

#include <string>
#include <vector>

#include "assembly/fit/arrange.h"
#include "assembly/fit/cache_plan.h"
#include "assembly/fit/part.h"
#include "assembly/fit/tally.h"

namespace dossier::assembly {

// How the budget came about, in tokens.
struct BudgetNumbers {
  std::int64_t limit = 0;      // window less the reserve for the reply
  std::int64_t want = 0;       // what the layout or the caller asks for
  std::int64_t budget = 0;     // the smaller of the two: B
  std::int64_t allowance = 0;  // B without the tokenizer's margin; holds framing and text
};

struct ReportInput {
  const Layout& layout;
  const AssembleOptions& options;
  const Capability& capability;
  const tokens::Counter& counter;
  const BudgetNumbers& budget;
  const Tally& tally;
  const Arranged& arranged;
  const CachePlan& cache;
  const std::vector<Warning>& warnings;
};

// Fills in each part's hashes and turn.
Json MakeReport(const ReportInput& input, std::vector<Part>* parts);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_REPORT_H_
