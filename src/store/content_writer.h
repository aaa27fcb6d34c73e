// A large body, written into the content store piece by piece.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto writer, ContentWriter::Start(store));
//   DOSSIER_RETURN_IF_ERROR(writer.Write(block));
//   DOSSIER_ASSIGN_OR_RETURN(StoredBody body, std::move(writer).Finish());   // named by its hash
//   now
//
// Abandoned, it leaves nothing behind; with Keep::kOpen nothing in any case but the descriptor.
// Thread-safety: one owner.

#ifndef DOSSIER_STORE_CONTENT_WRITER_H_
#define DOSSIER_STORE_CONTENT_WRITER_H_

#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/content.h"

namespace dossier::store {

struct StoredBody {
  UniqueFd fd;  // open for reading
  std::string sha256;
  std::uint64_t bytes = 0;
};

class ContentWriter {
 public:
  // kOpen: the body has no name in the store, and is gone when its descriptor is closed.
  enum class Keep { kStored, kOpen };

  // Errors: kIo, kPermission with the path.
  static Result<ContentWriter> Start(const ContentStore& store, Keep keep = Keep::kStored);
  ContentWriter(ContentWriter&& other) noexcept;
  ContentWriter& operator=(ContentWriter&&) = delete;
  ~ContentWriter();

  Status Write(std::string_view bytes);
  Result<StoredBody> Finish() &&;

 private:
  ContentWriter(const ContentStore& store, Keep keep, std::string path, UniqueFd fd)
      : store_(&store), keep_(keep), path_(std::move(path)), fd_(std::move(fd)) {}

  const ContentStore* store_;
  Keep keep_;
  std::string path_;  // empty once finished or moved from
  UniqueFd fd_;
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_CONTENT_WRITER_H_
