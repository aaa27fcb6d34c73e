#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/redact.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

Terminal::Kind KindOf(int fd) {
  return isatty(fd) ? Terminal::Kind::kTerminal : Terminal::Kind::kPipe;
}

std::string Clean(std::string_view message) {
  return utf8::CleanForTerminal(Redact(utf8::Sanitize(message)));
}

}  // namespace

int ColumnsNow(const Terminal& terminal) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : terminal.columns;
}

Terminal Terminal::Detect(ColorWish wish) {
  Terminal terminal{.out = KindOf(STDOUT_FILENO), .err = KindOf(STDERR_FILENO)};
  terminal.color = DecideColor(wish, config::ProcessVariables(), terminal.err);
  terminal.columns = ColumnsNow(terminal);
  return terminal;
}

Terminal::Color DecideColor(ColorWish wish, const config::Variables& variables,
                            Terminal::Kind kind) {
  using Color = Terminal::Color;
  if (wish != ColorWish::kAuto) return wish == ColorWish::kAlways ? Color::kYes : Color::kNo;
  if (config::Lookup(variables, "NO_COLOR")) return Color::kNo;
  if (config::Lookup(variables, "CLICOLOR_FORCE").value_or("0") != "0") return Color::kYes;
  if (config::Lookup(variables, "TERM").value_or("dumb") == "dumb") return Color::kNo;
  return kind == Terminal::Kind::kTerminal ? Color::kYes : Color::kNo;
}

ColorWish ParseColorWish(std::string_view word) {
  if (word == "always") return ColorWish::kAlways;
  return word == "never" ? ColorWish::kNever : ColorWish::kAuto;
}

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(utf8::Sanitize(text)); }

std::string OutputText(std::string_view text, Terminal::Kind kind) {
  std::string out = kind == Terminal::Kind::kTerminal ? Safe(text) : std::string(text);
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out;
}

int PrintError(std::ostream& err, const Error& error) {
  err << "dossier: " << Clean(error.message) << "\n" << std::flush;
  return ExitCode(error.code);
}

void PrintWarning(std::ostream& err, std::string_view message) {
  err << "dossier: warning: " << Clean(message) << "\n" << std::flush;
}

}  // namespace dossier::cli
