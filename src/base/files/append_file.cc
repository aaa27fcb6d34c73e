#include "base/files/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dossier {

Result<UniqueFd> OpenForAppend(const std::string& path, unsigned mode) {
  // Not blocking: a pipe without a reader must not hang us.
  constexpr int kFlags =
      O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  UniqueFd fd(open(path.c_str(), kFlags, mode));
  if (!fd.valid() && errno == ELOOP) {
    return MakeError(ErrorCode::kRefused, "{} is a link, and may lead anywhere", path);
  }
  if (!fd.valid() && errno == ENXIO) {
    return MakeError(ErrorCode::kConfig, "{} is no regular file", path);
  }
  if (!fd.valid()) return MakeErrnoError(errno, path);
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kConfig, "{} is no regular file", path);
  }
  if (info.st_nlink > 1) {
    return MakeError(ErrorCode::kRefused,
                     "{} has a second name (a hard link), and may be another file's content; put a "
                     "copy in its place",
                     path);
  }
  if (info.st_uid != geteuid()) {
    return MakeError(ErrorCode::kRefused,
                     "{} belongs to another user; make it your own, or move it away", path);
  }
  return fd;
}

}  // namespace dossier
