#include "cli/terminal/input_history.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/text/redact.h"
#include "base/text/text.h"

namespace dossier::cli {
namespace {

constexpr std::uint64_t kMaxFile = 64ull * 1024 * 1024;

std::string Escape(std::string_view message) {
  return ReplaceAll(ReplaceAll(message, "\\", "\\\\"), "\n", "\\n");
}

std::string Unescape(std::string_view line) {
  std::string message;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      message += line[i];
    } else {
      ++i;
      message += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return message;
}

std::string Folder(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::vector<std::string> InputHistory::Load() const {
  std::vector<std::string> messages;
  if (path_.empty()) return messages;
  const Result<std::string> text = ReadFile(path_, kMaxFile);
  if (!text) return messages;
  for (const std::string_view line : Split(*text, '\n')) {
    if (!line.empty()) messages.push_back(Unescape(line));
  }
  if (messages.size() <= kMaxEntries) return messages;
  messages.erase(messages.begin(), messages.end() - kMaxEntries);
  std::string kept;
  for (const std::string& message : messages) kept += Escape(message) + "\n";
  // Once it is twice too long is often enough.
  if (kept.size() * 2 < text->size()) static_cast<void>(WriteFileAtomic(path_, kept, 0600));
  return messages;
}

void InputHistory::Add(std::string_view message) {
  if (path_.empty() || message.empty() || message.size() > kMaxEntry || message == last_) return;
  last_ = message;
  if (!MakeFolders(Folder(path_), 0700)) return;
  const UniqueFd file(
      open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return;
  // One write: lines of two sessions do not mix.
  static_cast<void>(WriteAll(file.get(), Escape(Redact(message)) + "\n"));
}

}  // namespace dossier::cli
