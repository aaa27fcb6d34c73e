// A run as it happens, on stderr: a live line on a terminal, a line a turn in a pipe, the events as
// JSON, or nothing.
//
//   std::unique_ptr<ask::EventSink> view = MakeProgressView(Style::kPlain, terminal,
//   std::cerr);
//
// Thread-safety: OnEvent and OnDelta from any thread.

#ifndef DOSSIER_CLI_RUNS_PROGRESS_VIEW_H_
#define DOSSIER_CLI_RUNS_PROGRESS_VIEW_H_

#include <memory>
#include <ostream>
#include <string_view>

#include "ask/engine.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

enum class ProgressStyle { kTree, kPlain, kJson, kNone };

// "auto" is kTree on a terminal, else kPlain. Errors: kUsage for another word.
Result<ProgressStyle> ParseProgressStyle(std::string_view word, const Terminal& terminal);

std::unique_ptr<ask::EventSink> MakeProgressView(ProgressStyle style, const Terminal& terminal,
                                                 std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_PROGRESS_VIEW_H_
