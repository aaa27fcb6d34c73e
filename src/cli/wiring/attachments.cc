#include "cli/wiring/attachments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/net/http_get.h"
#include "base/net/url.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/text/encoding.h"
#include "inspect/text/legacy_encoding.h"

namespace dossier::cli {
namespace {

constexpr int kOk = 200;
constexpr Millis kFetchLimit{60'000};

// The media type that the first bytes prove; "" for what is no image of these.
std::string_view ImageType(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xFF\xD8\xFF")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return {};
}

tl::unexpected<Error> NoText(std::string_view place, std::string_view bytes) {
  if (bytes.starts_with("%PDF-")) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} is a PDF, which is neither text nor image; give its text: --exec "
                     "\"pdftotext FILE -\"",
                     place);
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "{} is neither text nor an image (PNG, JPEG, GIF, WebP)", place);
}

// As UTF-8. A text that is no UTF-8 is in an encoding that is guessed, and told.
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
  // A program may look like two bytes a character; no text holds a zero, or what is none of them.
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
  if (IsWebAddress(place)) return FetchAddress(place, kMaxAttachment, network, cancel);
  if (place == "-") return ReadAll(STDIN_FILENO, "stdin", kMaxAttachment);
  if (IsFolder(place)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} is a folder; name its files, or pack it: dossier pack", place);
  }
  return ReadNamedFile(place, kMaxAttachment);
}

std::string Expanded(std::string_view path) {
  const char* home = std::getenv("HOME");
  return ExpandHome(path, home ? home : "");
}

bool IsRegularFile(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// What stands behind an @, up to a space or within quotes; `at` moves behind it.
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

Result<std::string> FetchAddress(const std::string& url, std::uint64_t most_bytes, Network network,
                                 const CancelToken& cancel) {
  if (network == Network::kNone) {
    return MakeError(ErrorCode::kNetwork, "--offline: {} is not fetched", url);
  }
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<HttpLoop> loop, HttpLoop::Make());
  DOSSIER_ASSIGN_OR_RETURN(HttpAnswer answer,
                           AskHttp(*loop,
                                   {.method = HttpCall::Method::kGet,
                                    .url = url,
                                    .headers = {"Accept: */*", "User-Agent: dossier"},
                                    .body = {},
                                    .deadline = kFetchLimit},
                                   most_bytes, cancel));
  if (answer.status == kOk) return std::move(answer.body);
  if (answer.status / 100 == 3 && !answer.location.empty()) {
    return MakeError(ErrorCode::kNetwork, "{} leads to {}; name that address", url,
                     answer.location);
  }
  return MakeError(ErrorCode::kNetwork, "{}: the server answered with status {}", url,
                   answer.status);
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
    // "see @notes.txt, please": the comma is the sentence's.
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
