// Lines from a person at a terminal: editing, history, completion, pastes (libedit).
//
//   DOSSIER_ASSIGN_OR_RETURN(auto editor, LineEditor::Make({.history = path, .complete =
//   CompleteSlash})); DOSSIER_ASSIGN_OR_RETURN(const InputLine line, editor->Read({.text = "> ",
//   .right = "gpt-4o"}));
//
// Ctrl-C clears the line and gives kInterrupted, Ctrl-D on an empty line gives kEnd, a paste is one
// input with its line ends. The user's ~/.editrc holds. While it reads, Ctrl-C is a key and raises
// no signal; between reads the terminal is as it was.
//
// Ownership: reads descriptor 0, writes stdout; one at a time in a process. Thread-safety: one
// thread.

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

// libedit by dlopen: only an interactive chat pays for it.
//
// Thread-safety: loaded once; libedit itself is used by one thread.

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

// The messages a person typed, kept from one session to the next.
//
//   InputHistory history(state_folder + "/chat_history");
//   for (const std::string& message : history.Load()) Offer(message);
//   history.Add("why does the build fail?");
//
// One message a line, "\" and LF as "\\" and "\n"; mode 0600; the newest kMaxEntries. Several
// sessions may add at a time. What cannot be read or written is no error: a history is a
// convenience. Thread-safety: one owner.

class InputHistory {
 public:
  static constexpr std::size_t kMaxEntries = 1000;
  static constexpr std::size_t kMaxEntry = 64 * 1024;  // bytes; a longer message is not kept

  // "": nothing is kept.
  explicit InputHistory(std::string path) : path_(std::move(path)) {}

  // Oldest first.
  std::vector<std::string> Load() const;
  // Not if it is empty or the message before. Text that looks like a secret is kept redacted.
  void Add(std::string_view message);

 private:
  std::string path_;
  std::string last_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_LINE_EDITOR_H_
