// What the command knows about the terminal it talks to, and how it prints messages.
//
//   Terminal terminal = Terminal::Detect();
//   PrintError(std::cerr, error);          // "dossier: data.csv: no such file"
//
// Thread-safety: plain data; printing is the caller's business.

#ifndef DOSSIER_CLI_TERMINAL_TERMINAL_H_
#define DOSSIER_CLI_TERMINAL_TERMINAL_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
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

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_TERMINAL_H_
