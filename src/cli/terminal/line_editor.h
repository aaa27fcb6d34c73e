// Lines from a person at a terminal: editing, history, completion, pastes (libedit).
//
//   DOSSIER_ASSIGN_OR_RETURN(auto editor, LineEditor::Make({.history = path, .complete =
//   CompleteSlash})); DOSSIER_ASSIGN_OR_RETURN(const Line line, editor->Read({.text = "> ", .right
//   = "gpt-4o"}));
//
// Ctrl-C clears the line and gives kInterrupted, Ctrl-D on an empty line gives kEnd, a paste is one
// input with its line ends. The user's ~/.editrc holds. While it reads, Ctrl-C is a key and raises
// no signal; between reads the terminal is as it was.
//
// Ownership: reads descriptor 0, writes stdout; one at a time in a process. Thread-safety: one
// thread.

#ifndef DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_
#define DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/terminal/line_reader.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

struct LineEditorOptions {
  std::string history;  // path of the history file; "": none
  // The words that the text before the cursor may become.
  std::function<std::vector<std::string>(std::string_view typed)> complete;
  Terminal::Color color = Terminal::Color::kNo;
  CancelToken cancel;  // ends a read with kEnd
};

class LineEditor : public LineReader {
 public:
  // Errors: kUnavailable (no libedit).
  static Result<std::unique_ptr<LineEditor>> Make(LineEditorOptions options);
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_
