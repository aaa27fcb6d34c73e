#include "base/files/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>

#include "base/text/parse.h"

namespace dossier {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Links in /proc lead to what a process has open, whatever their text says.
bool IsOnProc(const std::string& folder) {
  struct statfs info{};
  return statfs(folder.c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

// Writes to our own descriptor at its position: reopening a file would write at its start, over its
// content.
Result<UniqueFd> OpenBehindProc(const std::string& path) {
  const auto number = ParseWhole(fs::path(path).filename().string());
  const bool ours = number && Canonical(FolderOf(path)) == Canonical("/proc/self/fd");
  UniqueFd fd(ours ? fcntl(static_cast<int>(*number), F_DUPFD_CLOEXEC, 0)
                   : open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return fd;
}

Status WriteBehindProc(const std::string& path, const std::vector<std::string_view>& parts) {
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenBehindProc(path));
  for (const std::string_view part : parts) {
    if (const Status written = WriteAll(fd.get(), part); !written) {
      return MakeError(written.error().code, "{}: {}", path, written.error().message);
    }
  }
  return {};
}

}  // namespace

Status WriteOutput(const std::string& path, const std::vector<std::string_view>& parts,
                   const ReplaceOptions& options) {
  std::string place = path;
  for (int followed = 0; followed < kMostLinks; ++followed) {
    std::error_code no_link;
    const fs::path target = fs::read_symlink(place, no_link);
    if (no_link) return ReplaceFile(place, parts, options);
    if (IsOnProc(FolderOf(place))) return WriteBehindProc(place, parts);
    place = (fs::path(FolderOf(place)) / target).string();
  }
  return MakeErrnoError(ELOOP, path);
}

}  // namespace dossier
