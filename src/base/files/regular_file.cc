#include "base/files/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace dossier {
namespace {

constexpr mode_t kGroupAndOthers = S_IWGRP | S_IWOTH;

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

std::int64_t NanosSinceEpoch(const timespec& time) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(std::int64_t{time.tv_sec}, kPerSecond, &nanos) ||
      __builtin_add_overflow(nanos, std::int64_t{time.tv_nsec}, &nanos)) {
    return time.tv_sec < 0 ? Limits::min() : Limits::max();
  }
  return nanos;
}

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
  return ReadAll(fd.get(), path, max_bytes);
}

Result<std::string> ReadOwnedFile(const std::string& path, std::uint64_t max_bytes) {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, &info));
  DOSSIER_RETURN_IF_ERROR(CheckFileOwner(info, path));
  return ReadAll(fd.get(), path, max_bytes);
}

}  // namespace dossier
