#include "inspect/text/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/text.h"

namespace dossier::inspect {
namespace {

// Fills `out`, handling short reads and EINTR.
Result<std::size_t> ReadFully(int fd, std::uint64_t offset, std::span<char> out,
                              const std::string& name) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return MakeErrnoError(errno, fmt::format("{}: reading at byte {}", name, offset + done));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

class FileSource final : public ByteSource {
 public:
  FileSource(UniqueFd fd, std::string name, std::string path)
      : fd_(std::move(fd)), name_(std::move(name)), path_(std::move(path)) {}

  const std::string& name() const override { return name_; }

  std::optional<std::uint64_t> size() const override {
    const SourceState now = state();
    // /proc files have size 0 but contain text.
    if (now.size == 0) return std::nullopt;
    return now.size;
  }

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    return ReadFully(fd_.get(), offset, out, name_);
  }

  SourceState state() const override {
    struct stat info{};
    if (fstat(fd_.get(), &info) != 0) return {};
    SourceState state{.size = static_cast<std::uint64_t>(info.st_size),
                      .inode = info.st_ino,
                      .device = info.st_dev,
                      .modified_ns = NanosSinceEpoch(info.st_mtim)};
    // Checks what the name refers to now: a file that was replaced has another inode.
    struct stat named{};
    if (stat(path_.c_str(), &named) == 0) {
      state.inode = named.st_ino;
      state.device = named.st_dev;
    }
    return state;
  }

 private:
  UniqueFd fd_;
  std::string name_, path_;
};

class TextSource final : public ByteSource {
 public:
  TextSource(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::optional<std::uint64_t> size() const override { return text_.size(); }
  std::optional<std::string_view> bytes() const override { return text_; }

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    if (offset >= text_.size()) return 0;
    const std::string_view part = text_.substr(offset, out.size());
    std::memcpy(out.data(), part.data(), part.size());
    return part.size();
  }

 private:
  std::string_view text_;
  std::string name_;
};

// Stores the data read from a stream: the beginning in memory, the rest in an unlinked file.
class SpooledSource final : public ByteSource {
 public:
  SpooledSource(ReadMore read_more, std::string name)
      : read_more_(std::move(read_more)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::optional<std::uint64_t> size() const override { return std::nullopt; }

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    std::lock_guard lock(mutex_);
    DOSSIER_RETURN_IF_ERROR(SpoolTo(offset + out.size()));
    std::size_t done = 0;
    if (offset < memory_.size()) {
      done = std::min<std::size_t>(out.size(), memory_.size() - static_cast<std::size_t>(offset));
      std::memcpy(out.data(), memory_.data() + offset, done);
    }
    if (done == out.size() || offset + done >= spooled_) return done;
    DOSSIER_ASSIGN_OR_RETURN(
        const std::size_t rest,
        ReadFully(file_.get(), offset + done - kMemoryBytes, out.subspan(done), name_));
    return done + rest;
  }

 private:
  static constexpr std::uint64_t kMemoryBytes = 4 << 20;

  Status SpoolTo(std::uint64_t end) const {
    char buffer[65536];
    while (!ended_ && spooled_ < end) {
      DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, read_more_(spooled_, std::span(buffer)));
      if (got == 0) {
        ended_ = true;
        break;
      }
      DOSSIER_RETURN_IF_ERROR(Keep({buffer, got}));
    }
    return {};
  }

  Status Keep(std::string_view bytes) const {
    const std::size_t room = static_cast<std::size_t>(kMemoryBytes) - memory_.size();
    memory_ += bytes.substr(0, room);
    spooled_ += bytes.size();
    if (bytes.size() <= room) return {};
    if (!file_.valid()) {
      DOSSIER_ASSIGN_OR_RETURN(file_, OpenNameless());
    }
    return WriteAll(file_.get(), bytes.substr(room));
  }

  const ReadMore read_more_;
  const std::string name_;
  mutable std::mutex mutex_;  // guards everything below
  mutable std::string memory_;
  mutable UniqueFd file_;
  mutable std::uint64_t spooled_ = 0;
  mutable bool ended_ = false;
};

tl::unexpected<Error> OpenError(int errno_value, const std::string& path) {
  if (errno_value == ENOENT || errno_value == ENOTDIR) {
    return tl::unexpected(ExplainMissing(ErrnoError(ENOENT, path), path));
  }
  if (errno_value == EACCES || errno_value == EPERM) {
    return MakeError(ErrorCode::kPermission, "{}: permission denied", path);
  }
  if (errno_value == ENXIO) {
    return MakeError(ErrorCode::kIsDevice,
                     "{}: not a regular file; pipe it in with - if you mean it", path);
  }
  return MakeErrnoError(errno_value, path);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return OpenError(errno, path);
  if (S_ISDIR(info.st_mode)) return MakeError(ErrorCode::kIsDevice, "{}: is a directory", path);
  if (!S_ISREG(info.st_mode)) return OpenError(ENXIO, path);
  // O_NONBLOCK: if the path has become a FIFO meanwhile, open does not wait for a writer.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return OpenError(errno, path);
  if (fstat(fd.get(), &info) != 0) return OpenError(errno, path);
  if (!S_ISREG(info.st_mode)) return OpenError(ENXIO, path);
  return FileSourceOf(std::move(fd), path, path);
}

std::unique_ptr<ByteSource> FileSourceOf(UniqueFd fd, std::string name, std::string path) {
  return std::make_unique<FileSource>(std::move(fd), std::move(name), std::move(path));
}

std::unique_ptr<ByteSource> MemorySource(std::string_view text, std::string name) {
  return std::make_unique<TextSource>(text, std::move(name));
}

std::unique_ptr<ByteSource> StreamSource(int fd, std::string name) {
  ReadMore read_more = [fd, name](std::uint64_t at, std::span<char> out) -> Result<std::size_t> {
    while (true) {
      const ssize_t got = read(fd, out.data(), out.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) {
        return MakeErrnoError(errno, fmt::format("{}: reading at byte {}", name, at));
      }
    }
  };
  return StreamSource(std::move(read_more), std::move(name));
}

std::unique_ptr<ByteSource> StreamSource(ReadMore read_more, std::string name) {
  return std::make_unique<SpooledSource>(std::move(read_more), std::move(name));
}

std::unique_ptr<ByteSource> StdinSource(std::string name) {
  return StreamSource(STDIN_FILENO, std::move(name));
}

}  // namespace dossier::inspect
