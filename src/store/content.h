// Stores bodies by content hash: written once, never changed, safe to map, removed only explicitly.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto store, ContentStore::Open(folder));
//   DOSSIER_ASSIGN_OR_RETURN(std::string sha256, store->Put(text));
//   DOSSIER_ASSIGN_OR_RETURN(std::string again, store->Get(sha256));
//
// Layout on disk: objects/ab/abcdef…, complete or absent (temporary file, rename). Two processes
// may use one store. Thread-safety: all methods from any thread.

#ifndef DOSSIER_STORE_CONTENT_H_
#define DOSSIER_STORE_CONTENT_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/result.h"

namespace dossier::store {

inline constexpr std::size_t kHashDigits = 64;  // of a SHA-256
// The longest time between storing a body and writing the event that names it.
inline constexpr std::chrono::seconds kNamedWithin{3600};

class ContentStore {
 public:
  static Result<std::unique_ptr<ContentStore>> Open(const std::string& folder);
  virtual ~ContentStore() = default;

  // Stores `bytes`, returns their SHA-256 (64 hex digits). Errors: kIo with path and bytes missing.
  virtual Result<std::string> Put(std::string_view bytes) = 0;
  // Errors: kNotFound, kDamaged (the content does not match its name).
  virtual Result<std::string> Get(std::string_view sha256) = 0;
  // Absent is success. A reader that has the body open keeps it. Errors: kIo, kPermission.
  virtual Status Remove(std::string_view sha256) = 0;
  // Removes the body unless somebody put it since, at most kNamedWithin ago: they are about to name
  // it. Returns true if it was removed.
  virtual Result<bool> RemoveUnlessPutSince(std::string_view sha256, Clock::Wall since) = 0;
  virtual std::string PathOf(std::string_view sha256) const = 0;
  virtual bool Has(std::string_view sha256) const = 0;
};

// Writes a large body into the content store piece by piece.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto writer, ContentWriter::Start(store));
//   DOSSIER_RETURN_IF_ERROR(writer.Write(block));
//   DOSSIER_ASSIGN_OR_RETURN(StoredBody body, std::move(writer).Finish());
//
// An abandoned writer leaves nothing behind; with Keep::kOpen only the descriptor remains in any
// case. Thread-safety: one owner.

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

// A cache of results by key, on top of the content store, so that nothing is computed twice.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto memo, Memo::Open(folder, content));
//   if (auto known = memo->Get(key)) Use(*known);
//   DOSSIER_RETURN_IF_ERROR(memo->Put(key, text));
//
// Layout on disk: memo/ab/abcdef…, a symbolic link whose target is the hash of a stored body. One
// system call makes the link, and the hash verifies the body, so a process killed at any point
// leaves an entry that is whole or absent. Several processes may use one folder; the last Put of a
// key wins. Nothing is ever removed. Thread-safety: all methods from any thread.

class Memo {
 public:
  // Makes `folder`/memo if needed. `content` must outlive the object. Errors: kIo, kPermission.
  static Result<std::unique_ptr<Memo>> Open(const std::string& folder, ContentStore& content);

  // `key`: 64 hex digits, a SHA-256. Returns nothing if the key is unknown or its text is damaged.
  std::optional<std::string> Get(std::string_view key) const;
  // A text that contains a secret is not stored, which is no error (Contract 2). Errors:
  // kInvalidArgument (an invalid key); kIo with path when the disk is full.
  Status Put(std::string_view key, std::string_view text) const;

 private:
  Memo(std::string folder, ContentStore& content) : folder_(std::move(folder)), content_(content) {}
  // Empty if `key` is invalid.
  std::string PathOf(std::string_view key) const;

  const std::string folder_;
  ContentStore& content_;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_CONTENT_H_
