#include "sources/header/note_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "base/files/file.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::string ShownPath(std::string_view path) { return utf8::CleanForTerminal(path); }

// One queue; the folder stays open, so that names are looked up in it and nowhere else.
class QueueScanner {
 public:
  // `buffer` holds kMaxNoteBytes.
  QueueScanner(std::string_view queue, Folder folder, NoteScanOptions::Texts texts, char* buffer,
               NoteScan* scan)
      : queue_(queue), folder_(std::move(folder)), texts_(texts), buffer_(buffer), scan_(*scan) {}

  void Scan() {
    ListNames();
    scan_.notes.reserve(scan_.notes.size() + starts_.size());
    for (const std::uint32_t start : starts_) ReadNote(names_.data() + start);
  }

 private:
  // All names in one text, each with its NUL: sorting numbers is cheaper than moving notes.
  void ListNames() {
    while (const dirent* entry = readdir(folder_.get())) {
      const std::string_view name = entry->d_name;
      const bool may_be_file = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
      if (name.starts_with('.') || !may_be_file) continue;
      starts_.push_back(static_cast<std::uint32_t>(names_.size()));
      names_.append(name).push_back('\0');
    }
    std::sort(starts_.begin(), starts_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::strcmp(names_.data() + a, names_.data() + b) < 0;
    });
  }

  void ReadNote(const char* name) {
    UniqueFd fd(openat(dirfd(folder_.get()), name,
                       O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd.valid()) return Skip(name, errno);
    struct stat info{};
    if (fstat(fd.get(), &info) != 0) return Skip(name, errno);
    if (!S_ISREG(info.st_mode)) return;
    std::size_t size = 0;
    while (size < kMaxNoteBytes) {
      const ssize_t count = read(fd.get(), buffer_ + size, kMaxNoteBytes - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Skip(name, errno);
      size += static_cast<std::size_t>(count);
      // A short read of a regular file that reached its size is its end.
      if (count == 0 || size == static_cast<std::size_t>(info.st_size)) break;
    }
    path_.assign(queue_).append("/").append(name);
    const std::string_view text(buffer_, size);
    Note& note = scan_.notes.emplace_back(ParseNote(path_, text));
    note.mtime_ns = NanosSinceEpoch(info.st_mtim);
    if (texts_ == NoteScanOptions::Texts::kKept) note.text = text;
  }

  void Skip(std::string_view name, int error) {
    if (error == ELOOP) return;  // a link
    ++scan_.skipped;
    if (error == ENOENT) return;  // it vanished
    scan_.unreadable.push_back(
        fmt::format("{}/{}: cannot be read: {}", queue_, ShownPath(name), std::strerror(error)));
  }

  std::string_view queue_;
  Folder folder_;
  NoteScanOptions::Texts texts_;
  char* buffer_;
  NoteScan& scan_;
  std::string path_;
  std::string names_;
  std::vector<std::uint32_t> starts_;  // of each name in names_
};

void FindTwins(const NoteScan& scan, std::vector<std::string>* lines) {
  std::map<std::pair<std::string_view, std::string_view>, const Note*> first;
  for (const Note& note : scan.notes) {
    const auto [known, added] = first.try_emplace({note.queue, note.id}, &note);
    if (added) continue;
    lines->push_back(fmt::format("{}: id {} is that of {}, too", ShownPath(note.path()),
                                 ShownPath(note.id), ShownPath(known->second->path())));
  }
}

}  // namespace

Result<NoteScan> ScanNotes(const std::string& root, const NoteScanOptions& options) {
  NoteScan scan;
  // Not cleared: most notes fill a page of it.
  const auto buffer = std::make_unique_for_overwrite<char[]>(kMaxNoteBytes);
  for (const std::string_view queue : options.queues) {
    const std::string path =
        (std::filesystem::path(root) / options.folder / std::string(queue)).string();
    Folder folder(opendir(path.c_str()));
    if (!folder) {
      if (errno == ENOENT) continue;
      if (errno == ENOTDIR) {
        return MakeError(ErrorCode::kConfig, "{}/{}: notes stand in a folder, and this is none",
                         options.folder, queue);
      }
      ++scan.skipped;
      scan.unreadable.push_back(fmt::format("{}: cannot be read: {}", queue, std::strerror(errno)));
      continue;
    }
    QueueScanner(queue, std::move(folder), options.texts, buffer.get(), &scan).Scan();
  }
  return scan;
}

bool IsNewer(const Note& a, const Note& b) {
  if (a.mtime_ns != b.mtime_ns) return a.mtime_ns > b.mtime_ns;
  return a.path() < b.path();
}

std::vector<std::string> LintNotes(const NoteScan& scan) {
  std::vector<std::string> lines = scan.unreadable;
  for (const Note& note : scan.notes) {
    for (const std::string& problem : note.problems) {
      lines.push_back(fmt::format("{}: {}", ShownPath(note.path()), ShownPath(problem)));
    }
  }
  FindTwins(scan, &lines);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace dossier::sources
