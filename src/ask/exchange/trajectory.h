// A run as a file that other programs read, and back.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string lines, EventLines(journal, run));      // all events
//   std::string reference = TrajectoryLines(tale);      // the form of the method's reference
//   viewer DOSSIER_ASSIGN_OR_RETURN(ImportedRuns imported, ImportRuns(journal, lines,
//   "run.jsonl"));
//
// What was imported and is exported in the same form has the same bytes. Both forms are described
// in docs/formats/trajectory.md. Files come from anywhere: everything in them is checked.
// Thread-safety: functions over a journal.

#ifndef DOSSIER_ASK_EXCHANGE_TRAJECTORY_H_
#define DOSSIER_ASK_EXCHANGE_TRAJECTORY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ask/exchange/run_tale.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::ask {

// One object a line: metadata, then an iteration for each turn of the root call.
std::string TrajectoryLines(const RunTale& tale);

// One event a line, with the texts that the journal keeps elsewhere. Errors: those of the journal.
Result<std::string> EventLines(store::Journal& journal, const std::string& run);

struct ImportedRuns {
  std::vector<std::string> runs;
  // Those of `runs` that were stored before, from the same bytes: they are not stored again.
  std::vector<std::string> known;
  std::size_t skipped = 0;  // lines that are no iteration
};

// Stores the runs of a file in either form under new ids, marked as imported. `name` is that of the
// file, for errors. Errors: kDamaged naming line and what was expected, and nothing is stored;
// those of Journal::AddRun.
Result<ImportedRuns> ImportRuns(store::Journal& journal, std::string_view text,
                                std::string_view name);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_EXCHANGE_TRAJECTORY_H_
