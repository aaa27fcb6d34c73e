#include "cli/terminal/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/json/json.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kFull = 64 << 10;  // bytes collected at most
constexpr int kClosed = 141;
constexpr std::size_t kMaxLine = 16 << 10;  // bytes of a line in the log

}  // namespace

bool OutputBuffer::closed() const { return failure_ == EPIPE || failure_ == ECONNRESET; }

int OutputBuffer::ExitCode(int code, std::ostream& err) {
  sync();
  if (failure_ == 0) return code;
  if (closed()) return kClosed;
  PrintError(err, ErrnoError(failure_, "stdout"));
  return code == 0 || code == kClosed ? 1 : code;  // a command sees only that it cannot write
}

OutputBuffer::int_type OutputBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize OutputBuffer::xsputn(const char* text, std::streamsize size) {
  if (failure_ != 0) return 0;
  pending_.append(text, static_cast<std::size_t>(size));
  if (pending_.size() >= kFull && sync() != 0) return 0;
  return size;
}

int OutputBuffer::sync() {
  std::string_view rest = pending_;
  while (!rest.empty() && failure_ == 0) {
    const ssize_t wrote = write(fd_, rest.data(), rest.size());
    if (wrote >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      failure_ = errno;
    }
  }
  pending_.clear();
  return failure_ == 0 ? 0 : -1;
}

Status LogBuffer::Open(const std::string& path, Form form) {
  fd_ = UniqueFd(
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
  if (!fd_.valid()) return MakeErrnoError(errno, path);
  form_ = form;
  return {};
}

LogBuffer::int_type LogBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize LogBuffer::xsputn(const char* text, std::streamsize size) {
  if (fd_.valid()) {
    for (const char c : std::string_view(text, static_cast<std::size_t>(size))) {
      // A progress line is redrawn after carriage returns: only the last version is kept.
      if (c == '\r') line_.clear();
      if (c == '\n') Log(line_);
      if (c == '\n') line_.clear();
      if (c != '\n' && c != '\r' && line_.size() < kMaxLine) line_ += c;
    }
  }
  return next_->sputn(text, size);
}

int LogBuffer::sync() { return next_->pubsync(); }

void LogBuffer::Log(std::string_view text) {
  if (text.empty()) return;
  const std::string clean = SafeMessage(text);
  const std::string time = FormatTime(SystemClock()->WallNow());
  const std::string line =
      form_ == Form::kJson
          ? ToJson(JsonObject{{"time", time}, {"pid", getpid()}, {"message", clean}})
          : fmt::format("{} [{}] {}", time, getpid(), clean);
  // One write per line, so that lines of several processes do not mix.
  static_cast<void>(WriteAll(fd_.get(), line + "\n"));
}

}  // namespace dossier::cli
