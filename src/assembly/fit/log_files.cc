#include "assembly/fit/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/random.h"

namespace dossier::assembly {

std::string SafeFileName(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    const bool safe = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || (c == '.' && !out.empty());
    out += safe ? c : '_';
  }
  return out.empty() ? "_" : out;
}

// A link is exclusive and atomic, also on network file systems.
Status CreateWhole(const std::string& path, std::string_view content, Durability durability) {
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string partial = fmt::format("{}/{}{}", folder, kPartialFile, RandomHex(16));
  UniqueFd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, partial);
  Status written = WriteAll(fd.get(), content);
  const bool to_disk = durability == Durability::kSurvivesPowerLoss;
  if (written && to_disk && fsync(fd.get()) != 0) written = MakeErrnoError(errno, partial);
  if (written && link(partial.c_str(), path.c_str()) != 0) {
    written = errno == EEXIST ? MakeError(ErrorCode::kLocked, "{} exists", path)
                              : MakeErrnoError(errno, path);
  }
  unlink(partial.c_str());
  return written;
}

Status PointAlias(const std::string& folder, const std::string& alias, const std::string& target) {
  const std::string path = folder + "/" + alias;
  struct stat info{};
  if (lstat(path.c_str(), &info) == 0 && !S_ISLNK(info.st_mode)) {
    return MakeError(ErrorCode::kFailed, "{} is a file of its own: no link was made", path);
  }
  const std::string partial = fmt::format("{}/{}{}", folder, kPartialFile, RandomHex(16));
  if (symlink(target.c_str(), partial.c_str()) != 0) return MakeErrnoError(errno, partial);
  if (rename(partial.c_str(), path.c_str()) == 0) return {};
  const Error error = ErrnoError(errno, path);
  unlink(partial.c_str());
  return tl::unexpected(error);
}

}  // namespace dossier::assembly
