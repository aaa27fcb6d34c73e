#include "cli/chat/edit_message.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files/file.h"
#include "base/process/child.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

constexpr std::uint64_t kMaxMessage = 16 << 20;

std::string EditorCommand() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value && value[0] != '\0') return value;
  }
  return "vi";
}

// By the shell, as $EDITOR may hold flags; with default signals, as a foreground program expects.
Result<int> RunOnTerminal(const std::string& command, const std::string& path) {
  const std::string script = command + " \"$1\"";
  const char* argv[] = {"/bin/sh", "-c", script.c_str(), "sh", path.c_str(), nullptr};
  const SpawnAttributes attributes(SpawnGroup::kOurs);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], nullptr, attributes.get(),
                                 const_cast<char* const*>(argv), environ);
  if (failed != 0) return MakeErrnoError(failed, fmt::format("cannot run {}", command));
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

}  // namespace dossier::cli
