#include "store/content_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/random.h"
#include "base/text/text.h"

namespace dossier::store {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

Result<ContentWriter> ContentWriter::Start(const ContentStore& store, Keep keep) {
  // Beside the objects, so that the final rename stays on one file system.
  const std::string folder = FolderOf(FolderOf(store.PathOf(std::string(64, '0'))));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  std::string path = fmt::format("{}/incoming-{}.tmp", folder, RandomHex(16));
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  if (keep == Keep::kOpen && unlink(path.c_str()) != 0) return MakeErrnoError(errno, path);
  return ContentWriter(store, keep, std::move(path), std::move(fd));
}

ContentWriter::ContentWriter(ContentWriter&& other) noexcept
    : store_(other.store_),
      keep_(other.keep_),
      path_(std::exchange(other.path_, {})),
      fd_(std::move(other.fd_)),
      hash_(other.hash_),
      bytes_(other.bytes_) {}

ContentWriter::~ContentWriter() {
  if (!path_.empty() && keep_ == Keep::kStored) unlink(path_.c_str());
}

Status ContentWriter::Write(std::string_view bytes) {
  hash_.Update(bytes);
  Status written = WriteAll(fd_.get(), bytes);
  if (!written) {
    return MakeError(written.error().code, "{}: {} (after {})", path_, written.error().message,
                     FormatSize(bytes_));
  }
  bytes_ += bytes.size();
  return {};
}

Result<StoredBody> ContentWriter::Finish() && {
  StoredBody body{.sha256 = hash_.Hex(), .bytes = bytes_};
  std::string target = fmt::format("/proc/self/fd/{}", fd_.get());
  if (keep_ == Keep::kStored) {
    target = store_->PathOf(body.sha256);
    DOSSIER_RETURN_IF_ERROR(MakeFolders(FolderOf(target), 0700));
    if (rename(path_.c_str(), target.c_str()) != 0) return MakeErrnoError(errno, target);
  }
  path_.clear();
  // A descriptor that was opened for reading only: what workers get must not be writable.
  body.fd = UniqueFd(open(target.c_str(), O_RDONLY | O_CLOEXEC));
  if (!body.fd.valid()) return MakeErrnoError(errno, target);
  return body;
}

}  // namespace dossier::store
