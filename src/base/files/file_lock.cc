#include "base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>

namespace dossier {

Result<FileLock> FileLock::Take(const std::string& path, Millis limit, const CancelToken& cancel) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  const auto until = std::chrono::steady_clock::now() + limit;
  // The kernel has no wait with a limit for this lock.
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return MakeErrnoError(errno, "lock " + path);
    if (cancel.cancelled()) {
      return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason());
    }
    if (std::chrono::steady_clock::now() >= until) {
      return MakeError(ErrorCode::kLocked, "another dossier has held {} for {} s", path,
                       limit.count() / 1000);
    }
    std::this_thread::sleep_for(Millis(20));
  }
  return FileLock(std::move(fd));
}

}  // namespace dossier
