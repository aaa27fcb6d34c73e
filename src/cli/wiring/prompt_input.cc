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
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/binary_marks.h"
#include "inspect/describe/describe.h"
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

void WarnOfUnreadStdin(const std::vector<std::string>& named, const GlobalFlags& flags,
                       std::ostream& err) {
  const bool read = std::find(named.begin(), named.end(), "-") != named.end();
  if (read || flags.no_stdin || flags.quiet || !HoldsUnreadBytes(STDIN_FILENO)) return;
  PrintWarning(err, "stdin was not read; name it as - to have it read, or give --no-stdin");
}

namespace {

tl::unexpected<Error> NoText(std::string_view place, const inspect::Description& about) {
  const std::string_view way = inspect::WayToText(about.flavour);
  return MakeError(
      ErrorCode::kInvalidArgument, "{} is neither text nor an image (PNG, JPEG, GIF, WebP){}{}{}",
      place, about.kind.empty() ? "" : " but of this kind: " + about.kind,
      way.empty() ? "" : fmt::format("; {}", way),
      way.find('`') == way.npos ? "" : ", and --exec attaches what a command prints");
}

// Converts to UTF-8. For a text that is not UTF-8 it guesses the encoding and says so.
Result<std::string> TextOf(std::string_view place, std::string_view bytes,
                           const CancelToken& cancel, std::vector<std::string>* warnings) {
  DOSSIER_ASSIGN_OR_RETURN(const inspect::Description about,
                           inspect::Describe(*inspect::MemorySource(bytes, ""), {}, cancel));
  const inspect::EncodingKind kind = about.encoding.kind;
  if (kind == inspect::EncodingKind::kBinary) return NoText(place, about);
  bytes.remove_prefix(inspect::BomBytes(kind, bytes));
  std::string text;
  const inspect::DecodeStats stats = inspect::Decode(kind, bytes, inspect::LastBytes::kYes, &text);
  // A program may look like a two-byte encoding, but no text has a zero or an invalid code unit.
  const bool wide = kind != inspect::EncodingKind::kUtf8 && !about.encoding.bom;
  if (text.find('\0') != text.npos || (wide && stats.invalid > 0)) return NoText(place, about);
  if (inspect::IsLegacy(kind) || kind == inspect::EncodingKind::kUnknown8Bit) {
    const bool unknown = kind == inspect::EncodingKind::kUnknown8Bit;
    warnings->push_back(fmt::format("{} is read as {}, which is a guess", place,
                                    unknown ? "ISO-8859-1" : inspect::EncodingName(kind)));
  }
  if (stats.invalid > 0) {
    warnings->push_back(fmt::format("{}: {} replaced by U+FFFD", place,
                                    Counted(stats.invalid, "invalid byte sequence")));
  }
  return text;
}

// Returns the content of a compressed file, which counts as the file itself.
Result<std::string> Unpacked(const std::string& place, std::string bytes,
                             const CancelToken& cancel) {
  const std::string_view kind = inspect::BinaryKind(std::string_view(bytes).substr(0, 4096));
  if (!inspect::IsCompression(kind)) return bytes;
  DOSSIER_ASSIGN_OR_RETURN(const inspect::Inside inside,
                           inspect::OpenInside(*inspect::MemorySource(bytes, place), bytes.size(),
                                               kind, kMaxAttachment, cancel));
  if (!inside.why_cut.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "{} is {} data of which only a part is read: {}",
                     place, kind, inside.why_cut);
  }
  std::string content(inside.bytes, '\0');
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, inside.source->ReadAt(0, content));
  content.resize(got);
  return content;
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
    const std::string name = place == "-" ? "stdin" : place;
    DOSSIER_ASSIGN_OR_RETURN(std::string read, ReadPlace(place, network, cancel));
    DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, Unpacked(name, std::move(read), cancel));
    if (const std::string_view type = ImageType(bytes); !type.empty()) {
      out.images.push_back({.type = assembly::Block::Type::kImage,
                            .text = Base64(bytes),
                            .media_type = std::string(type)});
      continue;
    }
    DOSSIER_ASSIGN_OR_RETURN(std::string text, TextOf(name, bytes, cancel, &out.warnings));
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
