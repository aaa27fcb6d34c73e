// SHA-256 of files on the host. Images are large, so each hash is kept while the file does not
// change.
//
//   FileDigests digests;
//   DOSSIER_ASSIGN_OR_RETURN(const std::string hex, digests.Of("/images/x.sif"));
//
// Thread-safety: all methods from any thread; one file at a time is read.

#ifndef DOSSIER_RESEARCH_EXEC_FILE_DIGEST_H_
#define DOSSIER_RESEARCH_EXEC_FILE_DIGEST_H_

#include <map>
#include <mutex>
#include <string>

#include "base/result.h"

namespace dossier::research {

class FileDigests {
 public:
  // 64 hex digits; "" for a folder. Errors: kNotFound, kPermission, kIo with the path.
  Result<std::string> Of(const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> known_;  // by path, size, time of change
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_FILE_DIGEST_H_
