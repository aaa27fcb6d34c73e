#include "base/files/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "base/random.h"

namespace dossier {
namespace {

std::string TempRoot() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen && chosen[0] == '/' ? chosen : "/tmp";
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void UniqueFd::Reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Result<std::string> ReadFile(const std::string& path, std::uint64_t max_bytes) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return ReadAll(fd.get(), path, max_bytes);
}

Result<std::string> ReadAll(int fd, std::string_view name, std::uint64_t max_bytes) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return MakeErrnoError(errno, name);
  const auto too_long = [&] {
    return MakeError(ErrorCode::kTooLong, "{}: larger than {} bytes", name, max_bytes);
  };
  // Checked before memory is allocated: a sparse file may have any size.
  if (info.st_size > 0 && static_cast<std::uint64_t>(info.st_size) > max_bytes) return too_long();
  std::string out;
  // One byte more than expected: a read that fills less has seen the end.
  const bool sized = info.st_size > 0;  // files of /proc say 0
  if (sized) out.reserve(static_cast<std::size_t>(info.st_size) + 1);
  while (true) {
    const std::size_t old = out.size(), reserved = out.capacity() - old;
    const std::size_t room = sized && reserved > 0 ? reserved : std::max<std::size_t>(old, 4096);
    out.resize(old + room);
    const ssize_t got = read(fd, out.data() + old, room);
    if (got < 0 && errno == EINTR) {
      out.resize(old);
      continue;
    }
    if (got < 0) return MakeErrnoError(errno, name);
    out.resize(old + static_cast<std::size_t>(got));
    if (out.size() > max_bytes) return too_long();
    if (got == 0) return out;
  }
}

Status WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return MakeErrnoError(errno, "write");
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status WriteFileAtomic(const std::string& path, std::string_view content, unsigned mode) {
  return ReplaceFile(path, {content}, {.mode = mode, .durability = Durability::kSurvivesPowerLoss});
}

Status MakeFolders(const std::string& path, unsigned mode) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) {  // the usual case: one call at any depth
    if (!S_ISDIR(info.st_mode)) return MakeErrnoError(ENOTDIR, path);
    return {};
  }
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), mode) != 0 && errno != EEXIST) {
      const int failure = errno;  // an existing folder may be on a read-only file system
      if (stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return MakeErrnoError(failure, part);
      }
    }
    if (end == std::string::npos) break;
  }
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISDIR(info.st_mode)) return MakeErrnoError(ENOTDIR, path);
  return {};
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool IsFolder(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsBelow(std::string_view path, std::string_view folder) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/';
}

namespace {

// Empties a folder of any depth with two descriptors: it climbs by "..", never by a path, because
// the length of paths is limited.
class FolderRemover {
 public:
  // Returns 0, or an errno.
  int Empty(int folder) {
    at_ = UniqueFd(folder);
    if (const int failed = Enter()) return failed;
    while (!levels_.empty()) {
      std::vector<std::string>& folders = levels_.back().folders;
      if (folders.empty()) {
        levels_.pop_back();
        if (levels_.empty()) break;
        if (const int failed = Climb()) return failed;
        continue;
      }
      const int next = OpenFolder(at_.get(), folders.back().c_str());
      if (next < 0 && errno == ENOENT) {
        folders.pop_back();
        continue;
      }
      if (next < 0) return errno;
      at_ = UniqueFd(next);
      if (const int failed = Enter()) return failed;
    }
    return 0;
  }

  // Opens a folder, also one that locks out its owner, as programs in a sandbox and the kernel's
  // overlays leave them. Never follows a link.
  static int OpenFolder(int parent, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat info{};
    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) &&
        (info.st_mode & S_IRWXU) != S_IRWXU) {
      (void)fchmodat(parent, name, (info.st_mode & 07777) | S_IRWXU, 0);
    }
    return openat(parent, name, kFlags);
  }

 private:
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    std::vector<std::string> folders;  // remaining subfolders; the last one is being emptied
  };

  // Removes the files of the current folder, and records its subfolders.
  int Enter() {
    struct stat info{};
    if (fstat(at_.get(), &info) != 0) return errno;
    Level level{.device = info.st_dev, .inode = info.st_ino};
    const int again = openat(at_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const entries = again >= 0 ? fdopendir(again) : nullptr;
    if (entries == nullptr) {
      const int failed = errno;
      if (again >= 0) close(again);
      return failed;
    }
    int failed = 0;
    while (const dirent* entry = readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || unlinkat(at_.get(), entry->d_name, 0) == 0) continue;
      if (errno == EISDIR) {
        level.folders.emplace_back(name);
      } else if (errno != ENOENT && failed == 0) {
        failed = errno;
      }
    }
    closedir(entries);
    levels_.push_back(std::move(level));
    return failed;
  }

  // Returns to the parent, which must be the folder that it came from, and removes the child.
  int Climb() {
    const int above = openat(at_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) return errno;
    at_ = UniqueFd(above);
    struct stat info{};
    if (fstat(above, &info) != 0) return errno;
    Level& level = levels_.back();
    if (info.st_dev != level.device || info.st_ino != level.inode) return ESTALE;
    const std::string name = std::move(level.folders.back());
    level.folders.pop_back();
    return unlinkat(above, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
  }

  UniqueFd at_;
  std::vector<Level> levels_;
};

}  // namespace

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  return error ? "" : real;
}

Status RemoveAll(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  const int not_unlinked = errno;
  const int folder = FolderRemover::OpenFolder(AT_FDCWD, path.c_str());
  if (folder < 0) {
    if (errno == ENOENT) return {};
    return MakeErrnoError(errno == ENOTDIR ? not_unlinked : errno, path);
  }
  if (const int failed = FolderRemover().Empty(folder)) return MakeErrnoError(failed, path);
  if (rmdir(path.c_str()) != 0 && errno != ENOENT) return MakeErrnoError(errno, path);
  return {};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return FromFd(fd.get(), path);
}

Result<MappedFile> MappedFile::FromFd(int fd, std::string_view name_for_errors) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return MakeErrnoError(errno, name_for_errors);
  MappedFile file;
  if (info.st_size == 0) return file;
  void* data = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return MakeErrnoError(errno, name_for_errors);
  file.data_ = static_cast<const char*>(data);
  file.size_ = static_cast<std::size_t>(info.st_size);
  return file;
}

Result<std::string> MakeTempFolder(std::string_view prefix) {
  std::string path = fmt::format("{}/{}-XXXXXX", TempRoot(), prefix);
  if (!mkdtemp(path.data())) return MakeErrnoError(errno, path);
  return path;
}

Result<UniqueFd> OpenNameless() {
  UniqueFd file(open(TempRoot().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid()) return file;
  // Not every file system has unnamed files.
  std::string path = fmt::format("{}/dossier-XXXXXX", TempRoot());
  file = UniqueFd(mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return MakeErrnoError(errno, path);
  unlink(path.c_str());
  return file;
}

Result<TempFolder> TempFolder::Make(std::string_view prefix) {
  DOSSIER_ASSIGN_OR_RETURN(std::string path, MakeTempFolder(prefix));
  return TempFolder(std::move(path));
}

TempFolder::~TempFolder() {
  if (!path_.empty()) static_cast<void>(RemoveAll(path_));
}

Result<std::string> ExecutableFolder() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return MakeErrnoError(errno, "/proc/self/exe");
  path.resize(static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

namespace {

enum class Target : std::uint8_t {
  kFile,  // an existing file, or none
  kFolder,
  kDevice,  // or a pipe, a terminal: not to be replaced by a plain file
};

Target TargetOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return Target::kFile;
  return S_ISDIR(info.st_mode) ? Target::kFolder : Target::kDevice;
}

Status WriteParts(int fd, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) DOSSIER_RETURN_IF_ERROR(WriteAll(fd, part));
  return {};
}

// Makes the rename durable; ignores file systems that cannot sync a folder.
void SyncFolderOf(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) fsync(fd.get());
}

tl::unexpected<Error> AtPath(const std::string& path, const Error& error) {
  return MakeError(error.code, "{}: {}", path, error.message);
}

// Gives the open file `fd` the owner and the mode of `path`, if that exists.
Status CopyAttributes(const std::string& path, int fd) {
  struct stat old{}, made{};
  if (stat(path.c_str(), &old) != 0) return {};
  if (fstat(fd, &made) != 0) return MakeErrnoError(errno, "fstat");
  const bool same_owner = old.st_uid == made.st_uid && old.st_gid == made.st_gid;
  if (!same_owner && fchown(fd, old.st_uid, old.st_gid) != 0) {
    return MakeErrnoError(errno, "keep the owner");
  }
  if (fchmod(fd, old.st_mode & 07777) != 0) return MakeErrnoError(errno, "keep the mode");
  return {};
}

Status WriteToDevice(const std::string& path, const std::vector<std::string_view>& parts) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  const Status written = WriteParts(fd.get(), parts);
  if (!written) return AtPath(path, written.error());
  return {};
}

}  // namespace

Status ReplaceFile(const std::string& path, const std::vector<std::string_view>& parts,
                   const ReplaceOptions& options) {
  const Target target = TargetOf(path);
  if (target == Target::kFolder) return MakeErrnoError(EISDIR, path);
  if (target == Target::kDevice) return WriteToDevice(path, parts);
  const bool synced = options.durability == Durability::kSurvivesPowerLoss;
  const std::string temporary = fmt::format("{}.{}.tmp", path, RandomHex(12));
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, options.mode));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  Status written = WriteParts(fd.get(), parts);
  if (written && options.attributes == Attributes::kOfTheOldFile) {
    written = CopyAttributes(path, fd.get());
  }
  if (written && synced && fsync(fd.get()) != 0) written = MakeErrnoError(errno, "fsync");
  if (written && rename(temporary.c_str(), path.c_str()) != 0) {
    written = MakeErrnoError(errno, "rename");
  }
  if (!written) {
    unlink(temporary.c_str());
    return AtPath(path, written.error());
  }
  if (synced) SyncFolderOf(path);
  return {};
}

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
  // Non-blocking: a pipe without a writer must not hang us.
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
  // Folders are group-writable by default on machines where each user has their own group.
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

namespace {

constexpr Millis kFirstPause{1}, kLongestPause{50};

Result<UniqueFd> OpenLock(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid() && errno == ELOOP) {
    return MakeError(ErrorCode::kDamaged, "{} is a symbolic link, which is not followed", path);
  }
  if (!fd.valid()) return MakeErrnoError(errno, "lock " + path);
  return fd;
}

struct flock WholeFile() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Returns true if the lock was taken, false if another process holds it.
Result<bool> TryLock(int fd, const std::string& path) {
  struct flock lock = WholeFile();
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
  return MakeErrnoError(errno, "lock " + path);
}

// True if the lock file is still the opened one: its last holder may have removed it.
bool IsStillThere(int fd, const std::string& path) {
  struct stat by_fd, by_path;
  return ::fstat(fd, &by_fd) == 0 && ::lstat(path.c_str(), &by_path) == 0 &&
         by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev;
}

}  // namespace

bool FileLock::IsHeld(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct flock lock = WholeFile();
  return fd.valid() && ::fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Result<FileLock> FileLock::Take(const std::string& path, Millis limit, const CancelToken& cancel) {
  const auto end = std::chrono::steady_clock::now() + limit;
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd fd, OpenLock(path));
  // The kernel has no timed wait for this lock.
  Millis pause = kFirstPause;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const bool taken, TryLock(fd.get(), path));
    if (taken && IsStillThere(fd.get(), path)) return FileLock(std::move(fd));
    if (taken) {
      DOSSIER_ASSIGN_OR_RETURN(fd, OpenLock(path));
      continue;
    }
    if (cancel.cancelled()) {
      return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason());
    }
    if (std::chrono::steady_clock::now() >= end) {
      return MakeError(ErrorCode::kLocked, "another dossier has held {} for {} s", path,
                       limit.count() / 1000);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace dossier
