#include "base/files/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace dossier {
namespace {

constexpr mode_t kGroupAndOthers = S_IWGRP | S_IWOTH;

Result<std::string> ReadToEnd(int fd, const std::string& path, std::uint64_t max_bytes) {
  constexpr std::size_t kBlock = 64 << 10;
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    const ssize_t got = read(fd, text.data() + before, kBlock);
    text.resize(before + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (text.size() > max_bytes) {
      return MakeError(ErrorCode::kTooLong, "{}: larger than {} bytes", path, max_bytes);
    }
    if (got == 0) return text;
  }
}

Status CheckOwner(const struct stat& info, const std::string& path, mode_t others) {
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return MakeError(ErrorCode::kRefused,
                     "{} belongs to another user; make it your own, or move it away", path);
  }
  if ((info.st_mode & others) != 0) {
    return MakeError(ErrorCode::kRefused, "{} may be written by others; run: chmod go-w {}", path,
                     path);
  }
  return {};
}

}  // namespace

Result<UniqueFd> OpenRegularFile(const std::string& path, struct stat* info) {
  // Not blocking: a pipe without a writer must not hang us.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) {
    if (errno == ENXIO) return MakeError(ErrorCode::kConfig, "{} is no regular file", path);
    return MakeErrnoError(errno, path);
  }
  if (fstat(fd.get(), info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISREG(info->st_mode)) {
    return MakeError(ErrorCode::kConfig, "{} is no regular file", path);
  }
  return fd;
}

Status CheckFileOwner(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kConfig, "{} is no regular file", path);
  }
  return CheckOwner(info, path, kGroupAndOthers);
}

Status CheckOwnPath(const std::string& path, PathKind kind) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return {};
  if (S_ISLNK(info.st_mode)) {
    return MakeError(ErrorCode::kRefused, "{} is a link, and may lead anywhere", path);
  }
  const bool right = kind == PathKind::kFile ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode);
  if (!right) {
    return MakeError(ErrorCode::kConfig, "{} is no {}", path,
                     kind == PathKind::kFile ? "regular file" : "folder");
  }
  // Folders are made with the group's right on machines where each user is a group.
  return CheckOwner(info, path, kind == PathKind::kFile ? kGroupAndOthers : S_IWOTH);
}

Result<std::string> ReadRegularFile(const std::string& path, std::uint64_t max_bytes) {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, &info));
  return ReadToEnd(fd.get(), path, max_bytes);
}

Result<std::string> ReadOwnedFile(const std::string& path, std::uint64_t max_bytes) {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, &info));
  DOSSIER_RETURN_IF_ERROR(CheckFileOwner(info, path));
  return ReadToEnd(fd.get(), path, max_bytes);
}

}  // namespace dossier
