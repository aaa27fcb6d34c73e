#include "store/content.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text/redact.h"
#include "base/text/text.h"

namespace dossier::store {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

constexpr std::int64_t kLeftOverSeconds = 3600;  // no write of one body takes that long

struct Written {
  std::size_t bytes = 0;
  int failure = 0;  // errno of the write that ended it
};

// Writes `bytes` and returns how many arrived, so that an error can name the rest.
Written WriteCounted(int fd, std::string_view bytes) {
  Written written;
  while (written.bytes < bytes.size() && written.failure == 0) {
    const ssize_t put = write(fd, bytes.data() + written.bytes, bytes.size() - written.bytes);
    if (put >= 0) {
      written.bytes += static_cast<std::size_t>(put);
    } else if (errno != EINTR) {
      written.failure = errno;
    }
  }
  return written;
}

class FileContentStore final : public ContentStore {
 public:
  explicit FileContentStore(std::string folder) : folder_(std::move(folder)) {}

  Result<std::string> Put(std::string_view bytes) override {
    std::string sha256 = Sha256Hex(bytes);
    const std::string path = PathOf(sha256);
    if (HoldsAlready(path, bytes.size())) return sha256;
    DOSSIER_RETURN_IF_ERROR(Write(path, bytes));
    return sha256;
  }

  Result<std::string> Get(std::string_view sha256) override {
    if (!IsSha256Hex(sha256)) {
      return MakeError(ErrorCode::kNotFound, "'{}' is not the hash of a stored body", sha256);
    }
    const std::string path = PathOf(sha256);
    DOSSIER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
    if (Sha256Hex(bytes) != sha256) {
      return MakeError(ErrorCode::kDamaged,
                       "{}: its content does not match its name; remove it, it is stored again "
                       "when it is next needed",
                       path);
    }
    return bytes;
  }

  Status Remove(std::string_view sha256) override {
    const std::string path = PathOf(sha256);
    if (path.empty() || unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    return MakeErrnoError(errno, path);
  }

  // Renamed first: whoever puts the body from now on does not find it, and stores it again.
  Result<bool> RemoveUnlessPutSince(std::string_view sha256, Clock::Wall since) override {
    const std::string path = PathOf(sha256);
    const std::string aside = fmt::format("{}/incoming/{}", folder_, RandomHex(16));
    if (path.empty()) return false;
    if (rename(path.c_str(), aside.c_str()) != 0) {
      if (errno == ENOENT) return false;
      return MakeErrnoError(errno, path);
    }
    struct stat info{};
    if (lstat(aside.c_str(), &info) == 0) {
      const Clock::Wall put(std::chrono::duration_cast<Clock::Wall::duration>(
          std::chrono::nanoseconds(NanosSinceEpoch(info.st_mtim))));
      if (put > since && put > std::chrono::system_clock::now() - kNamedWithin) {
        if (rename(aside.c_str(), path.c_str()) == 0) return false;
        return MakeErrnoError(errno, path);
      }
    }
    if (unlink(aside.c_str()) == 0) return true;
    return MakeErrnoError(errno, path);
  }

  std::string PathOf(std::string_view sha256) const override {
    if (!IsSha256Hex(sha256)) return {};
    return fmt::format("{}/objects/{}/{}", folder_, sha256.substr(0, 2), sha256);
  }

  bool Has(std::string_view sha256) const override {
    return IsSha256Hex(sha256) && Exists(PathOf(sha256));
  }

  // Temporary files of writers that were killed. Young ones may belong to a living process.
  void RemoveLeftOvers() const {
    const std::string folder = folder_ + "/incoming";
    DIR* entries = opendir(folder.c_str());
    if (!entries) return;
    const std::time_t now = std::time(nullptr);
    while (const dirent* entry = readdir(entries)) {
      const std::string path = fmt::format("{}/{}", folder, entry->d_name);
      struct stat info{};
      if (lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
          now - info.st_mtime > kLeftOverSeconds) {
        unlink(path.c_str());
      }
    }
    closedir(entries);
  }

 private:
  Status Write(const std::string& path, std::string_view bytes) const {
    const std::string temporary = fmt::format("{}/incoming/{}", folder_, RandomHex(16));
    UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
    if (!fd.valid()) return NotStored(errno, path, bytes.size(), bytes.size());
    Written written = WriteCounted(fd.get(), bytes);
    if (written.failure == 0 && !Move(temporary, path)) written = {.bytes = 0, .failure = errno};
    if (written.failure == 0) return {};
    unlink(temporary.c_str());
    return NotStored(written.failure, path, bytes.size() - written.bytes, bytes.size());
  }

  // Updates the time of an existing body: it now belongs to another run and must not be pruned with
  // the old ones (PruneRuns).
  static bool HoldsAlready(const std::string& path, std::size_t size) {
    struct stat info{};
    // The kernel's "now" is some milliseconds old, which may be before the end of an ended run.
    struct timespec times[2]{};
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[1] = times[0];
    return stat(path.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) == size &&
           utimensat(AT_FDCWD, path.c_str(), times, 0) == 0;
  }

  static bool Move(const std::string& from, const std::string& to) {
    if (rename(from.c_str(), to.c_str()) == 0) return true;
    if (errno != ENOENT) return false;
    const std::string folder = to.substr(0, to.rfind('/'));
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
    return rename(from.c_str(), to.c_str()) == 0;
  }

  static tl::unexpected<Error> NotStored(int failure, const std::string& path, std::size_t missing,
                                         std::size_t size) {
    Error error = ErrnoError(
        failure, fmt::format("{}: {} of {} bytes could not be stored", path, missing, size));
    // To the caller, a folder that vanished is a disk problem, not a missing body.
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kIo;
    return tl::unexpected(std::move(error));
  }

  const std::string folder_;
};

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
  // A descriptor opened only for reading: workers must not get a writable one.
  body.fd = UniqueFd(open(target.c_str(), O_RDONLY | O_CLOEXEC));
  if (!body.fd.valid()) return MakeErrnoError(errno, target);
  return body;
}

Result<std::unique_ptr<ContentStore>> ContentStore::Open(const std::string& folder) {
  for (const char* part : {"", "/objects", "/incoming"}) {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder + part, 0700));
  }
  auto store = std::make_unique<FileContentStore>(folder);
  store->RemoveLeftOvers();
  return store;
}

namespace {

// Makes a link under a fresh name and renames it to `path`: readers see the old or the new one.
Status Link(const std::string& target, const std::string& path) {
  const std::string fresh = fmt::format("{}.{}", path, RandomHex(8));
  if (symlink(target.c_str(), fresh.c_str()) != 0) return MakeErrnoError(errno, path);
  if (rename(fresh.c_str(), path.c_str()) == 0) return {};
  const int failure = errno;
  unlink(fresh.c_str());
  return MakeErrnoError(failure, path);
}

}  // namespace

Result<std::unique_ptr<Memo>> Memo::Open(const std::string& folder, ContentStore& content) {
  const std::string path = folder + "/memo";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path, 0700));
  return std::unique_ptr<Memo>(new Memo(path, content));
}

std::string Memo::PathOf(std::string_view key) const {
  if (!IsSha256Hex(key)) return {};
  return fmt::format("{}/{}/{}", folder_, key.substr(0, 2), key);
}

std::optional<std::string> Memo::Get(std::string_view key) const {
  const std::string path = PathOf(key);
  if (path.empty()) return std::nullopt;
  std::array<char, kHashDigits + 1> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length != static_cast<ssize_t>(kHashDigits)) return std::nullopt;
  auto text = content_.Get(std::string_view(target.data(), kHashDigits));
  if (!text) return std::nullopt;
  return std::move(*text);
}

Status Memo::Put(std::string_view key, std::string_view text) const {
  const std::string path = PathOf(key);
  if (path.empty()) return MakeError(ErrorCode::kInvalidArgument, "'{}' is no SHA-256", key);
  if (!FindSecrets(text).empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const std::string sha256, content_.Put(text));
  if (Status linked = Link(sha256, path); linked) return {};
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/')), 0700));
  return Link(sha256, path);
}

}  // namespace dossier::store
