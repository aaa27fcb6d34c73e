// Writes the report of a run, by a model or from the recorded data alone.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string path,
//                            WriteReport(driver, results, {.end = RunEnd::kDone}, cancel));
//
// If the reply is not valid, the report is written without a model, with a warning. Errors: those
// of RoleCaller::Call, kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_RUN_REPORT_H_
#define DOSSIER_RESEARCH_RUN_REPORT_H_

#include <optional>
#include <string>

#include "research/node/driver.h"
#include "research/node/results.h"
#include "research/run.h"

namespace dossier::research {

struct ReportFacts {
  std::optional<RunEnd> end = RunEnd::kDone;  // unset: the run has not ended yet
  std::string reason;                         // if `end` is not kDone
  std::string primary = {};                   // metric.primary
};

// Writes report.md and returns its path, relative to the run folder.
Result<std::string> WriteReport(const Driver& driver, const RunResults& results,
                                const ReportFacts& facts, const CancelToken& cancel);

// Pure. Says how the run ended, its best program, its nodes by stage, and counts the failures.
std::string PlainReport(const RunResults& results, const ReportFacts& facts);
// Returns "CompilationError 3, RuntimeError 1" for the nodes of all stages; "": none failed.
std::string ErrorCounts(const RunResults& results);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_REPORT_H_
