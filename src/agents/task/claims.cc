#include "agents/task/claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr std::uint64_t kMaxRunId = 256;  // bytes

}  // namespace

// The file is kept: if it were removed, two processes could lock two files of the same name.
Claims::Claim::~Claim() {
  if (lock_.valid()) static_cast<void>(ftruncate(lock_.get(), 0) == 0);
}

Result<Claims::Answer> Claims::Take(std::string_view name, std::string_view run) const {
  const std::string path = fmt::format("{}/{}.lock", folder_, name);
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return MakeErrnoError(errno, path);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return MakeErrnoError(errno, "lock " + path);
    return Answer{.claim = std::nullopt,
                  .holder = std::string(TrimSpace(ReadFile(path, kMaxRunId).value_or("")))};
  }
  // The content informs people and other runs; only the lock is the claim.
  if (ftruncate(lock.get(), 0) != 0) return MakeErrnoError(errno, path);
  DOSSIER_RETURN_IF_ERROR(WriteAll(lock.get(), fmt::format("{}\n", run)));
  return Answer{.claim = Claim(std::move(lock)), .holder = {}};
}

}  // namespace dossier::agents
