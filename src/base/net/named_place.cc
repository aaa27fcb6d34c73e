#include "base/net/named_place.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>
#include <utility>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/net/http_get.h"
#include "base/net/url.h"

namespace dossier {
namespace {

constexpr int kOk = 200;
constexpr Millis kFetchLimit{60'000};

}  // namespace

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

Result<std::string> ReadNamedPlace(const std::string& place, std::uint64_t most_bytes,
                                   Network network, const CancelToken& cancel) {
  if (IsWebAddress(place)) return FetchAddress(place, most_bytes, network, cancel);
  if (IsFolder(place)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} is a folder; name its files, or pack it: dossier pack", place);
  }
  // A pipe may never end, and a device never does.
  struct stat info{};
  auto file = OpenRegularFile(place, &info);
  if (file) return ReadAll(file->get(), place, most_bytes);
  if (file.error().code == ErrorCode::kConfig) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} is no regular file; write what it gives into a file first", place);
  }
  return tl::unexpected(ExplainMissing(std::move(file.error()), place));
}

std::string_view ImageType(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xFF\xD8\xFF")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return {};
}

}  // namespace dossier
