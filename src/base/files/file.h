// Files, descriptors, folders and locks between processes.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile("notes.md"));
//   DOSSIER_RETURN_IF_ERROR(WriteFileAtomic("notes.md", text));   // whole, or not at all
//
// Errors carry the path. Ownership: UniqueFd, MappedFile and TempFolder are move-only owners.
// Thread-safety: functions may be called from many threads; objects have one owner.

#ifndef DOSSIER_BASE_FILES_FILE_H_
#define DOSSIER_BASE_FILES_FILE_H_

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

struct stat;

namespace dossier {

class CancelToken;

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset();

 private:
  int fd_ = -1;
};

// Reads the whole file. Errors: kTooLong above `max_bytes`, which guards against a huge one.
Result<std::string> ReadFile(const std::string& path, std::uint64_t max_bytes = 1ull << 32);
// Reads the rest of `fd`, a file, pipe or socket. Errors: kIo, kTooLong with `name`.
Result<std::string> ReadAll(int fd, std::string_view name, std::uint64_t max_bytes = 1ull << 32);

// Writes `path` through a temporary file beside it, fsync and rename: readers see the old or the
// new content, never a mix; on failure the old file stays and nothing half-made is left.
// A device or pipe (/dev/null) is written to, never replaced; a link to a file is replaced itself.
// For a file that the user named see output_file.h.
Status WriteFileAtomic(const std::string& path, std::string_view content, unsigned mode = 0644);

// Writes all of `content` to `fd`: short writes are continued, interrupted ones repeated.
Status WriteAll(int fd, std::string_view content);

// mkdir -p.
Status MakeFolders(const std::string& path, unsigned mode = 0755);
bool Exists(const std::string& path);
// Returns true for a folder, or a link that leads to one.
bool IsFolder(const std::string& path);
// True if `path` is or lies in `folder`, by names only; nothing lies in an empty `folder`.
bool IsBelow(std::string_view path, std::string_view folder);
// Returns the path without links and dots; "" if nothing exists there.
std::string Canonical(const std::string& path);
// Removes a file or a folder with all it holds; absent is success. Never follows symbolic links.
Status RemoveAll(const std::string& path);

// A read-only memory map of a regular file. Reading beyond the end of a file that has shrunk ends
// the process, so map only files that nobody shrinks: those of the content store and sealed memfds,
// never a user's file.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  static Result<MappedFile> Open(const std::string& path);
  static Result<MappedFile> FromFd(int fd, std::string_view name_for_errors);

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// A private folder (mode 0700) that is removed with all its content at the end.
class TempFolder {
 public:
  TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();
  static Result<TempFolder> Make(std::string_view prefix = "dossier");

  const std::string& path() const { return path_; }

 private:
  explicit TempFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// As TempFolder, but it stays. Both lie below $TMPDIR, or /tmp.
Result<std::string> MakeTempFolder(std::string_view prefix);
// Opens a file without a name: nobody else can open it, and it goes with its descriptor.
Result<UniqueFd> OpenNameless();

// The folder that holds the running executable.
Result<std::string> ExecutableFolder();

// Replaces a file atomically with parts that are written one after the other, so that a large text
// need not be in memory as a whole.
//
//   const ReplaceOptions options{.durability = Durability::kSurvivesCrash};
//   DOSSIER_RETURN_IF_ERROR(ReplaceFile(path, {head, body}, options));
//
// Readers see the old or the new content, never a mix. WriteFileAtomic is this with one part.

// What the new content survives after ReplaceFile has returned: a crash of the process, or also a
// power failure, which needs an fsync.
enum class Durability : std::uint8_t { kSurvivesCrash, kSurvivesPowerLoss };

// The mode, owner and group of the new file. kOfTheOldFile: exactly those of the replaced file; if
// there is none, `mode` and the user's own.
enum class Attributes : std::uint8_t { kOfANewFile, kOfTheOldFile };

struct ReplaceOptions {
  unsigned mode = 0644;
  Durability durability = Durability::kSurvivesPowerLoss;
  Attributes attributes = Attributes::kOfANewFile;
};

// On failure the old file stays and nothing half-made is left. A device or pipe is written to,
// never replaced. Errors carry the path.
Status ReplaceFile(const std::string& path, const std::vector<std::string_view>& parts,
                   const ReplaceOptions& options);

// Returns nanoseconds since 1970. A file may have any time: one that 64 bits cannot hold (before
// 1677, after 2262) becomes the nearest that they can.
std::int64_t NanosSinceEpoch(const timespec& time);

// Reads files that the user did not name: the program finds them by fixed names in a folder, where
// somebody else may have put them.
//
//   auto text = ReadOwnedFile(project + "/.dossier/layouts/ask.yaml", 1 << 20);
//   if (!text && text.error().code == ErrorCode::kNotFound) UseBuiltIn();
//
// A pipe, device or socket of that name is refused at once: opening it as a file would hang.

// Opens a regular file for reading. Errors: kNotFound, kPermission, kIo; kConfig for anything but a
// regular file.
Result<UniqueFd> OpenRegularFile(const std::string& path, struct stat* info);

// Checks that only this user (or root) can change a file that steers the program. Errors: kConfig
// for anything but a regular file; kRefused if it belongs to another user or others may write to
// it.
Status CheckFileOwner(const struct stat& info, const std::string& path);

// The same check by path. A path that does not exist passes; a folder may be group-writable.
// Errors: as CheckFileOwner; kRefused for a symbolic link.
enum class PathKind : std::uint8_t { kFile, kFolder };
Status CheckOwnPath(const std::string& path, PathKind kind);

// Reads the whole file. Errors: as OpenRegularFile; kTooLong above `max_bytes`.
Result<std::string> ReadRegularFile(const std::string& path, std::uint64_t max_bytes);

// ReadRegularFile for a file that must pass CheckFileOwner.
Result<std::string> ReadOwnedFile(const std::string& path, std::uint64_t max_bytes);

// A lock between processes: a file that the kernel unlocks when its holder ends.
//
//   DOSSIER_ASSIGN_OR_RETURN(FileLock lock, FileLock::Take(path, Millis(10000), cancel));
//
// An OFD lock: it belongs to the open file, so two threads exclude each other, too. A holder may
// remove the file before it releases the lock; the waiter then takes the lock on a new file.
//
// Ownership: held until the object is destroyed.

class FileLock {
 public:
  // Makes the file (0600). With `limit` 0 it tries once. Errors: kLocked after `limit`, kCancelled,
  // kDamaged (a symbolic link), kIo.
  static Result<FileLock> Take(const std::string& path, Millis limit, const CancelToken& cancel);
  // Returns true if somebody holds the lock now. Does not take it.
  static bool IsHeld(const std::string& path);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_FILE_H_
