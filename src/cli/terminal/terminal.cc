#include "cli/terminal/terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/redact.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

Terminal::Kind KindOf(int fd) {
  return isatty(fd) ? Terminal::Kind::kTerminal : Terminal::Kind::kPipe;
}

// Characters that break a line, or change the order in which the following text is shown.
bool TurnsText(char32_t code_point) {
  return code_point == 0x61C || code_point == 0x200E || code_point == 0x200F ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

// Returns JSON text that cannot affect the terminal but is still valid: inside its strings such
// characters become JSON escapes.
std::string SafeJson(std::string_view json) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    std::string character;
    const char32_t code_point = utf8::Next(json, &at);
    utf8::Append(code_point, &character);
    if (utf8::CleanForTerminal(character) == character) {
      out += character;
    } else if (code_point >= 0x10000) {
      const auto beyond = static_cast<std::uint32_t>(code_point) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (beyond >> 10), 0xDC00 + (beyond & 0x3FF));
    } else if (code_point >= 0x20) {  // lower ones are only white space between values
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code_point));
    }
  }
  return out;
}

// Catches SIGINT, SIGTERM and SIGHUP while it lives, and wakes the waiting thread. The handler only
// records the signal, so none is lost between a check and a wait.
class EndingSignals {
 public:
  EndingSignals() : wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    caught = 0;
    wakeup = wakeup_.get();
    struct sigaction stop = {};
    stop.sa_handler = [](int signal) {
      caught = signal;
      eventfd_write(wakeup, 1);
    };
    sigset_t ending;
    sigemptyset(&ending);
    for (std::size_t i = 0; i < kEnding.size(); ++i) {
      sigaction(kEnding[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;  // nohup(1)
      sigaddset(&ending, kEnding[i]);
      sigaction(kEnding[i], &stop, nullptr);
    }
    pthread_sigmask(SIG_UNBLOCK, &ending, &mask_);
  }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  ~EndingSignals() {
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &before_[i], nullptr);
    if (caught != 0) kill(getpid(), caught);  // the rest of the program gets it too
  }

  // Returns true when `fd` can be read, false when a signal came first.
  bool WaitFor(int fd) const {
    std::array<pollfd, 2> waiting = {pollfd{fd, POLLIN, 0}, pollfd{wakeup_.get(), POLLIN, 0}};
    while (caught == 0 && poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
    }
    return caught == 0;
  }
  bool Caught() const { return caught != 0; }

 private:
  static constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};
  // A handler may only use data that outlives it.
  static inline thread_local volatile std::sig_atomic_t caught;
  static inline thread_local volatile std::sig_atomic_t wakeup;

  UniqueFd wakeup_;
  std::array<struct sigaction, kEnding.size()> before_ = {};
  sigset_t mask_ = {};
};

// Returns the size of the window behind stderr; zeros if there is none.
winsize WindowNow() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

}  // namespace

int ColumnsNow(const Terminal& terminal) {
  const int columns = WindowNow().ws_col;
  return columns > 0 ? columns : terminal.columns;
}

int RowsNow(const Terminal& terminal) {
  const int rows = WindowNow().ws_row;
  return rows > 0 ? rows : terminal.rows;
}

Terminal Terminal::Detect(ColorWish wish) {
  Terminal terminal{.out = KindOf(STDOUT_FILENO), .err = KindOf(STDERR_FILENO)};
  terminal.color = DecideColor(wish, config::ProcessVariables(), terminal.err);
  const auto term = config::Lookup(config::ProcessVariables(), "TERM");
  if (!term.value_or("").empty() && *term != "dumb") terminal.cursor = Terminal::Cursor::kMoves;
  terminal.columns = ColumnsNow(terminal);
  terminal.rows = RowsNow(terminal);
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

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(text); }
std::string SafeMessage(std::string_view text) { return Safe(Redact(text)); }

std::string OnOneLine(std::string_view text, std::size_t most) {
  const std::string clean = Safe(text);
  std::string line;
  for (std::size_t at = 0; at < clean.size();) {
    const char32_t code_point = utf8::Next(clean, &at);
    if (code_point == '\n') {
      line += "\\n";
    } else if (code_point == '\t') {
      line += "\\t";
    } else if (TurnsText(code_point)) {
      line += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(code_point));
    } else {
      utf8::Append(code_point, &line);
    }
  }
  const std::size_t length = utf8::CodePoints(line);
  if (length <= most) return line;
  // Cut the middle: a command's start says what it does, its end what it does it to.
  const std::size_t kept = most / 2;
  return fmt::format("{} [… {} characters in all …] {}", utf8::Prefix(line, kept), length,
                     utf8::Suffix(line, kept));
}

std::string OutputText(std::string_view text, Terminal::Kind kind) {
  std::string out(text);
  if (kind == Terminal::Kind::kTerminal) {
    out = Safe(text);
    if (out != text && ParseJson(text)) out = SafeJson(text);
  }
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out;
}

void ForgetTyped(int fd) { tcflush(fd, TCIFLUSH); }

Result<std::optional<std::string>> AskOn(int fd, const std::function<Status()>& ask) {
  const EndingSignals signals;
  ForgetTyped(fd);
  DOSSIER_RETURN_IF_ERROR(ask());
  std::string line;
  char c = 0;
  ssize_t got = 0;
  while (signals.WaitFor(fd) && (got = read(fd, &c, 1)) == 1 && c != '\n') line += c;
  if (signals.Caught()) return MakeError(ErrorCode::kCancelled, "ended at a question");
  return got == 1 || (got == 0 && !line.empty()) ? std::optional(line) : std::nullopt;
}

int PrintError(std::ostream& err, const Error& error) {
  err << "dossier: " << SafeMessage(error.message) << "\n" << std::flush;
  return ExitCode(error.code);
}

void PrintWarning(std::ostream& err, std::string_view message) {
  err << "dossier: warning: " << SafeMessage(message) << "\n" << std::flush;
}

namespace {

constexpr std::size_t kLongest = 4;  // bytes of a code point

// Returns how many bytes at the end of `text` may be the start of an incomplete code point.
std::size_t OpenEnd(std::string_view text) {
  for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

}  // namespace

TerminalFilter::TerminalFilter(std::streambuf* next, int fd)
    : next_(next), terminal_(isatty(fd) == 1) {}

TerminalFilter::~TerminalFilter() { End(); }

void TerminalFilter::WriteOwn(std::string_view text) {
  End();
  next_->sputn(text.data(), static_cast<std::streamsize>(text.size()));
}

// An incomplete code point is shown as invalid bytes.
void TerminalFilter::End() {
  if (begun_.empty()) return;
  const std::string shown = utf8::Sanitize(begun_);
  begun_.clear();
  next_->sputn(shown.data(), static_cast<std::streamsize>(shown.size()));
}

TerminalFilter::int_type TerminalFilter::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize TerminalFilter::xsputn(const char* text, std::streamsize size) {
  if (!terminal_) return next_->sputn(text, size);
  const std::string all = begun_ + std::string(text, static_cast<std::size_t>(size));
  const std::string_view whole = std::string_view(all).substr(0, all.size() - OpenEnd(all));
  begun_ = all.substr(whole.size());
  const std::string shown = utf8::CleanForTerminal(whole);
  const auto length = static_cast<std::streamsize>(shown.size());
  return next_->sputn(shown.data(), length) == length ? size : 0;
}

int TerminalFilter::sync() { return next_->pubsync(); }

std::ostream& operator<<(std::ostream& out, const Own& own) {
  if (auto* filter = dynamic_cast<TerminalFilter*>(out.rdbuf())) {
    filter->WriteOwn(own.text);
    return out;
  }
  return out << own.text;
}

namespace {

constexpr char32_t kJoiner = 0x200D;

// The end of the longest start that fits into `columns`, and its width.
struct Measured {
  std::size_t bytes = 0;
  int columns = 0;
};

Measured Measure(std::string_view text, int columns) {
  Measured measured;
  bool joined = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code_point = utf8::Next(text, &at);
    const int width =
        joined ? 0 : std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point)));
    if (width > columns - measured.columns) break;
    measured.columns += width;
    measured.bytes = at;
    joined = code_point == kJoiner;
  }
  return measured;
}

}  // namespace

int DisplayWidth(std::string_view text) {
  return Measure(text, std::numeric_limits<int>::max()).columns;
}

int StyledWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find('\x1b'), text.size());
    width += DisplayWidth(text.substr(0, escape));
    const std::size_t end = text.find('m', escape);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return width;
}

std::string_view DisplayPrefix(std::string_view text, int columns) {
  return text.substr(0, Measure(text, columns).bytes);
}

namespace {

constexpr std::string_view kFrames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};

}  // namespace

std::string FittingLine(const std::string& indent, std::vector<LinePart> parts, int columns) {
  std::erase_if(parts, [](const LinePart& part) { return part.text.empty(); });
  while (!parts.empty()) {
    std::string line = indent;
    for (const LinePart& part : parts) line += (line == indent ? "" : "  ") + part.text;
    if (DisplayWidth(line) <= columns) return line;
    parts.erase(std::ranges::min_element(parts, {}, &LinePart::rank));
  }
  return {};
}

int LiveLines::columns() const { return std::max(2, ColumnsNow(terminal_)) - 1; }
int LiveLines::rows() const { return std::max(2, RowsNow(terminal_)) - 1; }

void LiveLines::Above(std::string_view line) { above_ += fmt::format("{}\x1b[K\n", line); }

void LiveLines::Draw(const std::vector<std::string>& lines) {
  std::string frame = ToStart() + std::exchange(above_, {});
  widths_.clear();
  for (const std::string& line : lines) {
    frame += (widths_.empty() ? "" : "\n") + line + "\x1b[K";
    widths_.push_back(DisplayWidth(line));
  }
  err_ << Own(frame + "\x1b[J") << std::flush;
}

// Clears no whole screen: tmux would keep a copy of it in its history.
void LiveLines::Erase() {
  const std::string rest = DrawnRows() > 1 ? "\n\x1b[J\x1b[1A" : "";
  const std::string clear = widths_.empty() ? "" : ToStart() + "\x1b[K" + rest;
  err_ << Own(clear + std::exchange(above_, {})) << std::flush;
  widths_.clear();
}

// In a window that became narrower the terminal has wrapped the lines that were drawn.
int LiveLines::DrawnRows() const {
  int rows = 0;
  for (const int width : widths_) rows += std::max(0, width - 1) / (columns() + 1) + 1;
  return rows;
}

// Moves to the first column of the first line.
std::string LiveLines::ToStart() const {
  if (widths_.empty()) return {};
  return DrawnRows() > 1 ? fmt::format("\r\x1b[{}A", DrawnRows() - 1) : "\r";
}

void WaitingLine::Start(std::string_view what) {
  if (terminal_.err != Terminal::Kind::kTerminal) return;
  Stop();
  std::lock_guard lock(thread_mutex_);
  stopping_ = false;
  thread_ = std::thread([this, what = utf8::CleanForTerminal(what)] { Draw(what); });
}

void WaitingLine::Stop() {
  std::lock_guard lock(thread_mutex_);
  if (!thread_.joinable()) return;
  {
    std::lock_guard state(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WaitingLine::Draw(const std::string& what) {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kQuiet, [this] { return stopping_; })) return;
  // Overwrites with spaces instead of an escape sequence, which also works under NO_COLOR.
  std::size_t width = 0;
  for (std::size_t frame = 0; !stopping_; ++frame) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
    const std::string line =
        fmt::format("{} {} {} s", kFrames[frame % std::size(kFrames)], what, seconds.count());
    const std::string_view shown = DisplayPrefix(line, ColumnsNow(terminal_) - 1);
    width = std::max(width, static_cast<std::size_t>(DisplayWidth(shown)));
    err_ << Own("\r") << shown << std::flush;
    changed_.wait_for(lock, kStep, [this] { return stopping_; });
  }
  err_ << Own("\r") << std::string(width, ' ') << Own("\r") << std::flush;
}

}  // namespace dossier::cli
