#include "store/journal_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file.h"

namespace dossier::store {

Status SyncJournal(const std::string& folder) {
  const std::string log = folder + "/journal.db-wal";
  const UniqueFd fd(open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || fdatasync(fd.get()) != 0) return MakeErrnoError(errno, "sync " + log);
  return {};
}

}  // namespace dossier::store
