#include "research/exec/file_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/files/file.h"
#include "base/hash.h"

namespace dossier::research {

Result<std::string> FileDigests::Of(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!file.valid() || fstat(file.get(), &info) != 0) return MakeErrnoError(errno, path);
  if (S_ISDIR(info.st_mode)) return std::string();
  const std::string key =
      fmt::format("{}\n{}\n{}.{}", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Sha256 hash;
  std::vector<char> block(1 << 20);
  while (true) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) break;
    hash.Update({block.data(), static_cast<std::size_t>(got)});
  }
  return known_[key] = hash.Hex();
}

}  // namespace dossier::research
