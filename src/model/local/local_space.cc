#include "model/local/local_space.h"

#include <sys/statvfs.h>

#include <cerrno>

#include "base/text/text.h"

namespace dossier::model {

Status CheckSpace(std::string_view what, const std::string& folder, std::uint64_t bytes,
                  std::optional<std::uint64_t> free) {
  if (!free) {
    struct statvfs space{};
    if (statvfs(folder.c_str(), &space) != 0) return MakeErrnoError(errno, folder);
    free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  }
  if (*free >= bytes) return {};
  return MakeError(ErrorCode::kIo,
                   "{} needs {} bytes of free disk in {} and {} are free: {} are missing", what,
                   GroupDigits(bytes), folder, GroupDigits(*free), GroupDigits(bytes - *free));
}

}  // namespace dossier::model
