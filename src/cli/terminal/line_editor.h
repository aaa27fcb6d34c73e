// Reads lines from a user at a terminal, with editing, history, completion and pastes (libedit).
//
//   DOSSIER_ASSIGN_OR_RETURN(auto editor, LineEditor::Make({.history = path, .complete =
//   CompleteSlash})); DOSSIER_ASSIGN_OR_RETURN(const InputLine line, editor->Read({.text = "> ",
//   .right = "gpt-4o"}));
//
// Ctrl-C clears the line and gives kInterrupted, Ctrl-D on an empty line gives kEnd, a paste is one
// input including its line ends. The user's ~/.editrc applies. During a read, Ctrl-C is a key and
// raises no signal; between reads the terminal has its original state.
//
// Ownership: reads descriptor 0, writes stdout; only one per process. Thread-safety: one thread.

#ifndef DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_
#define DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_

#include <histedit.h>

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
  // Returns the possible completions of the text before the cursor.
  std::function<std::vector<std::string>(std::string_view typed)> complete;
  Terminal::Color color = Terminal::Color::kNo;
  CancelToken cancel;  // ends a read with kEnd
};

class LineEditor : public LineReader {
 public:
  // Errors: kUnavailable if libedit is missing.
  static Result<std::unique_ptr<LineEditor>> Make(LineEditorOptions options);
};

// libedit, loaded by dlopen, so that only an interactive chat pays for it.
//
// Thread-safety: loaded once; libedit itself must be used by one thread.

struct EditApi {
  decltype(&::el_init) init;
  decltype(&::el_end) end;
  decltype(&::el_gets) gets;
  decltype(&::el_wgetc) wgetc;
  decltype(&::el_set) set;
  decltype(&::el_get) get;
  decltype(&::el_line) line;
  decltype(&::el_insertstr) insertstr;
  decltype(&::el_deletestr) deletestr;
  decltype(&::el_cursor) cursor;
  decltype(&::el_resize) resize;
  decltype(&::el_source) source;
  decltype(&::history_init) history_init;
  decltype(&::history_end) history_end;
  decltype(&::history) history;
};

// Errors: kUnavailable, naming the Debian package.
Result<const EditApi*> LoadEdit();

// The messages that a user typed, kept across sessions.
//
//   InputHistory history(state_folder + "/chat_history");
//   for (const std::string& message : history.Load()) Offer(message);
//   history.Add("why does the build fail?");
//
// One message per line, with "\" and LF as "\\" and "\n"; mode 0600; the newest kMaxEntries.
// Several sessions may add at the same time. Failures to read or write are ignored: a history is
// only a convenience. Thread-safety: one owner.

class InputHistory {
 public:
  static constexpr std::size_t kMaxEntries = 1000;
  static constexpr std::size_t kMaxEntry = 64 * 1024;  // bytes; a longer message is not kept

  // "": no history is kept.
  explicit InputHistory(std::string path) : path_(std::move(path)) {}

  // Returns the oldest first.
  std::vector<std::string> Load() const;
  // Adds a message, unless it is empty or equals the last one. Text that looks like a secret is
  // redacted.
  void Add(std::string_view message);

 private:
  std::string path_;
  std::string last_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_
