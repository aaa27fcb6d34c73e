#include "server/line_stream.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file.h"

namespace dossier::server {
namespace {

constexpr std::size_t kReadBlock = 1u << 18;

}  // namespace

Result<bool> LineReader::Fill() {
  pollfd entries[] = {{fd_, POLLIN, 0}, {stop_.fd(), POLLIN, 0}};
  while (poll(entries, 2, -1) < 0) {
    if (errno != EINTR) return MakeErrnoError(errno, "poll");
  }
  if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kReadBlock);
  ssize_t got = -1;
  do {
    got = read(fd_, buffer_.data() + had, kReadBlock);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return MakeErrnoError(errno, "input");
  return got > 0;
}

Result<std::optional<std::string>> LineReader::Next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', seen_);
    if (end != std::string::npos || ended_) {
      if (ended_ && end == std::string::npos && buffer_.empty() && !passing_over_)
        return std::nullopt;
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      seen_ = 0;
      if (!std::exchange(passing_over_, false) && line.size() <= longest_) return line;
      return MakeError(ErrorCode::kTooLong,
                       "a line has more than {} bytes: send large text as a path", longest_);
    }
    seen_ = buffer_.size();
    if (passing_over_ || buffer_.size() > longest_) {
      passing_over_ = true;
      buffer_.clear();
      seen_ = 0;
    }
    DOSSIER_ASSIGN_OR_RETURN(const bool more, Fill());
    ended_ = !more;
  }
}

Status LineWriter::Write(std::string line) {
  if (line.size() > kLongestLine) {
    return MakeError(ErrorCode::kTooLong, "a message of {} bytes is longer than {}", line.size(),
                     kLongestLine);
  }
  line += '\n';
  const std::lock_guard lock(mutex_);
  return WriteAll(fd_, line);
}

}  // namespace dossier::server
