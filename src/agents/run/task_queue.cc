#include "agents/run/task_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>

#include <array>
#include <cerrno>

#include "base/files/file.h"

namespace dossier::agents {
namespace {

constexpr std::array<std::string_view, 3> kFolders = {"pending", "current", "complete"};
constexpr int kMostNames = 1000;

// "complete/a.json" with 2 is "complete/a-2.json".
std::string Numbered(const std::string& path, int number) {
  if (number == 1) return path;
  const std::size_t dot = path.rfind('.');
  const std::size_t end = dot == std::string::npos || dot < path.rfind('/') ? path.size() : dot;
  return fmt::format("{}-{}{}", path.substr(0, end), number, path.substr(end));
}

}  // namespace

std::optional<std::string> PathInQueue(std::string_view file, Queue queue) {
  const std::size_t name = file.rfind('/');
  if (name == std::string_view::npos) return std::nullopt;
  const std::string_view folder = file.substr(0, name);
  const std::size_t parent = folder.rfind('/');
  const std::string_view last =
      parent == std::string_view::npos ? folder : folder.substr(parent + 1);
  for (const std::string_view one : kFolders) {
    if (one != last) continue;
    return fmt::format("{}{}{}", folder.substr(0, folder.size() - last.size()),
                       kFolders[static_cast<std::size_t>(queue)], file.substr(name));
  }
  return std::nullopt;
}

Result<std::string> MoveTask(const std::string& root, std::string_view file, Queue queue) {
  const auto wanted = PathInQueue(file, queue);
  if (!wanted) return std::string(file);
  const auto full = [&](std::string_view path) { return fmt::format("{}/{}", root, path); };
  std::string from(file);
  for (const Queue place : {Queue::kCurrent, Queue::kPending, Queue::kComplete}) {
    if (!Exists(full(from))) from = *PathInQueue(file, place);
  }
  if (!Exists(full(from)) || PathInQueue(from, queue) == from) return from;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(full(wanted->substr(0, wanted->rfind('/')))));
  for (int number = 1; number <= kMostNames; ++number) {
    const std::string to = Numbered(*wanted, number);
    if (renameat2(AT_FDCWD, full(from).c_str(), AT_FDCWD, full(to).c_str(), RENAME_NOREPLACE) == 0)
      return to;
    if (errno != EEXIST) {
      return MakeErrnoError(errno, fmt::format("move {} to {}", full(from), full(to)));
    }
  }
  return MakeErrnoError(EEXIST, fmt::format("move {} to {}", full(from), full(*wanted)));
}

}  // namespace dossier::agents
