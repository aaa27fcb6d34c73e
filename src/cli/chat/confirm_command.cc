#include "cli/chat/confirm_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/files/file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/template/template_filters.h"

namespace dossier::cli {
namespace {

using chat::Consent;

constexpr std::size_t kMaxCommandShown = 600;  // characters
constexpr std::size_t kMaxReasonShown = 200;

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

Consent Ask(int fd, const chat::Judged& judged) {
  const std::string question = ConsentQuestion(judged);
  while (true) {
    if (!WriteAll(fd, question)) return Consent::kQuit;
    const auto answer = ReadLine(fd);
    if (!answer) return Consent::kQuit;
    const std::string word = ToLowerAscii(TrimSpace(*answer));
    if (word == "y") return Consent::kYes;
    if (word == "n") return Consent::kNo;
    if (word == "a") return Consent::kAll;
    if (word == "q") return Consent::kQuit;
  }
}

// Characters that break a line, or show what follows in another order.
bool TurnsText(char32_t code_point) {
  return code_point == 0x61C || code_point == 0x200E || code_point == 0x200F ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

}  // namespace

std::string ConsentQuestion(const chat::Judged& judged) {
  std::vector<std::string> words;
  for (const std::string& word : judged.asked) words.push_back(sources::ShellQuote(word));
  std::string text = fmt::format("dossier: the model asks to run\n    {}\n",
                                 OnOneLine(Join(words, " "), kMaxCommandShown));
  if (!judged.reason.empty()) {
    text += fmt::format("  it says: {}\n", OnOneLine(judged.reason, kMaxReasonShown));
  }
  return text + "dossier: run it? [y/n/a/q] ";
}

std::string OnOneLine(std::string_view text, std::size_t most) {
  const std::string clean = utf8::CleanForTerminal(utf8::Sanitize(text));
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
  // The middle goes: what a command does stands at its start, and what it does it to at its end.
  const std::size_t kept = most / 2;
  return fmt::format("{} [… {} characters in all …] {}", utf8::Prefix(line, kept), length,
                     utf8::Suffix(line, kept));
}

Result<std::string> AskOnTerminal(std::string_view question) {
  const UniqueFd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal.valid() || isatty(STDIN_FILENO) == 0) {
    return MakeError(ErrorCode::kUsage, "there is no terminal to ask on");
  }
  DOSSIER_RETURN_IF_ERROR(WriteAll(terminal.get(), question));
  return ReadLine(terminal.get()).value_or("");
}

Result<std::function<Consent(const chat::Judged&)>> ConfirmOnTerminal() {
  auto terminal = std::make_shared<UniqueFd>(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal->valid()) {
    return MakeError(ErrorCode::kRefused, "--confirm-commands: there is no terminal to ask on");
  }
  return [terminal](const chat::Judged& judged) { return Ask(terminal->get(), judged); };
}

}  // namespace dossier::cli
