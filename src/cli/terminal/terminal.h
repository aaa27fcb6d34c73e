// What the command knows about the terminal it talks to, and how it prints messages.
//
//   Terminal terminal = Terminal::Detect();
//   PrintError(std::cerr, error);          // "dossier: data.csv: no such file"
//
// Thread-safety: plain data; printing is the caller's business.

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

#include "base/clock.h"
#include "base/result.h"
#include "base/text/text.h"
#include "config/expand.h"

namespace dossier::cli {

enum class ColorWish { kAuto, kAlways, kNever };  // --color

struct Terminal {
  enum class Kind { kPipe, kTerminal } out = Kind::kPipe, err = Kind::kPipe;
  enum class Color { kNo, kYes } color = Color::kNo;
  int columns = 80;  // when it was looked at; ColumnsNow says what it is since a resize

  // Looks at stdout, stderr, NO_COLOR, CLICOLOR_FORCE, TERM and COLUMNS.
  static Terminal Detect(ColorWish wish = ColorWish::kAuto);
};

// Columns of the window behind stderr; those of `terminal` where there is none.
int ColumnsNow(const Terminal& terminal);

// Colour for a stream of `kind`: --color, then NO_COLOR (not empty), CLICOLOR_FORCE, TERM=dumb,
// then whether it is a terminal.
Terminal::Color DecideColor(ColorWish wish, const config::Variables& variables,
                            Terminal::Kind kind);
// "auto", "always", "never".
ColorWish ParseColorWish(std::string_view word);

// Text of any kind as a terminal may show it: what is no UTF-8 is replaced, control bytes become
// ^X.
std::string Safe(std::string_view text);
// The same without secrets.
std::string SafeMessage(std::string_view text);
// `text` without line breaks, control and direction characters, at most about `most` code points
// long: a longer one loses its middle and says its length.
std::string OnOneLine(std::string_view text, std::size_t most);
// Text of a model or a command as it goes to stdout: on a terminal control bytes become ^X; in a
// pipe it is exact. A missing final newline is added.
std::string OutputText(std::string_view text, Terminal::Kind kind);

// What was typed before a question stands on the terminal `fd` answers nothing: it is dropped.
void ForgetTyped(int fd);
// One line from the terminal `fd`, asked for by `ask`, which writes the question; none at the end
// of the input. What was typed before is dropped. kCancelled at SIGINT, SIGTERM and SIGHUP, which
// the rest of the program then sees, too: it would not notice before the line has ended.
Result<std::optional<std::string>> AskOn(int fd, const std::function<Status()>& ask);

// One line, "dossier: MESSAGE", safe for a terminal, without secrets. Returns the error's exit
// code.
int PrintError(std::ostream& err, const Error& error);
void PrintWarning(std::ostream& err, std::string_view message);

// What keeps a terminal from what others wrote: the last stop of every text on its way to one.
//
//   OutputBuffer buffer(STDOUT_FILENO);
//   TerminalFilter filter(&buffer, STDOUT_FILENO);
//   std::ostream out(&filter);
//   out << answer;                       // "\x1b]0;title\x07" is shown as ^[]0;title^G
//   out << Own("\x1b[1m");               // the program's own: passed on as it is
//
// On a terminal control characters but LF and TAB, direction marks and bytes that are no UTF-8 are
// shown instead of acted on, whoever printed them and forgot to clean them. Elsewhere every byte
// passes: what is piped is exact.
//
// Ownership: `next` stays the caller's. Thread-safety: one writer.

class TerminalFilter final : public std::streambuf {
 public:
  // `fd` says whether it is one.
  TerminalFilter(std::streambuf* next, int fd);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

  // As it is.
  void WriteOwn(std::string_view text);

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void End();

  std::streambuf* const next_;
  const bool terminal_;
  std::string begun_;  // of a code point whose end has not come
};

// Text of the program itself, with its escape sequences; what of others stands in it is clean.
struct Own {
  explicit Own(std::string_view text) : text(text) {}
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, const Own& own);

// How many columns of a terminal a text takes.
//
//   DisplayWidth("naïve")   // 5
//   DisplayWidth("東京")     // 4: wide characters take two columns
//
// By the East Asian Width tables of utf8proc (Unicode 15); combining marks take none. Terminals
// differ on emoji joined by U+200D, which count here as their first one. Thread-safety: pure
// functions.

int DisplayWidth(std::string_view text);

// As DisplayWidth, of a text that holds our own colour sequences (ESC [ … m), which take no
// columns.
int StyledWidth(std::string_view text);

// The longest start of `text` that takes at most `columns`; never half a code point, never a base
// without its combining marks.
std::string_view DisplayPrefix(std::string_view text, int columns);

// "⠙ gpt-4o 3 s" on a terminal while nothing else is to be seen, from 300 ms on.
//
//   WaitingLine waiting(terminal, std::cerr);
//   waiting.Start("gpt-4o");
//   …                          // Stop before anything is written to the same terminal
//   waiting.Stop();
//
// Draws on a thread of its own; on what is no terminal it does nothing. Thread-safety: Start and
// Stop from any thread; after Stop has returned nothing more is drawn.

class WaitingLine {
 public:
  static constexpr Millis kQuiet{300}, kStep{100};

  WaitingLine(const Terminal& terminal, std::ostream& err) : terminal_(terminal), err_(err) {}
  ~WaitingLine() { Stop(); }
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  void Start(std::string_view what);
  // Also erases what was drawn.
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
