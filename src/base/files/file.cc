#include "base/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/files/replace_file.h"
#include "base/random.h"

namespace dossier {
namespace {

std::string TempRoot() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen && chosen[0] == '/' ? chosen : "/tmp";
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void UniqueFd::Reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Result<std::string> ReadFile(const std::string& path, std::uint64_t max_bytes) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return ReadAll(fd.get(), path, max_bytes);
}

Result<std::string> ReadAll(int fd, std::string_view name, std::uint64_t max_bytes) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return MakeErrnoError(errno, name);
  const auto too_long = [&] {
    return MakeError(ErrorCode::kTooLong, "{}: larger than {} bytes", name, max_bytes);
  };
  // Before room is made for it: a file with holes may say any size.
  if (info.st_size > 0 && static_cast<std::uint64_t>(info.st_size) > max_bytes) return too_long();
  std::string out;
  // One byte more than there should be: the read that fills less of it has seen the end.
  const bool sized = info.st_size > 0;  // files of /proc say 0
  if (sized) out.reserve(static_cast<std::size_t>(info.st_size) + 1);
  while (true) {
    const std::size_t old = out.size(), reserved = out.capacity() - old;
    const std::size_t room = sized && reserved > 0 ? reserved : 65536;
    out.resize(old + room);
    const ssize_t got = read(fd, out.data() + old, room);
    if (got < 0 && errno == EINTR) {
      out.resize(old);
      continue;
    }
    if (got < 0) return MakeErrnoError(errno, name);
    out.resize(old + static_cast<std::size_t>(got));
    if (out.size() > max_bytes) return too_long();
    if (got == 0) return out;
  }
}

Status WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return MakeErrnoError(errno, "write");
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status WriteFileAtomic(const std::string& path, std::string_view content, unsigned mode) {
  return ReplaceFile(path, {content}, {.mode = mode, .durability = Durability::kSurvivesPowerLoss});
}

Status MakeFolders(const std::string& path, unsigned mode) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) {  // as nearly always: one call, however deep it is
    if (!S_ISDIR(info.st_mode)) return MakeErrnoError(ENOTDIR, path);
    return {};
  }
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), mode) != 0 && errno != EEXIST) {
      const int failure = errno;  // an existing folder may be on a read-only file system
      if (stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return MakeErrnoError(failure, part);
      }
    }
    if (end == std::string::npos) break;
  }
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISDIR(info.st_mode)) return MakeErrnoError(ENOTDIR, path);
  return {};
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool IsFolder(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsBelow(std::string_view path, std::string_view folder) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/';
}

namespace {

// Folders that keep their owner out, as programs in a sandbox and the kernel's overlays leave them.
void LetOwnerIn(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::symlink_status(folder, error).type() != fs::file_type::directory) return;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    LetOwnerIn(entry->path());
  }
}

}  // namespace

Status RemoveAll(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error == std::errc::permission_denied) {
    LetOwnerIn(path);
    std::filesystem::remove_all(path, error);
  }
  if (error) return MakeErrnoError(error.value(), path);
  return {};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return FromFd(fd.get(), path);
}

Result<MappedFile> MappedFile::FromFd(int fd, std::string_view name_for_errors) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return MakeErrnoError(errno, name_for_errors);
  MappedFile file;
  if (info.st_size == 0) return file;
  void* data = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return MakeErrnoError(errno, name_for_errors);
  file.data_ = static_cast<const char*>(data);
  file.size_ = static_cast<std::size_t>(info.st_size);
  return file;
}

Result<std::string> MakeTempFolder(std::string_view prefix) {
  std::string path = fmt::format("{}/{}-XXXXXX", TempRoot(), prefix);
  if (!mkdtemp(path.data())) return MakeErrnoError(errno, path);
  return path;
}

Result<UniqueFd> OpenNameless() {
  UniqueFd file(open(TempRoot().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid()) return file;
  // Not every file system has unnamed files.
  std::string path = fmt::format("{}/dossier-XXXXXX", TempRoot());
  file = UniqueFd(mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return MakeErrnoError(errno, path);
  unlink(path.c_str());
  return file;
}

Result<TempFolder> TempFolder::Make(std::string_view prefix) {
  DOSSIER_ASSIGN_OR_RETURN(std::string path, MakeTempFolder(prefix));
  return TempFolder(std::move(path));
}

TempFolder::~TempFolder() {
  if (!path_.empty()) static_cast<void>(RemoveAll(path_));
}

Result<std::string> ExecutableFolder() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return MakeErrnoError(errno, "/proc/self/exe");
  path.resize(static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

}  // namespace dossier
