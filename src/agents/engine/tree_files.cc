#include "agents/engine/tree_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/glob.h"
#include "base/files/walk.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr std::size_t kMaxListed = 100'000;
constexpr std::size_t kReadBlock = 64 << 10;

enum class Links { kInside, kNone };

UniqueFd OpenBeneath(int folder, const std::string& path, int flags, Links links) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? 0644 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::kNone) how.resolve |= RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how))));
}

tl::unexpected<Error> Failure(int reason, const std::string& path) {
  switch (reason) {
    case EXDEV:
      return MakeError(ErrorCode::kPermission, "{} leads out of the worktree", path);
    case ELOOP:
      return MakeError(ErrorCode::kPermission, "{} goes through a link", path);
    case ENOENT:
    case ENOTDIR:
      return MakeError(ErrorCode::kNotFound, "there is no file {}", path);
    default:
      return MakeErrnoError(reason, path);
  }
}

Result<std::string> ReadAll(int fd, const std::string& path) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kNotFound, "{} is not a regular file", path);
  }
  if (static_cast<std::uint64_t>(info.st_size) > kMaxToolFile) {
    return MakeError(ErrorCode::kTooLong, "{} has {} bytes; at most {} are read", path,
                     info.st_size, kMaxToolFile);
  }
  std::string text;
  while (text.size() <= kMaxToolFile) {
    const std::size_t before = text.size();
    text.resize(before + kReadBlock);
    const ssize_t got = read(fd, text.data() + before, kReadBlock);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) return MakeErrnoError(errno, path);
    if (got == 0) return text;
  }
  return MakeError(ErrorCode::kTooLong, "{} grows while it is read", path);
}

bool IsOurs(std::string_view path) {
  return path == ".git" || path.starts_with(".git/") || path.starts_with(".agent/");
}

}  // namespace

Result<TreeFiles> TreeFiles::Open(const std::string& root) {
  UniqueFd folder(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return MakeErrnoError(errno, root);
  return TreeFiles(root, std::move(folder));
}

Result<std::string> TreeFiles::Read(const std::string& path) const {
  const UniqueFd fd = OpenBeneath(folder_.get(), path, O_RDONLY | O_NONBLOCK, Links::kInside);
  if (!fd.valid()) return Failure(errno, path);
  return ReadAll(fd.get(), path);
}

// The folder of `path`; `name` gets the rest.
Result<UniqueFd> TreeFiles::OpenParent(const std::string& path, bool make,
                                       std::string* name) const {
  UniqueFd at = OpenBeneath(folder_.get(), ".", O_RDONLY | O_DIRECTORY, Links::kNone);
  std::vector<std::string_view> parts = Split(path, '/');
  if (path.empty() || parts.back().empty() || parts.back() == "." || parts.back() == "..") {
    return MakeError(ErrorCode::kNotFound, "'{}' names no file", path);
  }
  *name = parts.back();
  parts.pop_back();
  if (path.front() == '/') return Failure(EXDEV, path);
  for (const std::string_view part : parts) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return Failure(EXDEV, path);
    const std::string folder(part);
    if (make && mkdirat(at.get(), folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return Failure(errno, path);
    }
    at = OpenBeneath(at.get(), folder, O_RDONLY | O_DIRECTORY, Links::kNone);
    if (!at.valid()) return Failure(errno, path);
  }
  return at;
}

Status TreeFiles::Write(const std::string& path, std::string_view content) const {
  std::string name;
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd parent, OpenParent(path, /*make=*/true, &name));
  const UniqueFd fd =
      OpenBeneath(parent.get(), name, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, Links::kNone);
  if (!fd.valid()) return Failure(errno, path);
  return WriteAll(fd.get(), content);
}

Status TreeFiles::Remove(const std::string& path) const {
  std::string name;
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd parent, OpenParent(path, /*make=*/false, &name));
  if (unlinkat(parent.get(), name.c_str(), 0) != 0) return Failure(errno, path);
  return {};
}

Result<std::vector<std::string>> TreeFiles::List(const std::string& glob,
                                                 const CancelToken& cancel) const {
  WalkOptions options{.hidden = HiddenFiles::kInclude, .max_files = kMaxListed};
  options.global_ignore_file = "";
  DOSSIER_ASSIGN_OR_RETURN(const WalkResult found, WalkFolder(root_, options, cancel));
  std::vector<Glob> globs;
  for (const std::string& one : ExpandBraces(glob)) {
    globs.emplace_back(one);
    // As people mean it: a pattern without a slash fits in every folder.
    if (one.find('/') == std::string::npos) globs.emplace_back("**/" + one);
  }
  std::vector<std::string> paths;
  for (const std::string& path : found.files) {
    const std::string below = path.substr(std::min(path.size(), root_.size() + 1));
    const bool fits = glob.empty() || std::any_of(globs.begin(), globs.end(), [&](const Glob& one) {
                        return one.Matches(below);
                      });
    if (fits && !IsOurs(below)) paths.push_back(below);
  }
  return paths;
}

}  // namespace dossier::agents
