// Shows a run on stderr as it happens: a live tree on a terminal, a line per turn in a pipe, the
// events as JSON, or nothing.
//
//   const auto view = MakeProgressView(ProgressStyle::kTree, terminal, std::cerr);
//   // turn 2/30  3 children at work, 2 ended  2 in flight  14 calls  9,120 + 310 tokens  4 s
//   //   0.c3  turn 1/30  model is reading  1 s  scripted
//
// Thread-safety: all functions of a view from any thread.

#ifndef DOSSIER_CLI_RUNS_ASK_PROGRESS_H_
#define DOSSIER_CLI_RUNS_ASK_PROGRESS_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string_view>

#include "ask/engine.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

enum class ProgressStyle { kTree, kPlain, kJson, kNone };

class ProgressView : public ask::EventSink {
 public:
  // Returns the answer of `ask`, which may write on the same terminal and wait for a person: until
  // it returns, the view writes nothing.
  virtual bool WhilePaused(const std::function<bool()>& ask) { return ask(); }
};

// "auto" is kTree on a terminal that can move its cursor, else kPlain. Errors: kUsage for an unknown word.
Result<ProgressStyle> ParseProgressStyle(std::string_view word, const Terminal& terminal);

// The live tree is drawn at events, and again each `redraw`.
std::unique_ptr<ProgressView> MakeProgressView(ProgressStyle style, const Terminal& terminal,
                                               std::ostream& err, Millis redraw = Millis(500));

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_PROGRESS_H_
