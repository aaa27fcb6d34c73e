// What a run makes of its nodes when its stages are over: the final memory, figures, the report,
// citations, the paper, its review.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Closed closed, CloseRun(driver, results, facts, cancel));
//   outcome.report_path = closed.report_path;
//
// With Models::kNone in `results` only what needs no model is written. Errors: those of its parts.
//
// Thread-safety: called by the thread of the run alone.

#ifndef DOSSIER_RESEARCH_RUN_CLOSING_H_
#define DOSSIER_RESEARCH_RUN_CLOSING_H_

#include <string>

#include "research/run/report.h"

namespace dossier::research {

struct Closed {
  std::string report_path;  // relative; "": none
  // kStopped: by --until. kFailed: the paper is not written.
  enum class State : std::uint8_t { kWhole, kStopped, kFailed } state = State::kWhole;
  std::string reason;  // of a failure
};

Result<Closed> CloseRun(const Driver& driver, const RunResults& results, const ReportFacts& facts,
                        const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_CLOSING_H_
