#include "cli/terminal/held_input.h"

#include <unistd.h>

namespace dossier::cli {

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
