// What the command knows about the terminal it talks to, and how it prints messages.
//
//   Terminal terminal = Terminal::Detect();
//   PrintError(std::cerr, error);          // "dossier: data.csv: no such file"
//
// Thread-safety: plain data; printing is the caller's business.

#ifndef DOSSIER_CLI_TERMINAL_H_
#define DOSSIER_CLI_TERMINAL_H_

#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::cli {

struct Terminal {
  enum class Kind { kPipe, kTerminal } out = Kind::kPipe, err = Kind::kPipe;
  enum class Color { kNo, kYes } color = Color::kNo;
  int columns = 80;

  // Looks at stdout, stderr, NO_COLOR, CLICOLOR_FORCE, TERM and COLUMNS (CON-7).
  static Terminal Detect();
};

// One line, "dossier: MESSAGE", safe for a terminal, without secrets. Returns the error's exit code.
int PrintError(std::ostream& err, const Error& error);
void PrintWarning(std::ostream& err, std::string_view message);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_H_
