// The report of a run: by a model, or from what is there.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string path,
//                            WriteReport(driver, results, {.end = RunEnd::kDone}, cancel));
//
// A reply that does not hold gives the report without a model, with a warning. Errors: those of
// Caller::Call, kIo.
//
// Thread-safety: called by the thread of the run alone.

#ifndef DOSSIER_RESEARCH_RUN_REPORT_H_
#define DOSSIER_RESEARCH_RUN_REPORT_H_

#include <optional>
#include <string>

#include "research/node/driver.h"
#include "research/node/results.h"
#include "research/run.h"

namespace dossier::research {

struct ReportFacts {
  std::optional<RunEnd> end = RunEnd::kDone;  // unset: the run has none yet
  std::string reason;                         // of another end than kDone
  std::string primary = {};                   // metric.primary
};

// Writes report.md and returns its path, relative to the run folder.
Result<std::string> WriteReport(const Driver& driver, const RunResults& results,
                                const ReportFacts& facts, const CancelToken& cancel);

// Pure: how the run ended, its best program, its nodes by stage, what failed and how often.
std::string PlainReport(const RunResults& results, const ReportFacts& facts);
// "CompilationError 3, RuntimeError 1": the nodes of all stages; "": none failed.
std::string ErrorCounts(const RunResults& results);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_REPORT_H_
