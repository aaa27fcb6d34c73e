#include "cli/terminal/line_reader.h"

#include <unistd.h>

#include <utility>

namespace dossier::cli {

Result<InputLine> PlainLineReader::Read(const LinePrompt&) {
  auto read = lines_.Next();
  if (!read && read.error().code == ErrorCode::kCancelled) {
    return InputLine{.kind = InputLine::Kind::kInterrupted, .text = {}};
  }
  if (!read) return tl::unexpected(std::move(read).error());
  if (!*read) return InputLine{.kind = InputLine::Kind::kEnd, .text = {}};
  InputLine line{.text = **std::move(read)};
  if (line.text.ends_with('\r')) line.text.pop_back();
  return line;
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
  // Bytes are held one by one, as the line editor will read them; a Ctrl-D among them is a key.
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON);
  quiet.c_lflag |= NOFLSH;  // otherwise Ctrl-C discards what was typed before
  holding_ = tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
}

void HeldInput::Release() {
  if (holding_.exchange(false)) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

}  // namespace dossier::cli
