#include "cli/wiring/prompt_input.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/parser.h"

namespace dossier::cli {
namespace {

constexpr Millis kSlice{100};  // how soon a Ctrl-C is seen

using Warn = std::function<void(std::string_view)>;

// At first with a warning, where the pipe is silent. `limit` 0: for ever.
Result<InputStream::Ready> WaitWithWarning(InputStream& in, Millis limit, const Warn& warn,
                                           const CancelToken& cancel) {
  const auto wait = [&](Millis time) {
    return in.Wait(time.count() > 0 ? std::optional(time) : std::nullopt, cancel);
  };
  if (limit.count() > 0 && limit <= kSilenceBeforeWarning) return wait(limit);
  DOSSIER_ASSIGN_OR_RETURN(const auto ready, wait(kSilenceBeforeWarning));
  if (ready != InputStream::Ready::kNo) return ready;
  warn("waiting for stdin, which is a pipe without data so far; --no-stdin leaves it alone");
  return wait(limit.count() > 0 ? limit - kSilenceBeforeWarning : limit);
}

tl::unexpected<Error> SilentError(Millis limit) {
  return MakeError(ErrorCode::kTimeout,
                   "stdin stayed silent for {} ms, so nothing was sent; end its writer, or use "
                   "--no-stdin or --stdin-timeout",
                   limit.count());
}

// Reads to the end; warns once if the pipe is silent at first, fails when it stays so.
class Reader {
 public:
  Reader(const PromptRequest& request, InputStream& in, const Warn& warn, const CancelToken& cancel)
      : request_(request), in_(in), warn_(warn), cancel_(cancel) {}

  Result<std::string> ReadAll() {
    const bool prompted = request_.prompt && *request_.prompt != "-";
    Millis limit = request_.timeout.value_or(prompted ? kTimeoutWithPrompt : Millis(0));
    std::string text;
    bool warned = !prompted;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const InputStream::Ready ready, WaitOnce(limit, warned));
      warned = true;
      if (ready == InputStream::Ready::kClosed) return text;
      if (ready == InputStream::Ready::kNo) return SilentError(limit);
      DOSSIER_ASSIGN_OR_RETURN(const std::string part, in_.Read());
      if (part.empty()) return text;
      text += part;
    }
  }

 private:
  Result<InputStream::Ready> WaitOnce(Millis limit, bool warned) {
    if (!warned) return WaitWithWarning(in_, limit, warn_, cancel_);
    return in_.Wait(limit.count() > 0 ? std::optional(limit) : std::nullopt, cancel_);
  }

  const PromptRequest& request_;
  InputStream& in_;
  const Warn& warn_;
  const CancelToken& cancel_;
};

std::string Trimmed(std::string text, PromptRequest::Trim trim) {
  if (trim == PromptRequest::Trim::kBothEnds) return std::string(TrimSpace(text));
  if (!text.ends_with('\n')) return text;
  text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

bool StdinStream::IsTerminal() const { return isatty(STDIN_FILENO) != 0; }

Result<InputStream::Ready> StdinStream::Wait(std::optional<Millis> limit,
                                             const CancelToken& cancel) {
  const auto clock = SystemClock();
  const auto end = clock->Now() + limit.value_or(Millis(0));
  while (true) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    Millis wait = kSlice;
    if (limit) {
      const auto left = std::chrono::ceil<Millis>(end - clock->Now());
      if (left.count() <= 0) return Ready::kNo;
      wait = std::min(wait, left);
    }
    pollfd watched{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = poll(&watched, 1, static_cast<int>(wait.count()));
    if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "stdin");
    if (ready > 0) return (watched.revents & POLLNVAL) != 0 ? Ready::kClosed : Ready::kYes;
  }
}

Result<std::string> StdinStream::Read() {
  std::string bytes(64 << 10, '\0');
  while (true) {
    const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, "stdin");
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }
}

Result<PromptInput> ReadPromptInput(const PromptRequest& request, InputStream& in,
                                    const std::function<void(std::string_view)>& warn,
                                    const CancelToken& cancel) {
  using From = PromptInput::From;
  const bool named = request.prompt == "-";
  const bool prompted = request.prompt && !named;
  PromptInput input;
  if (prompted) {
    DOSSIER_RETURN_IF_ERROR(CheckUtf8(*request.prompt, "the prompt"));
    input = {*request.prompt, From::kPrompt};
  }
  const bool read = named || (request.stdin_use == PromptRequest::Stdin::kAuto && !in.IsTerminal());
  if (!read) return input;
  DOSSIER_ASSIGN_OR_RETURN(std::string text, Reader(request, in, warn, cancel).ReadAll());
  DOSSIER_RETURN_IF_ERROR(CheckUtf8(text, "stdin"));
  text = Trimmed(std::move(text), request.trim);
  if (text.empty()) return input;
  if (!prompted) return PromptInput{std::move(text), From::kStdin};
  return PromptInput{input.text + "\n" + text, From::kBoth};
}

bool IsPiped(int fd) {
  struct stat info{};
  return fstat(fd, &info) == 0 &&
         (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISREG(info.st_mode));
}

bool HoldsUnreadBytes(int fd) {
  int bytes = 0;
  return IsPiped(fd) && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

bool StdinIsPiped(const GlobalFlags& flags) { return !flags.no_stdin && IsPiped(STDIN_FILENO); }

Result<bool> StdinHoldsText(const GlobalFlags& flags, const CancelToken& cancel,
                            std::ostream& err) {
  if (!StdinIsPiped(flags)) return false;
  DOSSIER_ASSIGN_OR_RETURN(const auto timeout, StdinTimeout(flags));
  const Millis limit = timeout.value_or(kTimeoutWithPrompt);
  StdinStream in;
  DOSSIER_ASSIGN_OR_RETURN(
      const auto ready,
      WaitWithWarning(in, limit, [&](std::string_view line) { PrintWarning(err, line); }, cancel));
  if (ready == InputStream::Ready::kNo) return SilentError(limit);
  return ready == InputStream::Ready::kYes && HoldsUnreadBytes(STDIN_FILENO);
}

}  // namespace dossier::cli
