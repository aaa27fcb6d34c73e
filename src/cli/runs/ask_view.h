// Messages on stderr after a question was answered or failed: warnings, the reason why an answer is
// not confirmed, and where to look.
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

// Reports a signal that arrived late, after the answer, because the process does not end with its
// exit code.
void ExplainEnd(const GlobalFlags& flags, const ask::Outcome& outcome, const CancelToken& cancel,
                std::ostream& err);

// Decides which words of `dossier ask` are files and which one is the question, in any order.
//
//   DOSSIER_ASSIGN_OR_RETURN(const AskWords words,
//                            ReadAskWords({"sales.csv", "Which month was best?"}, exists));
//   words.question;   // "Which month was best?"
//   words.paths;      // {"sales.csv"}
//
// Thread-safety: pure, if `exists` is.

struct AskWords {
  std::string question;            // "-": read from stdin
  std::vector<std::string> paths;  // in order; "-" is stdin
};

// Existing paths are contexts, and the only other word is the question. "-" is the question only if
// no other word can be. `exists` says whether a path names something. Errors: kUsage if no word or
// several words can be the question, with both ways to read the line. `command` is what is typed
// after "dossier".
Result<AskWords> ReadAskWords(const std::vector<std::string>& words,
                              const std::function<bool(const std::string&)>& exists,
                              std::string_view command = "ask");

// The closing line after an answer: what it took, what evidence supports the answer, and where to
// look.
//
//   err << FitClosingLine(ClosingLine(outcome), terminal.columns);
//   // 3 turns, 12 calls, 46,353 tokens, $0.0123; code read all; dossier runs show last
//
// Thread-safety: pure functions.

// Returns "code read all; 2 of 3 attempts agree; 1 doubt".
std::string EvidenceText(const ask::EvidenceSummary& evidence);

// Returns "$0.0123", "free" or "of unknown cost".
std::string CostText(std::optional<std::int64_t> nano_usd);

// Has no newline; its parts are separated by "; ".
std::string ClosingLine(const ask::Outcome& outcome);

// Adds a newline. A line wider than the terminal is wrapped at the start of a part.
std::string FitClosingLine(std::string_view line, int columns);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_VIEW_H_
