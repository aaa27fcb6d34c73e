#include "store/live_runs.h"

#include <fcntl.h>

#include <cerrno>

namespace dossier::store {
namespace {

// The byte that stands for the run. Offsets have 63 bits: no two of a journal's runs will meet.
struct flock ByteOf(std::string_view run) {
  std::uint64_t offset = 14'695'981'039'346'656'037ull;  // FNV-1a
  for (const char c : run) offset = (offset ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ull;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset >> 2);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<LiveRuns> LiveRuns::Open(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return MakeErrnoError(errno, path);
  return LiveRuns(std::move(file));
}

void LiveRuns::Hold(std::string_view run) const {
  struct flock lock = ByteOf(run);
  (void)fcntl(file_.get(), F_OFD_SETLK, &lock);
}

void LiveRuns::Drop(std::string_view run) const {
  struct flock lock = ByteOf(run);
  lock.l_type = F_UNLCK;
  (void)fcntl(file_.get(), F_OFD_SETLK, &lock);
}

bool LiveRuns::IsHeld(std::string_view run) const {
  struct flock lock = ByteOf(run);
  return fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace dossier::store
