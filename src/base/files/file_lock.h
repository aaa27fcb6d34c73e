// A lock between processes: a file that the kernel unlocks when its holder ends.
//
//   DOSSIER_ASSIGN_OR_RETURN(FileLock lock, FileLock::Take(path, Millis(10000), cancel));
//
// Ownership: held until the object is destroyed. Thread-safety: two threads exclude each other too.

#ifndef DOSSIER_BASE_FILES_FILE_LOCK_H_
#define DOSSIER_BASE_FILES_FILE_LOCK_H_

#include <string>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"

namespace dossier {

class FileLock {
 public:
  // Errors: kLocked after `limit`, kCancelled, kIo.
  static Result<FileLock> Take(const std::string& path, Millis limit, const CancelToken& cancel);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_FILE_LOCK_H_
