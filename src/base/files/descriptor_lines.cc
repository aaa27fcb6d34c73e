#include "base/files/descriptor_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dossier {
namespace {

constexpr std::size_t kReadBlock = 1u << 18;

}  // namespace

Result<bool> DescriptorLines::Fill() {
  while (true) {
    pollfd entries[] = {{fd_, POLLIN, 0}, {stop_.fd(), POLLIN, 0}};
    const int ready = poll(entries, 2, -1);
    if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "poll");
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
    if (ready < 0 || entries[0].revents == 0) continue;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kReadBlock);
    const ssize_t got = read(fd_, buffer_.data() + had, kReadBlock);
    buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got >= 0) return got > 0;
    if (errno != EINTR && errno != EAGAIN) return MakeErrnoError(errno, "input");
  }
}

Result<std::optional<std::string>> DescriptorLines::Next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', seen_);
    if (end != std::string::npos || ended_) {
      if (ended_ && end == std::string::npos && begin_ == buffer_.size() && !passing_over_)
        return std::nullopt;
      const std::size_t stop = std::min(end, buffer_.size());
      std::string line = buffer_.substr(begin_, stop - begin_);
      begin_ = seen_ = std::min(stop + 1, buffer_.size());
      if (!std::exchange(passing_over_, false) && line.size() <= longest_) return line;
      return MakeError(ErrorCode::kTooLong, "a line has more than {} bytes{}", longest_, advice_);
    }
    if (passing_over_ || buffer_.size() - begin_ > longest_) {
      passing_over_ = true;
      begin_ = buffer_.size();
    }
    // Once for each read, as a block can hold thousands of lines.
    buffer_.erase(0, std::exchange(begin_, 0));
    seen_ = buffer_.size();
    DOSSIER_ASSIGN_OR_RETURN(const bool more, Fill());
    ended_ = !more;
  }
}

}  // namespace dossier
