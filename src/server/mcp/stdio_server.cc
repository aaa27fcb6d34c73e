#include "server/mcp/stdio_server.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/files/file.h"
#include "server/mcp/batch.h"

namespace dossier::mcp {
namespace {

constexpr std::size_t kReadBlock = 64 << 10;  // bytes

// Whole lines to one descriptor. A reader that is gone ends the server at its next message.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}

  void Line(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!failed_ && !WriteAll(fd_, text + "\n")) failed_ = true;
  }
  bool failed() const { return failed_; }

 private:
  const int fd_;
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
};

class LineOutlet final : public Outlet {
 public:
  explicit LineOutlet(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}
  void Notify(const std::string& text) override { writer_->Line(text); }
  void Answer(const std::string& text, int) override { writer_->Line(text); }
  void Drop() override {}

 private:
  const std::shared_ptr<Writer> writer_;
};

// Lines of a descriptor as they come; those above the limit are passed over.
class Reader {
 public:
  Reader(int fd, std::size_t most) : fd_(fd), most_(most) {}

  enum class Got : std::uint8_t { kLine, kTooLong, kEnd };
  Result<Got> Next(std::string* line, const CancelToken& cancel, const CancelFd& stop) {
    while (true) {
      const std::size_t end = buffer_.find('\n', looked_);
      if (end != buffer_.npos) {
        line->assign(buffer_, 0, end);
        buffer_.erase(0, end + 1);
        looked_ = 0;
        if (line->ends_with('\r')) line->pop_back();
        if (std::exchange(skipping_, false) || line->size() > most_) return Got::kTooLong;
        return Got::kLine;
      }
      if (buffer_.size() > most_) {
        buffer_.clear();
        skipping_ = true;
      }
      looked_ = buffer_.size();
      DOSSIER_ASSIGN_OR_RETURN(const bool more, Fill(cancel, stop));
      if (!more) return Got::kEnd;
    }
  }

 private:
  Result<bool> Fill(const CancelToken& cancel, const CancelFd& stop) {
    pollfd entries[] = {{fd_, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
    while (true) {
      if (cancel.cancelled()) return false;
      if (poll(entries, 2, -1) < 0 && errno != EINTR) return MakeErrnoError(errno, "stdin");
      if (entries[0].revents == 0) continue;
      const std::size_t had = buffer_.size();
      buffer_.resize(had + kReadBlock);
      const ssize_t got = read(fd_, buffer_.data() + had, kReadBlock);
      buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return MakeErrnoError(errno, "stdin");
      return got > 0;
    }
  }

  const int fd_;
  const std::size_t most_;
  std::string buffer_;
  std::size_t looked_ = 0;  // bytes that hold no line end
  bool skipping_ = false;
};

}  // namespace

Status ServeStdio(Catalog& catalog, const StdioOptions& options, const CancelToken& cancel) {
  const auto writer = std::make_shared<Writer>(options.out);
  Ticker ticker;
  Connection connection(
      catalog, ticker,
      {.info = options.info, .notify = [writer](const std::string& text) { writer->Line(text); }});
  const CancelFd stop(cancel);
  Reader reader(options.in, options.most_line);
  std::string line;
  while (!writer->failed()) {
    DOSSIER_ASSIGN_OR_RETURN(const Reader::Got got, reader.Next(&line, cancel, stop));
    if (got == Reader::Got::kEnd) break;
    const auto outlet = std::make_shared<LineOutlet>(writer);
    if (got == Reader::Got::kTooLong) {
      const RpcError error{kInvalidRequest,
                           fmt::format("a message has more than {} bytes", options.most_line)};
      outlet->Answer(ErrorText(nullptr, error), error.code);
    } else if (line.find_first_not_of(" \t") != line.npos) {
      Deliver(ReadMessages(line), connection, outlet);
    }
  }
  connection.CancelAll(cancel.cancelled() ? cancel.reason() : "the input ended");
  return {};
}

}  // namespace dossier::mcp
