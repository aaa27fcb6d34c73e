#include "cli/wiring/prompt_input.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/net/url.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/parser.h"
#include "inspect/containers/archive_library.h"
#include "inspect/containers/binary_marks.h"
#include "inspect/text/encoding.h"
#include "inspect/text/legacy_encoding.h"

namespace dossier::cli {
namespace {

constexpr Millis kSlice{100};  // how quickly Ctrl-C is noticed

using Warn = std::function<void(std::string_view)>;

// Warns first if the pipe is silent. A `limit` of 0 means for ever.
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

// Reads to the end; warns once if the pipe is silent at first, and fails if it stays so.
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

namespace {

tl::unexpected<Error> NoText(std::string_view place, std::string_view bytes) {
  if (bytes.starts_with("%PDF-")) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} is a PDF, which is neither text nor image; give its text: --exec "
                     "\"pdftotext FILE -\"",
                     place);
  }
  const std::string_view kind = inspect::BinaryKind(bytes.substr(0, 4096));
  if (inspect::IsCompression(kind)) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "{} is a {} file; unpack it, or let `dossier ask {} QUESTION` read it as it is", place,
        kind, place);
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "{} is neither text nor an image (PNG, JPEG, GIF, WebP)", place);
}

// Converts to UTF-8. For a text that is not UTF-8 it guesses the encoding and says so.
Result<std::string> TextOf(std::string_view place, std::string_view bytes,
                           std::vector<std::string>* warnings) {
  if (bytes.starts_with("%PDF-")) return NoText(place, bytes);
  const inspect::EncodingGuess guess = inspect::GuessEncoding(bytes);
  inspect::EncodingKind kind = guess.kind;
  if (kind == inspect::EncodingKind::kBinary) return NoText(place, bytes);
  if (kind == inspect::EncodingKind::kUtf8) {
    if (bytes.find('\0') != bytes.npos) return NoText(place, bytes);
    bytes.remove_prefix(std::min(guess.bom_bytes, bytes.size()));
    if (utf8::IsValid(bytes)) return std::string(bytes);
    const auto legacy = inspect::GuessLegacy(bytes);
    if (!legacy) return NoText(place, bytes);
    kind = *legacy;
  } else {
    bytes.remove_prefix(std::min(guess.bom_bytes, bytes.size()));
  }
  std::string text;
  const inspect::DecodeStats stats = inspect::Decode(kind, bytes, inspect::LastBytes::kYes, &text);
  // A program may look like a two-byte encoding, but no text has a zero or an invalid code unit.
  const bool guessed = guess.bom_bytes == 0;
  if (text.find('\0') != text.npos || (guessed && stats.invalid > 0)) return NoText(place, bytes);
  if (inspect::IsLegacy(kind)) {
    warnings->push_back(
        fmt::format("{} is read as {}, which is a guess", place, inspect::EncodingName(kind)));
  }
  return text;
}

Result<std::string> ReadPlace(const std::string& place, Network network,
                              const CancelToken& cancel) {
  if (place == "-") return ReadAll(STDIN_FILENO, "stdin", kMaxAttachment);
  return ReadNamedPlace(place, kMaxAttachment, network, cancel);
}

std::string Expanded(std::string_view path) {
  const char* home = std::getenv("HOME");
  return ExpandHome(path, home ? home : "");
}

bool IsRegularFile(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Reads what follows an @, up to a space or within quotes; moves `at` past it.
std::string_view TakeMention(std::string_view line, std::size_t* at) {
  const bool quoted = *at < line.size() && line[*at] == '"';
  const std::size_t begin = *at + (quoted ? 1 : 0);
  std::size_t end = quoted ? line.find('"', begin) : line.find_first_of(" \t\n", begin);
  if (end == line.npos) end = line.size();
  *at = std::min(line.size(), end + (quoted ? 1 : 0));
  return line.substr(begin, end - begin);
}

}  // namespace

void Attachments::Add(Attachments more) {
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(texts, more.texts);
  append(images, more.images);
  append(warnings, more.warnings);
}

Result<Attachments> ReadAttachments(const std::vector<std::string>& places, Network network,
                                    const CancelToken& cancel) {
  Attachments out;
  for (const std::string& place : places) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, ReadPlace(place, network, cancel));
    const std::string name = place == "-" ? "stdin" : place;
    if (const std::string_view type = ImageType(bytes); !type.empty()) {
      out.images.push_back({.type = assembly::Block::Type::kImage,
                            .text = Base64(bytes),
                            .media_type = std::string(type)});
      continue;
    }
    DOSSIER_ASSIGN_OR_RETURN(std::string text, TextOf(name, bytes, &out.warnings));
    out.texts.push_back({.name = name, .text = std::move(text)});
  }
  return out;
}

std::vector<std::string> MentionedFiles(std::string_view line) {
  std::vector<std::string> files;
  std::size_t at = 0;
  while ((at = line.find('@', at)) != line.npos) {
    const bool starts_word = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    ++at;
    if (!starts_word) continue;
    std::string_view name = TakeMention(line, &at);
    std::string path = Expanded(name);
    // "see @notes.txt, please": the comma belongs to the sentence.
    while (!name.empty() && !IsRegularFile(path) &&
           std::string_view(".,;:!?)").find(name.back()) != std::string_view::npos) {
      name.remove_suffix(1);
      path = Expanded(name);
    }
    if (IsWebAddress(name) || (!name.empty() && IsRegularFile(path)))
      files.push_back(std::move(path));
  }
  return files;
}

}  // namespace dossier::cli
