#include "sandbox/jail/control_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::sandbox {
namespace {

constexpr std::string_view kNames[] = {".git", ".dossier", "dossier.yml"};
constexpr std::size_t kMostEntries = 200'000;
constexpr std::size_t kMostFound = 1000;  // each one costs a mount
constexpr int kNumbered = 9;              // .git.set-aside-1, -2, …; after these, random numbers

// Ignores the case of letters, because some file systems do not distinguish it.
bool IsControlName(std::string_view name) {
  if (name.size() < 4 || name.size() > 11) return false;
  const std::string lower = ToLowerAscii(name);
  return std::find(std::begin(kNames), std::end(kNames), lower) != std::end(kNames);
}

bool LiesInControlFile(std::string_view path) {
  const auto parts = Split(path, '/');
  return std::any_of(parts.begin(), parts.end(), IsControlName);
}

// Checks whether git takes a folder for a repository: it has a HEAD, and objects and refs of its
// own or of the folder that `commondir` names.
class RepositoryMarks {
 public:
  void See(std::string_view name) {
    head_ = head_ || name == "HEAD";
    objects_ = objects_ || name == "objects";
    refs_ = refs_ || name == "refs";
    common_ = common_ || name == "commondir";
  }
  bool all() const { return head_ && (common_ || (objects_ && refs_)); }

 private:
  bool head_ = false, objects_ = false, refs_ = false, common_ = false;
};

std::string Join(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

// Opens a folder without following links, because a program may have put one there. O_PATH also
// works if the folder is closed to its owner.
UniqueFd OpenFolder(int at, const std::string& path, int flags) {
  open_how how = {};
  how.flags = static_cast<unsigned>(O_DIRECTORY | O_CLOEXEC | flags);
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(syscall(__NR_openat2, at, path.c_str(), &how, sizeof(how))));
}

UniqueFd OpenRoot(const std::string& path) { return OpenFolder(AT_FDCWD, path, O_PATH); }

struct CloseList {
  void operator()(DIR* list) const { closedir(list); }
};

}  // namespace

// A folder being searched.
struct ControlFiles::Folder {
  const Path& root;
  std::string path;  // below the root
  int fd;
  struct stat info = {};
};

// Walks the folders below one root.
struct ControlFiles::Visit {
  std::size_t most;  // entries
  // How to treat a folder that is closed to its owner: a program may close it to keep us out.
  enum class Closed { kSkip, kOpen } closed;
  // Gets the names of control files, and "." for a folder that is a repository by itself. Returns
  // what else to search, besides the folders it was not asked about.
  std::function<std::vector<std::string>(const Folder&, const std::vector<std::string>&)> look;

  // Returns false if there were more entries than `most`.
  bool Run(const Path& root, const std::string& start) {
    const UniqueFd top = OpenRoot(start);
    if (!top.valid()) return errno == ENOENT || errno == ENOTDIR;
    std::deque<std::string> waiting = {""};
    std::size_t entries = 0;
    for (; !waiting.empty() && entries <= most; waiting.pop_front()) {
      const std::string& path = waiting.front();
      // Opens the root by its own path: without permission to enter it, "." cannot be found.
      const int at = path.empty() ? AT_FDCWD : top.get();
      const UniqueFd fd = Open(at, path.empty() ? start : path);
      if (!fd.valid()) continue;
      Folder folder{.root = root, .path = path, .fd = fd.get()};
      if (fstat(fd.get(), &folder.info) != 0) continue;
      for (std::string& child : List(folder, entries)) waiting.push_back(std::move(child));
    }
    return waiting.empty();
  }

 private:
  UniqueFd Open(int at, const std::string& path) const {
    struct stat info;
    if (closed == Closed::kOpen && fstatat(at, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(info.st_mode) && (info.st_mode & 0500) != 0500) {
      (void)fchmodat(at, path.c_str(), (info.st_mode & 07777) | 0700, 0);
    }
    return OpenFolder(at, path, O_RDONLY);
  }

  // Lists the folders in it that are to be searched.
  std::vector<std::string> List(const Folder& folder, std::size_t& entries) const {
    const std::unique_ptr<DIR, CloseList> list(fdopendir(fcntl(folder.fd, F_DUPFD_CLOEXEC, 0)));
    if (!list) return {};
    std::vector<std::string> children, control;
    RepositoryMarks marks;
    while (const dirent* entry = readdir(list.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      ++entries;
      marks.See(name);
      if (IsControlName(name)) {
        control.emplace_back(name);
      } else if (IsFolder(folder.fd, *entry)) {
        children.push_back(Join(folder.path, name));
      }
    }
    if (marks.all()) control.emplace_back(".");
    if (control.empty()) return children;
    std::vector<std::string> more = look(folder, control);
    // A protected repository contains nothing that a program could change.
    if (control.back() == "." && !folder.path.empty() &&
        std::find(more.begin(), more.end(), ".") == more.end()) {
      return {};
    }
    for (std::string& name : more) {
      if (name != ".") children.push_back(Join(folder.path, name));
    }
    return children;
  }

  static bool IsFolder(int folder, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat info;
    return fstatat(folder, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
  }
};

ControlFiles ControlFiles::Find(const std::vector<Path>& folders) {
  ControlFiles files;
  for (const Path& folder : folders) {
    const std::string real = Canonical(folder.host);
    if (real.empty() || LiesInControlFile(real)) continue;
    // A link in its path is resolved in the jail as well.
    files.folders_.push_back({real, folder.inside == folder.host ? real : folder.inside});
  }
  for (const Path& root : files.folders_) {
    Visit visit{.most = kMostEntries, .closed = Visit::Closed::kSkip};
    visit.look = [&](const Folder& folder, const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        struct stat info;
        if (fstatat(folder.fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        files.Note(folder, name, info);
      }
      return std::vector<std::string>();
    };
    if (!visit.Run(root, root.host)) files.complete_ = false;
  }
  return files;
}

void ControlFiles::Note(const Folder& folder, std::string_view name, const struct stat& info) {
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) {
    known_links_.emplace(info.st_dev, info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
    return;
  }
  known_.emplace(info.st_dev, info.st_ino);
  if (name != ".") known_names_.emplace(folder.info.st_dev, folder.info.st_ino, name);
  if (found_.size() == kMostFound) {
    complete_ = false;
    return;
  }
  const std::string below =
      name == "." ? "/" + folder.path : fmt::format("/{}", Join(folder.path, name));
  // A working folder that is a repository by itself would be closed completely.
  if (below != "/") found_.push_back({folder.root.host + below, folder.root.inside + below});
}

bool ControlFiles::IsKnown(const Folder& folder, std::string_view name,
                           const struct stat& info) const {
  return known_.contains({info.st_dev, info.st_ino}) ||
         known_links_.contains(
             {info.st_dev, info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec}) ||
         known_names_.contains({folder.info.st_dev, folder.info.st_ino, std::string(name)});
}

// Returns the line about it.
std::string ControlFiles::SetAside(const Folder& folder, const std::string& name) const {
  const std::string path = fmt::format("{}/{}", folder.root.host, Join(folder.path, name));
  for (int number = 1; number <= 2 * kNumbered; ++number) {
    // A program may have taken all numbers that it can guess.
    std::uint64_t suffix = static_cast<std::uint64_t>(number);
    if (number > kNumbered && getrandom(&suffix, sizeof(suffix), 0) < 0) break;
    const std::string aside = fmt::format("{}.set-aside-{}", name, suffix);
    int failed = renameat2(folder.fd, name.c_str(), folder.fd, aside.c_str(), RENAME_NOREPLACE);
    if (failed != 0 && errno == EACCES &&
        fchmod(folder.fd, (folder.info.st_mode & 07777) | 0700) == 0) {
      failed = renameat2(folder.fd, name.c_str(), folder.fd, aside.c_str(), RENAME_NOREPLACE);
    }
    // Some file systems only support renameat.
    if (failed != 0 && errno == EINVAL &&
        faccessat(folder.fd, aside.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
      failed = renameat(folder.fd, name.c_str(), folder.fd, aside.c_str());
    }
    if (failed == 0) return fmt::format("{} is now {}", path, aside);
    if (errno == ENOENT) return {};
    if (errno != EEXIST && errno != EINVAL) break;
  }
  return fmt::format("{} could not be renamed ({})", path, std::strerror(errno));
}

std::vector<std::string> ControlFiles::SetAsideNew(View view, Depth depth) const {
  std::vector<std::string> lines;
  Visit visit{.most = SIZE_MAX, .closed = Visit::Closed::kOpen};
  visit.look = [&](const Folder& folder, const std::vector<std::string>& names) {
    std::vector<std::string> more;
    for (const std::string& name : names) {
      struct stat info;
      if (fstatat(folder.fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (IsKnown(folder, name, info)) continue;
      // Without its HEAD it is an ordinary folder.
      std::string line = SetAside(folder, name == "." ? "HEAD" : name);
      if (line.empty()) continue;
      const std::size_t aside = line.rfind(name + ".set-aside-");
      if (name == ".") {
        more.emplace_back(".");
      } else if (S_ISDIR(info.st_mode) && aside != std::string::npos) {
        more.push_back(line.substr(aside));
      }
      lines.push_back(std::move(line));
    }
    return more;
  };
  for (const Path& root : folders_) {
    const std::string& start = view == View::kHost ? root.host : root.inside;
    if (depth == Depth::kAll && complete_) {
      (void)visit.Run(root, start);
      continue;
    }
    const UniqueFd fd = OpenRoot(start);
    Folder folder{.root = root, .path = "", .fd = fd.get()};
    if (!fd.valid() || fstat(fd.get(), &folder.info) != 0) continue;
    (void)visit.look(folder, std::vector<std::string>(std::begin(kNames), std::end(kNames)));
  }
  return lines;
}

}  // namespace dossier::sandbox
