// Reading files that the user did not name: the program finds them by fixed names in a folder,
// where somebody else may have put them.
//
//   auto text = ReadOwnedFile(project + "/.dossier/layouts/ask.yaml", 1 << 20);
//   if (!text && text.error().code == ErrorCode::kNotFound) UseBuiltIn();
//
// A pipe, a device or a socket of such a name is refused at once: to open it as a file would hang.
//
// Thread-safety: functions.

#ifndef DOSSIER_BASE_FILES_REGULAR_FILE_H_
#define DOSSIER_BASE_FILES_REGULAR_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier {

// Times of files as numbers.
//
//   note.mtime_ns = NanosSinceEpoch(info.st_mtim);       // info of fstat
//
// Thread-safety: pure function.

// Nanoseconds since 1970. A file may carry any time: what 64 bits cannot hold (before 1677, after
// 2262) is the nearest that they can.
std::int64_t NanosSinceEpoch(const timespec& time);

// A descriptor for reading of a regular file. Errors: kNotFound, kPermission, kIo; kConfig for
// anything but a regular file.
Result<UniqueFd> OpenRegularFile(const std::string& path, struct stat* info);

// Checks that only this user (or root) can change a file that steers the program. Errors: kConfig
// for anything but a regular file; kRefused if it belongs to another user or others may write to
// it.
Status CheckFileOwner(const struct stat& info, const std::string& path);

// The same check by path. A path that does not exist passes; a folder may be writable by its group.
// Errors: as CheckFileOwner; kRefused for a symbolic link.
enum class PathKind : std::uint8_t { kFile, kFolder };
Status CheckOwnPath(const std::string& path, PathKind kind);

// The whole file. Errors: as OpenRegularFile; kTooLong above `max_bytes`.
Result<std::string> ReadRegularFile(const std::string& path, std::uint64_t max_bytes);

// ReadRegularFile for a file that must pass CheckFileOwner.
Result<std::string> ReadOwnedFile(const std::string& path, std::uint64_t max_bytes);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_REGULAR_FILE_H_
