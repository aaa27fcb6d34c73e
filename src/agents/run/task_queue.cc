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

Status MoveTask(const std::string& root, std::string_view file, Queue queue) {
  const auto wanted = PathInQueue(file, queue);
  if (!wanted) return {};
  const std::string to = fmt::format("{}/{}", root, *wanted);
  for (const Queue place : {Queue::kPending, Queue::kCurrent, Queue::kComplete}) {
    const std::string from = fmt::format("{}/{}", root, *PathInQueue(file, place));
    if (place == queue || !Exists(from)) continue;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(to.substr(0, to.rfind('/'))));
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
    return MakeErrnoError(errno, fmt::format("move {} to {}", from, to));
  }
  return {};
}

}  // namespace dossier::agents
