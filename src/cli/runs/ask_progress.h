// Shows a run on stderr as it happens: a live tree on a terminal, a line per turn in a pipe, the
// events as JSON, or nothing.
//
//   const auto view = MakeProgressView(ProgressStyle::kTree, terminal, std::cerr);
//   // turn 2/30  3 children at work, 2 ended  14 calls  9120+310 tokens  4 s
//   //   0.c3  turn 1/30  model is reading  1 s  scripted
//
// Thread-safety: OnEvent and OnDelta from any thread.

#ifndef DOSSIER_CLI_RUNS_ASK_PROGRESS_H_
#define DOSSIER_CLI_RUNS_ASK_PROGRESS_H_

#include <iosfwd>
#include <memory>
#include <string_view>

#include "ask/engine.h"
#include "base/result.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

enum class ProgressStyle { kTree, kPlain, kJson, kNone };

// "auto" is kTree on a terminal, else kPlain. Errors: kUsage for an unknown word.
Result<ProgressStyle> ParseProgressStyle(std::string_view word, const Terminal& terminal);

std::unique_ptr<ask::EventSink> MakeProgressView(ProgressStyle style, const Terminal& terminal,
                                                 std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_PROGRESS_H_
