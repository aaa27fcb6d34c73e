// What a run of the journal was about, so that it can be taken up again.
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
#include <string>
#include <vector>

#include "ask/documents/context_set.h"
#include "ask/reply/requirement.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::ask {

// What the journal says of the beginning of a run that can be taken up again. Errors: kUsage (a run
// of another kind, or one that was begun by a program whose settings are in no command line);
// kNotFound (no such run; it was imported, and its context is not here). Each says what to do.
Result<store::Event> StartToTakeUp(store::Journal& journal, const std::string& run);

// Whether the run ended before it had an answer. Errors: kLocked (it is running); kNotFound (it is
// finished), with the way on.
Status CheckUnfinished(store::Journal& journal, const std::string& run);

// The contexts of a run under the names that they had: files by their path, what came from stdin, a
// command or an address from the store. Paths are relative to the folder in which the run was
// started. Errors: kNotFound naming the one that is neither there nor stored.
Result<std::vector<ContextSource>> RecordedSources(store::Journal& journal, const std::string& run);

// What a fork changes; empty: as it was.
struct ForkEdits {
  std::string question, model;
  std::string code;  // its first new block
  std::string from;  // of EditsOf: the run that was forked; empty: the run is no fork
};

// Who is at a fork once it is there: the process that made it, or nobody yet, so that any process
// may resume it.
enum class ForkHeld : std::uint8_t { kByThisProcess, kByNobody };

// A new run that holds the events of `run` up to the end of turn `turn` of its root call (0: all
// before the first turn), begins with its own question, and ends with `run.forked`. `run` stays as
// it is. Where `run` is a fork itself, its question and model hold on. Errors: kNotFound (there is
// no such turn, or run); those of the journal.
Result<std::string> ForkRun(store::Journal& journal, const std::string& run, std::int64_t turn,
                            const ForkEdits& edits, ForkHeld held = ForkHeld::kByThisProcess);

// Whether the root call of `run` has turn `turn`, behind which a fork may begin. Errors: kNotFound,
// with how many there are.
Status CheckForkTurn(store::Journal& journal, const std::string& run, std::int64_t turn);

// What the newest `run.forked` of a run says; all empty: there is none. ForkRun takes no `from`.
Result<ForkEdits> EditsOf(store::Journal& journal, const std::string& run);

// Judges as the command of RequireCommand did in `run`, and runs nothing: for a comparison, which
// changes nothing. What it refused is refused again, in the same order and for the same reasons;
// all else is accepted. Errors: those of the journal.
Result<Requirement> RecordedCheck(store::Journal& journal, const std::string& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RECORDED_RUN_H_
