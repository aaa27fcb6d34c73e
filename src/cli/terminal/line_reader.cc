#include "cli/terminal/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

namespace dossier::cli {

Result<InputLine> PlainLineReader::Read(const LinePrompt&) {
  std::size_t end = std::string::npos;
  while ((end = ahead_.find('\n', searched_)) == std::string::npos) {
    searched_ = ahead_.size();
    if (searched_ > kMaxLine) {
      return MakeError(ErrorCode::kTooLong, "a line on stdin is longer than {} MiB",
                       kMaxLine >> 20);
    }
    DOSSIER_ASSIGN_OR_RETURN(const More more, ReadMore());
    if (more == More::kCancelled)
      return InputLine{.kind = InputLine::Kind::kInterrupted, .text = {}};
    if (more == More::kYes) continue;
    if (ahead_.empty()) return InputLine{.kind = InputLine::Kind::kEnd, .text = {}};
    end = ahead_.size();
    break;
  }
  InputLine line{.text = ahead_.substr(0, end)};
  ahead_.erase(0, end + 1);
  searched_ = 0;
  if (line.text.ends_with('\r')) line.text.pop_back();
  return line;
}

Result<PlainLineReader::More> PlainLineReader::ReadMore() {
  while (true) {
    pollfd entries[] = {{fd_, POLLIN, 0}, {stop_.fd(), POLLIN, 0}};
    if (poll(entries, std::size(entries), -1) < 0 && errno != EINTR) {
      return MakeErrnoError(errno, "poll");
    }
    if (cancel_.cancelled()) return More::kCancelled;
    if (entries[0].revents == 0) continue;
    char bytes[65'536];
    const ssize_t got = read(fd_, bytes, sizeof(bytes));
    if (got < 0 && errno != EINTR && errno != EAGAIN) return MakeErrnoError(errno, "stdin");
    if (got < 0) continue;
    ahead_.append(bytes, static_cast<std::size_t>(got));
    return got == 0 ? More::kEnd : More::kYes;
  }
}

void PlainLineReader::Remember(std::string_view) {}

Result<InputLine> ReadMessage(LineReader& reader, const LinePrompt& prompt, MessageEnd end) {
  LinePrompt next = prompt;
  InputLine message;
  bool first = true;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(InputLine line, reader.Read(next));
    if (line.kind == InputLine::Kind::kInterrupted) {
      if (!first) line.was = InputLine::Was::kFilled;
      return line;
    }
    const bool ended = line.kind == InputLine::Kind::kEnd;
    if (ended && first) return line;
    if (end == MessageEnd::kDot && (ended || line.text == ".")) return message;
    const bool goes_on = end == MessageEnd::kDot || (!ended && line.text.ends_with('\\'));
    if (end == MessageEnd::kLine && goes_on) line.text.pop_back();
    if (!first && !ended) message.text += '\n';
    message.text += line.text;
    if (!goes_on) return message;
    first = false;
    next = {.text = "… ", .right = {}};
  }
}

HeldInput::HeldInput(When when) {
  if (when == When::kNever || tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios quiet = before_;
  // Bytes are kept one by one, as the line editor will read them; a Ctrl-D among them is a key.
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON);
  holding_ = tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
}

void HeldInput::Release() {
  if (holding_.exchange(false)) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

}  // namespace dossier::cli
