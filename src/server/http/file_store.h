// Files that clients upload and name in later requests: POST and GET /v1/files.
//
//   FileStore files(folder, content, clock);
//   DOSSIER_ASSIGN_OR_RETURN(StoredFile file, files.Add("ann", upload));
//   DOSSIER_ASSIGN_OR_RETURN(const StoredFile again, files.Find("ann", file.id));
//
// On disk: FOLDER/OWNER/file-….json, one object each; the bytes are in the content store, equal
// bytes once. A file belongs to the key that uploaded it; other keys get kNotFound. A file expires
// after 30 days; its bytes stay while any file refers to them. FOLDER.lock guards both. Errors:
// kNotFound; kIo, with nothing half-stored; kLocked. Thread-safety: all methods from any thread and
// process.

#ifndef DOSSIER_SERVER_HTTP_FILE_STORE_H_
#define DOSSIER_SERVER_HTTP_FILE_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "store/content.h"

namespace dossier::server {

struct StoredFile {
  std::string id, name, purpose, sha256;
  std::uint64_t bytes = 0;
  std::int64_t created = 0, expires = 0;  // seconds since 1970

  JsonObject ToJson() const;  // in OpenAI's format
};

// One part of a multipart body.
struct FormPart {
  std::string name, filename;
  std::string_view value;
};
// Parses a body into its parts, RFC 7578. `type`: its Content-Type. Errors: kInvalidArgument.
Result<std::vector<FormPart>> ReadForm(std::string_view body, std::string_view type);

class FileStore {
 public:
  FileStore(std::string folder, store::ContentStore& content, std::shared_ptr<const Clock> clock)
      : folder_(std::move(folder)), content_(content), clock_(std::move(clock)) {}

  Result<StoredFile> Add(std::string_view owner, const std::vector<FormPart>& form);
  Result<StoredFile> Find(std::string_view owner, std::string_view id) const;
  std::vector<StoredFile> List(std::string_view owner) const;  // newest first
  Status Remove(std::string_view owner, std::string_view id);
  // Removes expired files, and all bytes that no file refers to, as far as possible. Add calls it
  // now and then.
  void Sweep();
  std::string PathOf(const StoredFile& file) const { return content_.PathOf(file.sha256); }

 private:
  std::string FolderOf(std::string_view owner) const;
  Result<StoredFile> Read(const std::string& path) const;
  Result<StoredFile> ReadRecord(const std::string& path) const;
  Result<FileLock> Lock() const;
  void SweepLocked();
  std::int64_t Now() const;

  const std::string folder_;
  store::ContentStore& content_;
  const std::shared_ptr<const Clock> clock_;
  std::atomic<std::int64_t> swept_ = 0;  // time of the last sweep
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_FILE_STORE_H_
