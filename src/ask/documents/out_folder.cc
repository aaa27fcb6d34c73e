#include "ask/documents/out_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/clean.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLongestName = 200;  // bytes
constexpr std::size_t kReadBlock = 1 << 20;

// Returns why `name` is not a valid file name here; empty if it is.
std::string_view FaultOfName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return "has no bytes or more than 200";
  if (name.find('/') != std::string_view::npos || name.find('\\') != std::string_view::npos) {
    return "names a folder, and there are none";
  }
  if (name[0] == '.' || name[0] == '-' || name[0] == '~') return "begins with . - or ~";
  if (name.front() == ' ' || name.back() == ' ' || name.back() == '.') {
    return "has an end of space or dot";
  }
  if (!utf8::IsValid(name) || inspect::CleanText(name) != name) {
    return "has characters that are not printed";
  }
  return "";
}

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return MakeErrnoError(errno, "the folder of --out-dir");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> HashOf(int fd) {
  Sha256 hash;
  std::string block(kReadBlock, '\0');
  while (true) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, "the folder of --out-dir");
    if (got == 0) return hash.Hex();
    hash.Update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
  }
}

}  // namespace

JsonArray OutFilesJson(const std::vector<OutFile>& files) {
  JsonArray list;
  for (const OutFile& file : files) {
    list.push_back(JsonObject{
        {"name", file.name}, {"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return list;
}

Result<std::unique_ptr<OutFolder>> OutFolder::Open(const std::string& path, Held held) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOTDIR || errno == EEXIST) {
      return MakeError(ErrorCode::kUsage, "--out-dir {}: it is no folder", path);
    }
    return MakeErrnoError(errno, fmt::format("--out-dir {}", path));
  }
  if (held == Held::kNothing && (!std::filesystem::is_empty(path, error) || error)) {
    return MakeError(ErrorCode::kUsage,
                     "--out-dir {}: it holds files already; name a new or an empty folder", path);
  }
  return std::unique_ptr<OutFolder>(new OutFolder(path, std::move(fd), held));
}

Status OutFolder::Write(std::string_view name, How how, std::string_view bytes) {
  if (const std::string_view fault = FaultOfName(name); !fault.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "no file is written: the name {} {}",
                     ToJson(Json(utf8::Prefix(utf8::Sanitize(name), 80))), fault);
  }
  const std::lock_guard lock(mutex_);
  const auto known = files_.find(name);
  const bool ours = known != files_.end();
  const bool appends = ours && how == How::kAppend;
  const std::uint64_t freed = ours && !appends ? known->second.bytes : 0;
  if (!ours && files_.size() >= kMostOutFiles) {
    return MakeError(ErrorCode::kLimit, "no file is written: there are {} already",
                     GroupDigits(kMostOutFiles));
  }
  if (bytes.size() > kMostOutBytes - (total_ - freed)) {
    return MakeError(ErrorCode::kLimit,
                     "no file is written: all together would have more than {} bytes",
                     GroupDigits(kMostOutBytes));
  }
  const std::string file(name);
  struct stat info{};
  if (!ours && held_ == Held::kOfThisRun &&
      fstatat(fd_.get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
      unlinkat(fd_.get(), file.c_str(), 0) != 0) {
    return MakeErrnoError(errno, fmt::format("{} in the folder of --out-dir", name));
  }
  // Opens a file only if code wrote it or if it does not exist yet; never follows a link.
  const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (ours ? 0 : O_CREAT | O_EXCL) |
                    (appends ? O_APPEND : 0);
  const UniqueFd fd(openat(fd_.get(), file.c_str(), flags, 0644));
  if (!fd.valid() || fstat(fd.get(), &info) != 0) {
    return MakeErrnoError(errno, fmt::format("{} in the folder of --out-dir", name));
  }
  if (ours && (info.st_dev != known->second.device || info.st_ino != known->second.inode)) {
    return MakeError(ErrorCode::kIo,
                     "{} in the folder of --out-dir is no longer the file of this run", name);
  }
  if (ours && !appends && ftruncate(fd.get(), 0) != 0) {
    return MakeErrnoError(errno, fmt::format("{} in the folder of --out-dir", name));
  }
  Written& written = files_[file];
  written.device = info.st_dev;
  written.inode = info.st_ino;
  total_ -= freed;
  written.bytes -= freed;
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  total_ += bytes.size();
  written.bytes += bytes.size();
  return {};
}

std::vector<OutFile> OutFolder::Collect(std::vector<std::string>* lost) const {
  const std::lock_guard lock(mutex_);
  std::vector<OutFile> files;
  for (const auto& [name, written] : files_) {
    const UniqueFd fd(
        openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info{};
    const bool same = fd.valid() && fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) &&
                      info.st_dev == written.device && info.st_ino == written.inode &&
                      static_cast<std::uint64_t>(info.st_size) == written.bytes;
    const Result<std::string> hash =
        same ? HashOf(fd.get()) : MakeError(ErrorCode::kIo, "it is no longer what code wrote");
    if (!hash) {
      lost->push_back(fmt::format("{}/{}: {}", path_, name, hash.error().message));
      continue;
    }
    files.push_back({.name = name,
                     .path = fmt::format("{}/{}", path_, name),
                     .bytes = written.bytes,
                     .sha256 = *hash});
  }
  return files;
}

}  // namespace dossier::ask
