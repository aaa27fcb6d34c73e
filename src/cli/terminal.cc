#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/redact.h"
#include "base/utf8.h"

namespace dossier::cli {
namespace {

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value && value[0] != '\0';
}

Terminal::Kind KindOf(int fd) {
  return isatty(fd) ? Terminal::Kind::kTerminal : Terminal::Kind::kPipe;
}

std::string Clean(std::string_view message) {
  return utf8::CleanForTerminal(Redact(utf8::Sanitize(message)));
}

}  // namespace

Terminal Terminal::Detect() {
  Terminal terminal{.out = KindOf(STDOUT_FILENO), .err = KindOf(STDERR_FILENO)};
  const char* term = std::getenv("TERM");
  const bool dumb = !term || std::string_view(term) == "dumb";
  if (IsSet("CLICOLOR_FORCE") ||
      (terminal.err == Kind::kTerminal && !dumb && !IsSet("NO_COLOR"))) {
    terminal.color = Color::kYes;
  }
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
  }
  return terminal;
}

int PrintError(std::ostream& err, const Error& error) {
  err << "dossier: " << Clean(error.message) << "\n" << std::flush;
  return ExitCode(error.code);
}

void PrintWarning(std::ostream& err, std::string_view message) {
  err << "dossier: warning: " << Clean(message) << "\n" << std::flush;
}

}  // namespace dossier::cli
