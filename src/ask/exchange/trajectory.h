// Exports a run as a file for other programs, and imports such files.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string lines, EventLines(journal, run));      // all events
//   std::string reference = TrajectoryLines(tale);      // the form of the method's reference
//   viewer DOSSIER_ASSIGN_OR_RETURN(ImportedRuns imported, ImportRuns(journal, lines,
//   "run.jsonl"));
//
// Exporting an imported run in the same form gives the same bytes. docs/formats/trajectory.md
// describes both forms. Files may come from anywhere, so everything in them is checked.
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

// Returns one object per line: metadata, then an iteration for each turn of the root call.
std::string TrajectoryLines(const RunTale& tale);

// Returns one event per line, with the texts stored elsewhere. Errors: those of the journal.
Result<std::string> EventLines(store::Journal& journal, const std::string& run);

struct ImportedRuns {
  std::vector<std::string> runs;
  // Those of `runs` that were already stored, from the same bytes; they are not stored again.
  std::vector<std::string> known;
  std::size_t skipped = 0;  // lines that are not iterations
};

// Stores the runs of a file in either form under new ids, marked as imported. `name` is the file's
// name, for errors. Errors: kDamaged, naming the line and what was expected (nothing is stored
// then); those of Journal::AddRun.
Result<ImportedRuns> ImportRuns(store::Journal& journal, std::string_view text,
                                std::string_view name);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_EXCHANGE_TRAJECTORY_H_
