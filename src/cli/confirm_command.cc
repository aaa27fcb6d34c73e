#include "cli/confirm_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

namespace dossier::cli {
namespace {

using conversation::Consent;

// One line; nullopt at the end of input.
std::optional<std::string> ReadLine(int fd) {
  std::string line;
  char byte = 0;
  while (true) {
    const ssize_t got = read(fd, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return line.empty() ? std::nullopt : std::optional(line);
    if (byte == '\n') return line;
    line += byte;
  }
}

Consent Ask(int fd, const conversation::Judged& judged) {
  const std::string command = Join(judged.asked, " ");
  std::string question = "run " + command;
  if (!judged.reason.empty()) question += "  (" + judged.reason + ")";
  while (true) {
    const std::string line =
        "dossier: " + utf8::CleanForTerminal(utf8::Sanitize(question)) + " ? [y/n/a/q] ";
    if (!WriteAll(fd, line)) return Consent::kQuit;
    const auto answer = ReadLine(fd);
    if (!answer) return Consent::kQuit;
    const std::string word = ToLowerAscii(TrimSpace(*answer));
    if (word == "y") return Consent::kYes;
    if (word == "n") return Consent::kNo;
    if (word == "a") return Consent::kAll;
    if (word == "q") return Consent::kQuit;
  }
}

}  // namespace

Result<std::function<Consent(const conversation::Judged&)>> ConfirmOnTerminal() {
  auto terminal = std::make_shared<UniqueFd>(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal->valid()) {
    return MakeError(ErrorCode::kRefused, "--confirm-commands: there is no terminal to ask on");
  }
  return [terminal](const conversation::Judged& judged) { return Ask(terminal->get(), judged); };
}

}  // namespace dossier::cli
