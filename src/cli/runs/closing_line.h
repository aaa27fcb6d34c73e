// The one line that a person reads when a question is answered: what it took, what the answer
// stands on, and where to look.
//
//   err << FitClosingLine(ClosingLine(outcome), terminal.columns);
//   // 3 turns, 12 calls, 46,353 tokens, $0.0123; code read all; dossier runs show last
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_RUNS_CLOSING_LINE_H_
#define DOSSIER_CLI_RUNS_CLOSING_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ask/engine.h"

namespace dossier::cli {

// "code read all; 2 of 3 attempts agree; 1 doubt".
std::string EvidenceText(const ask::EvidenceSummary& evidence);

// "$0.0123", "free", "of unknown cost".
std::string CostText(std::optional<std::int64_t> nano_usd);

// Without a line end; its parts are divided by "; ".
std::string ClosingLine(const ask::Outcome& outcome);

// With a line end. Where the line is wider than the terminal it goes on below, at a part's start.
std::string FitClosingLine(std::string_view line, int columns);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_CLOSING_LINE_H_
