// The terminal that the command uses, and functions to print messages on it.
//
//   Terminal terminal = Terminal::Detect();
//   PrintError(std::cerr, error);          // "dossier: data.csv: no such file"
//
// Thread-safety: plain data; the caller serializes printing.

#ifndef DOSSIER_CLI_TERMINAL_TERMINAL_H_
#define DOSSIER_CLI_TERMINAL_TERMINAL_H_

#include <fmt/format.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text/text.h"
#include "config/expand.h"

namespace dossier::cli {

enum class ColorWish { kAuto, kAlways, kNever };  // --color

struct Terminal {
  enum class Kind { kPipe, kTerminal } out = Kind::kPipe, err = Kind::kPipe;
  enum class Color { kNo, kYes } color = Color::kNo;
  enum class Cursor { kFixed, kMoves } cursor = Cursor::kFixed;  // kFixed: TERM=dumb, or none
  int columns = 80, rows = 24;  // at detection; ColumnsNow and RowsNow give the current values

  // Checks stdout, stderr, NO_COLOR, CLICOLOR_FORCE, TERM and COLUMNS.
  static Terminal Detect(ColorWish wish = ColorWish::kAuto);
};

// Return the columns and rows of the window behind stderr, or those of `terminal` if there is none.
int ColumnsNow(const Terminal& terminal);
int RowsNow(const Terminal& terminal);

// Decides on colour for a stream of `kind`: --color, then NO_COLOR (if not empty), CLICOLOR_FORCE,
// TERM=dumb, then whether it is a terminal.
Terminal::Color DecideColor(ColorWish wish, const config::Variables& variables,
                            Terminal::Kind kind);
// Parses "auto", "always" or "never".
ColorWish ParseColorWish(std::string_view word);

// Makes any text safe for a terminal: invalid UTF-8 is replaced, control bytes become ^X.
std::string Safe(std::string_view text);
// As Safe, and also redacts secrets.
std::string SafeMessage(std::string_view text);
// Returns `text` without line breaks, control and direction characters, at most about `most` code
// points long: the middle of a longer text is cut out and its length is added.
std::string OnOneLine(std::string_view text, std::size_t most);
// Prepares text of a model or a command for stdout: on a terminal control bytes become ^X; in a
// pipe it is exact. A missing final newline is added.
std::string OutputText(std::string_view text, Terminal::Kind kind);

// Discards what was typed on the terminal `fd` before a question: it answers nothing.
void ForgetTyped(int fd);
// Reads one line from the terminal `fd` after calling `ask`, which writes the question; nullopt at
// the end of input. Discards what was typed before. kCancelled at SIGINT, SIGTERM and SIGHUP, which
// the rest of the program then gets too: it would only notice them after the line.
Result<std::optional<std::string>> AskOn(int fd, const std::function<Status()>& ask);

// Prints one line, "dossier: MESSAGE", safe for a terminal, without secrets. Returns the error's
// exit code.
int PrintError(std::ostream& err, const Error& error);
void PrintWarning(std::ostream& err, std::string_view message);

// Protects a terminal from text of others: every text passes through it last.
//
//   OutputBuffer buffer(STDOUT_FILENO);
//   TerminalFilter filter(&buffer, STDOUT_FILENO);
//   std::ostream out(&filter);
//   out << answer;                       // "\x1b]0;title\x07" is shown as ^[]0;title^G
//   out << Own("\x1b[1m");               // the program's own: passed on as it is
//
// On a terminal, control characters except LF and TAB, direction marks and invalid UTF-8 are shown
// instead of interpreted, even if the printing code did not clean them. Elsewhere every byte
// passes.
//
// Ownership: the caller keeps `next`. Thread-safety: one writer.

class TerminalFilter final : public std::streambuf {
 public:
  // `fd` tells whether the output is a terminal.
  TerminalFilter(std::streambuf* next, int fd);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

  // Writes text unfiltered.
  void WriteOwn(std::string_view text);

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void End();

  std::streambuf* const next_;
  const bool terminal_;
  std::string begun_;  // start of a code point that is still incomplete
};

// Text of the program itself, including its escape sequences; text of others in it must be clean.
struct Own {
  explicit Own(std::string_view text) : text(text) {}
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, const Own& own);

// Computes how many terminal columns a text takes.
//
//   DisplayWidth("naïve")   // 5
//   DisplayWidth("東京")     // 4: wide characters take two columns
//
// Uses the East Asian Width tables of utf8proc (Unicode 15); combining marks take no column.
// Terminals differ on emoji joined by U+200D, which count as their first one here. Thread-safety:
// pure functions.

int DisplayWidth(std::string_view text);

// As DisplayWidth, but for a text with our own colour sequences (ESC [ … m), which take no columns.
int StyledWidth(std::string_view text);

// Returns the longest start of `text` that takes at most `columns`; never splits a code point, nor
// a base character from its combining marks.
std::string_view DisplayPrefix(std::string_view text, int columns);

// A part of a line; the parts with the lowest `rank` are left out first where a line is too wide.
struct LinePart {
  int rank = 0;
  std::string text;
};
// Joins the parts that are not empty. Leaves out whole parts until the line fits: a number that is
// cut would read as another number.
std::string FittingLine(const std::string& indent, std::vector<LinePart> parts, int columns);

// The last lines of a terminal, rewritten in place. They are written at once and line by line over
// those before, so that the screen never flickers. All texts must be safe for a terminal.
//
//   LiveLines lines(terminal, std::cerr);
//   lines.Above("read a.csv");              // printed above the lines when they are drawn next
//   lines.Draw({"3 calls", "  4 s"});
//
// Thread-safety: none.

class LiveLines {
 public:
  LiveLines(const Terminal& terminal, std::ostream& err) : terminal_(terminal), err_(err) {}

  // A full line would move the cursor to the next one.
  int columns() const;
  // Lines that may be drawn: the cursor could not go back to one that has left the window.
  int rows() const;
  void Above(std::string_view line);
  void Draw(const std::vector<std::string>& lines);
  void Erase();

 private:
  int DrawnRows() const;
  std::string ToStart() const;

  const Terminal terminal_;
  std::ostream& err_;
  std::string above_;
  std::vector<int> widths_;  // of the lines that are drawn
};

// Shows "⠙ gpt-4o 3 s" on a terminal while there is no other output, from 300 ms on.
//
//   WaitingLine waiting(terminal, std::cerr);
//   waiting.Start("gpt-4o");
//   …                          // Stop before anything is written to the same terminal
//   waiting.Stop();
//
// Draws on its own thread; does nothing if stderr is not a terminal. Thread-safety: Start and Stop
// may be called from any thread; after Stop has returned nothing more is drawn.

class WaitingLine {
 public:
  static constexpr Millis kQuiet{300}, kStep{100};

  WaitingLine(const Terminal& terminal, std::ostream& err) : terminal_(terminal), err_(err) {}
  ~WaitingLine() { Stop(); }
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  void Start(std::string_view what);
  // Also erases the drawn line.
  void Stop();

 private:
  void Draw(const std::string& what);

  const Terminal terminal_;
  std::ostream& err_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::mutex thread_mutex_;
  std::thread thread_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_TERMINAL_H_
