#include "base/files/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/files/file.h"
#include "base/random.h"

namespace dossier {
namespace {

enum class Target : std::uint8_t {
  kFile,  // one that is there, or none
  kFolder,
  kDevice,  // or a pipe, a terminal: what a rename would put a plain file in the place of
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

// Makes the rename durable; a file system that cannot sync a folder is no reason to fail.
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

// Gives the open file `fd` the owner and the mode of `path`, if that is there.
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

}  // namespace dossier
