#include "cli/chat/chat_dialogs.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/files/file.h"
#include "base/process/child.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
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

namespace {

constexpr std::uint64_t kMaxMessage = 16 << 20;

std::string EditorCommand() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value && value[0] != '\0') return value;
  }
  return "vi";
}

// Uses the shell, as $EDITOR may contain flags, and default signals, as a foreground program needs.
Result<int> RunOnTerminal(const std::string& command, const std::string& path) {
  const std::string script = command + " \"$1\"";
  const char* argv[] = {"/bin/sh", "-c", script.c_str(), "sh", path.c_str(), nullptr};
  const SpawnAttributes attributes(SpawnGroup::kOurs);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], nullptr, attributes.get(),
                                 const_cast<char* const*>(argv), environ);
  if (failed != 0) return MakeErrnoError(failed, fmt::format("cannot run {}", command));
  RestoreFileLimit(pid);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

Result<std::string> EditMessage(std::string_view text) {
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make());
  const std::string path = folder.path() + "/message.md";
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, text, 0600));
  const std::string editor = EditorCommand();
  DOSSIER_ASSIGN_OR_RETURN(const int code, RunOnTerminal(editor, path));
  if (code != 0) {
    return MakeError(ErrorCode::kFailed,
                     "the editor `{}` ended with code {}; set $VISUAL or $EDITOR", editor, code);
  }
  DOSSIER_ASSIGN_OR_RETURN(std::string message, ReadFile(path, kMaxMessage));
  if (!utf8::IsValid(message)) {
    return MakeError(ErrorCode::kUsage, "the edited message is not UTF-8; it is not sent");
  }
  message.erase(message.find_last_not_of(" \t\r\n") + 1);
  return message;
}

namespace {

constexpr std::size_t kShown = 20;

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != text.npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(ToLowerAscii(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

void Show(const std::vector<chat::Listed>& list, int columns, std::ostream& err) {
  const std::size_t count = std::min(list.size(), kShown);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < count; ++i) widest = std::max(widest, list[i].id.size());
  for (std::size_t i = 0; i < count; ++i) {
    const chat::Listed& one = list[i];
    const std::string line = fmt::format(
        "{:>3}  {}  {:<{}}  {}", i + 1, Safe(one.updated_at).substr(0, 10), one.id, widest,
        Safe(one.title));
    err << DisplayPrefix(line, columns - 1) << "\n";
  }
  if (list.size() > count) err << fmt::format("     and {} more\n", list.size() - count);
}

}  // namespace

std::vector<chat::Listed> Narrowed(const std::vector<chat::Listed>& list, std::string_view words) {
  const std::vector<std::string> wanted = WordsOf(words);
  std::vector<chat::Listed> out;
  for (const chat::Listed& one : list) {
    const std::string text = ToLowerAscii(one.id + "\n" + one.model + "\n" + one.title);
    const bool all = std::ranges::all_of(
        wanted, [&](const std::string& word) { return text.find(word) != text.npos; });
    if (all) out.push_back(one);
  }
  return out;
}

std::string PickConversation(const std::vector<chat::Listed>& list, int columns,
                             const ReadAnswer& read, std::ostream& err) {
  std::vector<chat::Listed> shown = list;
  while (true) {
    Show(shown, columns, err);
    const std::optional<std::string> line =
        read("number, words to narrow the list, or nothing to leave: ");
    if (!line || TrimSpace(*line).empty()) return {};
    const auto number = ParseNumber(TrimSpace(*line));
    const std::size_t most = std::min(shown.size(), kShown);
    if (number && *number >= 1 && *number <= static_cast<double>(most)) {
      return shown[static_cast<std::size_t>(*number) - 1].id;
    }
    std::vector<chat::Listed> narrowed = Narrowed(list, *line);
    if (narrowed.size() == 1) return narrowed.front().id;
    if (narrowed.empty()) {
      err << "none of them holds these words\n";
    } else {
      shown = std::move(narrowed);
    }
  }
}

}  // namespace dossier::cli
