// The messages on stderr after a question was answered or failed: warnings, why an answer is not
// confirmed, and where to look.
//
//   ExplainEnd(flags, outcome, context.cancel, context.err);
//
// Thread-safety: one writer to `err`.

#ifndef DOSSIER_CLI_RUNS_ASK_VIEW_H_
#define DOSSIER_CLI_RUNS_ASK_VIEW_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "base/cancel.h"
#include "base/result.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// A signal that came late, when the answer was there, is told in place of an exit code that the
// process does not end with.
void ExplainEnd(const GlobalFlags& flags, const ask::Outcome& outcome, const CancelToken& cancel,
                std::ostream& err);

// Which words of `dossier ask` are files, and which one is the question, in whatever order they
// stand.
//
//   DOSSIER_ASSIGN_OR_RETURN(const AskWords words,
//                            ReadAskWords({"sales.csv", "Which month was best?"}, exists));
//   words.question;   // "Which month was best?"
//   words.paths;      // {"sales.csv"}
//
// Thread-safety: a pure function, as far as `exists` is one.

struct AskWords {
  std::string question;            // "-": it comes from stdin
  std::vector<std::string> paths;  // in their order; "-" is stdin
};

// What exists is a context, and the one word that does not is the question. "-" is the question
// only where no other word can be it. `exists` says whether a path names something. Errors: kUsage,
// where no word or several can be the question, with both ways to read the line. `command`: as it
// is typed behind "dossier".
Result<AskWords> ReadAskWords(const std::vector<std::string>& words,
                              const std::function<bool(const std::string&)>& exists,
                              std::string_view command = "ask");

// The one line that a person reads when a question is answered: what it took, what the answer
// stands on, and where to look.
//
//   err << FitClosingLine(ClosingLine(outcome), terminal.columns);
//   // 3 turns, 12 calls, 46,353 tokens, $0.0123; code read all; dossier runs show last
//
// Thread-safety: pure functions.

// "code read all; 2 of 3 attempts agree; 1 doubt".
std::string EvidenceText(const ask::EvidenceSummary& evidence);

// "$0.0123", "free", "of unknown cost".
std::string CostText(std::optional<std::int64_t> nano_usd);

// Without a line end; its parts are divided by "; ".
std::string ClosingLine(const ask::Outcome& outcome);

// With a line end. Where the line is wider than the terminal it goes on below, at a part's start.
std::string FitClosingLine(std::string_view line, int columns);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_VIEW_H_
