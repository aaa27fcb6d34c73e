#include "store/live_runs.h"

#include <fcntl.h>

#include <cerrno>
#include <limits>
#include <thread>

#include "base/clock.h"

namespace dossier::store {
namespace {

// Behind the bytes of all runs: locked by whoever has the folder in use.
constexpr off_t kFolderByte = std::numeric_limits<off_t>::max() - 1;
constexpr int kJoinTries = 5'000;
constexpr Millis kJoinNap{2};

struct flock FolderLock(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kFolderByte;
  lock.l_len = 1;
  return lock;
}

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

void LiveRuns::Join() const {
  struct flock lock = FolderLock(F_RDLCK);
  for (int i = 0; i < kJoinTries && fcntl(file_.get(), F_OFD_SETLK, &lock) != 0; ++i) {
    if (errno != EAGAIN && errno != EACCES) return;
    std::this_thread::sleep_for(kJoinNap);
  }
}

bool LiveRuns::BeAlone() const {
  struct flock lock = FolderLock(F_WRLCK);
  return fcntl(file_.get(), F_OFD_SETLK, &lock) == 0;
}

}  // namespace dossier::store
