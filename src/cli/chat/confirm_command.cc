#include "cli/chat/confirm_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "base/files/file.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

using chat::Consent;

constexpr std::size_t kMaxCommandShown = 600;  // characters
constexpr std::size_t kMaxReasonShown = 200;

Consent Ask(int fd, const chat::Judged& judged) {
  const std::string question = ConsentQuestion(judged);
  while (true) {
    const auto answer = AskOn(fd, [&] { return WriteAll(fd, question); });
    if (!answer || !*answer) return Consent::kQuit;
    const std::string word = ToLowerAscii(TrimSpace(**answer));
    if (word == "y") return Consent::kYes;
    if (word == "n") return Consent::kNo;
    if (word == "a") return Consent::kAll;
    if (word == "q") return Consent::kQuit;
  }
}

}  // namespace

std::string ShownCommand(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const std::string& word : argv) words.push_back(ShellQuote(word));
  return OnOneLine(Join(words, " "), kMaxCommandShown);
}

std::string ShownReason(std::string_view reason) { return OnOneLine(reason, kMaxReasonShown); }

std::string ConsentQuestion(const chat::Judged& judged) {
  std::string text =
      fmt::format("dossier: the model asks to run\n    {}\n", ShownCommand(judged.asked));
  if (!judged.reason.empty()) text += fmt::format("  it says: {}\n", ShownReason(judged.reason));
  return text + "dossier: run it? [y/n/a/q] ";
}

Result<std::string> AskOnTerminal(std::string_view question) {
  const UniqueFd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal.valid() || isatty(STDIN_FILENO) == 0) {
    return MakeError(ErrorCode::kUsage, "there is no terminal to ask on");
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const auto answer, AskOn(terminal.get(), [&] { return WriteAll(terminal.get(), question); }));
  return answer.value_or("");
}

Result<std::function<Consent(const chat::Judged&)>> ConfirmOnTerminal() {
  auto terminal = std::make_shared<UniqueFd>(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal->valid()) {
    return MakeError(ErrorCode::kRefused, "--confirm-commands: there is no terminal to ask on");
  }
  return [terminal](const chat::Judged& judged) { return Ask(terminal->get(), judged); };
}

}  // namespace dossier::cli
