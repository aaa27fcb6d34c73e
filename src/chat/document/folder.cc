#include "chat/document/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/ascii.h"
#include "chat/document/document.h"

namespace dossier::chat {
namespace {

constexpr std::string_view kEnding = ".json";
constexpr std::time_t kStaleSeconds = 3600;  // no save takes that long

bool IsIdChar(char c) { return IsAlnum(c) || c == '-' || c == '_'; }

std::string LockPath(const std::string& folder, std::string_view id) {
  return fmt::format("{}/.{}.lock", folder, id);
}

Status SyncFolder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return MakeErrnoError(errno, "sync " + folder);
  return {};
}

Status WritePieces(int fd, const std::string& path, std::span<const std::string_view> pieces) {
  for (const std::string_view piece : pieces) {
    const Status written = WriteAll(fd, piece);
    if (!written) {
      return MakeError(ErrorCode::kIo, "write {}: {}", path, written.error().message);
    }
  }
  if (::fsync(fd) != 0) return MakeErrnoError(errno, "sync " + path);
  return {};
}

Result<std::string> ReadWhole(int fd, const std::string& path, std::uint64_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::read(fd, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return MakeErrnoError(errno, "read " + path);
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  text.resize(at);
  return text;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Removes a file that a killed process left during a save.
void RemoveIfStale(int folder, const char* name) {
  struct stat info;
  if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (std::time(nullptr) - info.st_mtime > kStaleSeconds) ::unlinkat(folder, name, 0);
}

}  // namespace

Status CheckId(std::string_view id) {
  const bool valid =
      !id.empty() && id.size() <= kMaxIdLength && std::all_of(id.begin(), id.end(), IsIdChar);
  if (valid) return {};
  if (id.size() > kMaxIdLength) {
    return MakeError(ErrorCode::kNotFound,
                     "invalid conversation id: it has {} characters, and at most {} are possible",
                     id.size(), kMaxIdLength);
  }
  return MakeError(ErrorCode::kNotFound,
                   "invalid conversation id '{}': use letters, digits, - and _", id);
}

std::string MakeId() { return "conv-" + RandomHex(8); }

std::string RecoveredId(std::string_view id) {
  const std::string ending = "-recovered-" + RandomHex(8);
  return std::string(id.substr(0, kMaxIdLength - ending.size())) + ending;
}

std::string PathOf(const std::string& folder, std::string_view id) {
  return fmt::format("{}/{}{}", folder, id, kEnding);
}

Result<std::optional<std::string>> ReadConversation(const std::string& folder,
                                                    std::string_view id) {
  DOSSIER_RETURN_IF_ERROR(CheckId(id));
  const std::string path = PathOf(folder, id);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    if (errno == ELOOP) {
      return MakeError(ErrorCode::kDamaged,
                       "conversation {} is a symbolic link, which is not "
                       "followed: {}",
                       id, path);
    }
    return MakeErrnoError(errno, "open " + path);
  }
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return MakeErrnoError(errno, "stat " + path);
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kDamaged, "conversation {} is not a regular file: {}", id, path);
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > Document::kMaxBytes) {
    return MakeError(ErrorCode::kDamaged, "conversation {} has {} bytes; at most {} are read", id,
                     size, Document::kMaxBytes);
  }
  DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadWhole(fd.get(), path, size));
  return std::optional<std::string>(std::move(text));
}

Result<FileLock> LockConversation(const std::string& folder, std::string_view id, Millis wait,
                                  const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckId(id));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  auto lock = FileLock::Take(LockPath(folder, id), wait, cancel);
  if (!lock && lock.error().code == ErrorCode::kLocked) {
    return MakeError(ErrorCode::kLocked,
                     "conversation {} is in use by another process; it was waited for {} s", id,
                     std::chrono::duration_cast<std::chrono::seconds>(wait).count());
  }
  return lock;
}

Status ReplaceFile(const std::string& folder, std::string_view id,
                   std::span<const std::string_view> pieces) {
  const std::string temporary =
      fmt::format("{}/.{}.{}-{}.tmp", folder, id, ::getpid(), RandomHex(8));
  const auto write = [&]() -> Status {
    const UniqueFd fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.valid()) return MakeErrnoError(errno, "make " + temporary);
    DOSSIER_RETURN_IF_ERROR(WritePieces(fd.get(), PathOf(folder, id), pieces));
    if (::rename(temporary.c_str(), PathOf(folder, id).c_str()) != 0) {
      return MakeErrnoError(errno, "rename " + temporary);
    }
    return SyncFolder(folder);
  };
  const Status done = write();
  if (!done) ::unlink(temporary.c_str());
  return done;
}

Status RemoveFiles(const std::string& folder, std::string_view id) {
  for (const std::string& path : {PathOf(folder, id), LockPath(folder, id)}) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return MakeErrnoError(errno, "remove " + path);
    }
  }
  return {};
}

Result<std::vector<FileEntry>> ListFolder(const std::string& folder) {
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  std::vector<FileEntry> out;
  if (!open) {
    if (errno == ENOENT) return out;
    return MakeErrnoError(errno, "list " + folder);
  }
  const int fd = ::dirfd(open.get());
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view name(entry->d_name);
    if (name.starts_with('.')) {
      if (name.ends_with(".tmp")) RemoveIfStale(fd, entry->d_name);
      continue;
    }
    if (!name.ends_with(kEnding)) continue;
    const std::string_view id = name.substr(0, name.size() - kEnding.size());
    if (!CheckId(id)) continue;
    struct stat info;
    if (::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    out.push_back({.id = std::string(id),
                   .size = static_cast<std::uint64_t>(info.st_size),
                   .inode = info.st_ino,
                   .mtime_ns = NanosSinceEpoch(info.st_mtim)});
  }
  return out;
}

}  // namespace dossier::chat
