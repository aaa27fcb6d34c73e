// Reads what a recorded run was about, so that it can be continued or forked.
//
//   DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal.EventAt(run, 1));
//   DOSSIER_ASSIGN_OR_RETURN(auto sources, RecordedSources(journal, run));
//   DOSSIER_ASSIGN_OR_RETURN(auto context, LoadContext(sources, options, cancel));
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string fork, ForkRun(journal, run, /*turn=*/3, {}));
//
// Thread-safety: functions over a journal.

#ifndef DOSSIER_ASK_RUN_RECORDED_RUN_H_
#define DOSSIER_ASK_RUN_RECORDED_RUN_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ask/documents/context_set.h"
#include "ask/reply/requirement.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::ask {

// Returns the first event of a run that can be continued. Errors: kUsage (a run of another kind, or
// one started by a program whose settings are not in a command line); kNotFound (no such run, or an
// imported one whose context is not here). Each message says what to do.
Result<store::Event> StartToTakeUp(store::Journal& journal, const std::string& run);

// Checks that the run ended before it had an answer. Errors: kLocked (it is running); kNotFound (it
// is finished), with what to do instead.
Status CheckUnfinished(store::Journal& journal, const std::string& run);

// Returns the contexts of a run under their recorded names: files by their path; input from stdin,
// a command or an address from the store, as is the copy of a file that is gone, or whose name is
// in `changed`. Paths are relative to the folder in which the run was started. Errors: kNotFound,
// naming one that is neither there nor stored.
Result<std::vector<ContextSource>> RecordedSources(store::Journal& journal, const std::string& run,
                                                   const std::set<std::string>& changed = {});

// The changes that a fork makes; an empty field means no change.
struct ForkEdits {
  std::string question, model;
  std::string code;  // its first new block
  std::string from;  // set by EditsOf: the run that was forked; empty: not a fork
};

// The holder of a new fork: the process that made it, or none yet, so that any may resume it.
enum class ForkHeld : std::uint8_t { kByThisProcess, kByNobody };

// Makes a new run that holds the events of `run` up to the end of turn `turn` of its root call (0:
// all before the first turn), begins with its own question, and ends with `run.forked`. `run` is
// not changed. If `run` is itself a fork, its question and model are kept. Errors: kNotFound (no
// such turn or run); those of the journal.
Result<std::string> ForkRun(store::Journal& journal, const std::string& run, std::int64_t turn,
                            const ForkEdits& edits, ForkHeld held = ForkHeld::kByThisProcess);

// Checks that the root call of `run` has turn `turn`, after which a fork may begin. Errors:
// kNotFound, with the number of turns.
Status CheckForkTurn(store::Journal& journal, const std::string& run, std::int64_t turn);

// Returns the newest `run.forked` edits of a run; all empty if none. ForkRun ignores `from`.
Result<ForkEdits> EditsOf(store::Journal& journal, const std::string& run);

// Repeats the recorded verdicts of RequireCommand's command in `run` without running it, for a
// comparison, which changes nothing. What was refused is refused again, in the same order and for
// the same reasons; everything else is accepted. Errors: those of the journal.
Result<Requirement> RecordedCheck(store::Journal& journal, const std::string& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RECORDED_RUN_H_
