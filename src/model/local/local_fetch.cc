#include "model/local/local_fetch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/net/http_get.h"
#include "base/net/url.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "model/local/local_pull.h"

namespace dossier::model {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr int kMostRedirects = 5, kMostBreaks = 5;
constexpr Millis kDeadline{std::chrono::hours(7 * 24)};
constexpr Millis kTellEvery{200};

// "bytes 700-999/1000": the start of a part, and the total size.
struct ContentRange {
  std::uint64_t first = 0, total = 0;
};
std::optional<ContentRange> ParseContentRange(std::string_view text) {
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-'), slash = text.find('/');
  if (dash == text.npos || slash == text.npos || dash > slash) return std::nullopt;
  const auto first = ExactNumber<std::uint64_t>(text.substr(0, dash)),
             total = ExactNumber<std::uint64_t>(text.substr(slash + 1));
  if (!first || !total || *first > *total) return std::nullopt;
  return ContentRange{*first, *total};
}

// File names come from untrusted URLs.
Result<std::string> FileNameOf(std::string_view address) {
  DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(address));
  std::string_view path = std::string_view(url.path).substr(0, url.path.find_first_of("?#"));
  const std::string name(path.substr(path.rfind('/') + 1));
  const bool plain = name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789._+-") == std::string::npos;
  if (!plain || !name.ends_with(".gguf") || name.size() < 6 || name.size() > 200 ||
      name[0] == '.') {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the address {} does not end with the name of a .gguf file", address);
  }
  return name;
}

Status CheckAddress(std::string_view address) {
  DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(address));
  if (url.scheme == "https" || url.is_loopback()) return {};
  return MakeError(ErrorCode::kInvalidArgument, "{} is not fetched: weights come over https only",
                   url.origin());
}

// Returns the target of a redirect; `location` may be relative to `from`.
Result<std::string> Follow(const std::string& from, std::string_view location) {
  std::string to(location);
  const std::size_t colon = location.find_first_of(":/?#");  // behind a scheme, if there is one
  if (colon == std::string_view::npos || location[colon] != ':') {
    DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(from));
    const std::string_view path =
        std::string_view(url.path).substr(0, url.path.find_first_of("?#"));
    if (location.starts_with("//")) {
      to.insert(0, url.scheme + ":");
    } else if (location.starts_with("/")) {
      to.insert(0, url.origin());
    } else {
      to.insert(0, url.origin() + std::string(path.substr(0, path.rfind('/') + 1)));
    }
  }
  if (const Status fine = CheckAddress(to); !fine) {
    return MakeError(ErrorCode::kNetwork, "the address redirects to one that is not followed: {}",
                     fine.error().message);
  }
  return to;
}

class Fetcher {
 public:
  Fetcher(const FetchSource& source, const std::string& data_folder, const FetchOptions& options,
          const CancelToken& cancel)
      : source_(source), options_(options), cancel_(cancel), folder_(ModelsFolder(data_folder)) {}

  Result<FetchResult> Run() {
    DOSSIER_RETURN_IF_ERROR(Prepare());
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_, 0700));
    DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                             FileLock::Take(folder_ + "/pull.lock", Millis(1000), cancel_));
    if (Exists(path_)) return Present();
    DOSSIER_RETURN_IF_ERROR(Resume());
    if (const Status fetched = FetchThroughBreaks(); !fetched) {
      return tl::unexpected(Cleaned(fetched.error()));
    }
    return Finish();
  }

 private:
  Status Prepare() {
    DOSSIER_ASSIGN_OR_RETURN(file_, FileNameOf(source_.url));
    DOSSIER_RETURN_IF_ERROR(CheckAddress(source_.url));
    wanted_ = ToLowerAscii(source_.sha256);
    if (!wanted_.empty() && !IsSha256Hex(wanted_)) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "\"{}\" is no SHA-256: 64 hexadecimal digits are wanted", source_.sha256);
    }
    path_ = folder_ + "/" + file_;
    partial_ = path_ + ".partial";
    DOSSIER_ASSIGN_OR_RETURN(loop_, HttpLoop::Make());
    return {};
  }

  std::string ModelName() const { return file_.substr(0, file_.size() - 5); }

  Result<FetchResult> Present() {
    FetchResult result{.outcome = PullResult::Outcome::kPresent};
    struct stat info{};
    if (stat(path_.c_str(), &info) != 0) return MakeErrnoError(errno, path_);
    if (!wanted_.empty()) {
      DOSSIER_RETURN_IF_ERROR(HashFile(path_, static_cast<std::uint64_t>(info.st_size)));
      result.sha256 = hash_.Hex();
      if (result.sha256 != wanted_) {
        return MakeError(
            ErrorCode::kDamaged,
            "{} is here already with SHA-256 {}, expected {}; remove it and pull again", path_,
            result.sha256, wanted_);
      }
    }
    DOSSIER_ASSIGN_OR_RETURN(result.weights, FindWeights(DataFolderOf(), ModelName()));
    return result;
  }
  std::string DataFolderOf() const { return folder_.substr(0, folder_.rfind('/')); }

  Status HashFile(const std::string& path, std::uint64_t bytes) {
    const UniqueFd in(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.valid()) return MakeErrnoError(errno, path);
    std::string block(kBlock, '\0');
    while (bytes > 0) {
      if (cancel_.cancelled())
        return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel_.reason());
      const ssize_t got = read(in.get(), block.data(), std::min<std::uint64_t>(bytes, kBlock));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return MakeErrnoError(errno, path);
      if (got == 0) return MakeError(ErrorCode::kDamaged, "{} ended early", path);
      hash_.Update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
      bytes -= static_cast<std::uint64_t>(got);
    }
    return {};
  }

  // Continues from an earlier fetch of the same source; discards its file if that is not certain.
  Status Resume() {
    const auto text = ReadFile(partial_ + ".json", 64 << 10);
    const auto note = text ? ParseJson(*text, 4) : Result<Json>(Json());
    const bool same =
        note && FindString(*note, "url") == source_.url && FindString(*note, "sha256") == wanted_;
    if (same) etag_ = FindString(*note, "etag").value_or("");
    out_ = UniqueFd(open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out_.valid()) return MakeErrnoError(errno, partial_);
    struct stat info{};
    if (fstat(out_.get(), &info) != 0) return MakeErrnoError(errno, partial_);
    if (!same || !IsProvable() || info.st_size < 4) return StartOver();
    done_ = resumed_ = static_cast<std::uint64_t>(info.st_size);
    if (lseek(out_.get(), 0, SEEK_END) < 0) return MakeErrnoError(errno, partial_);
    return HashFile(partial_, done_);
  }

  Status StartOver() {
    if (ftruncate(out_.get(), 0) != 0 || lseek(out_.get(), 0, SEEK_SET) < 0) {
      return MakeErrnoError(errno, partial_);
    }
    hash_ = Sha256();
    done_ = resumed_ = 0;
    etag_.clear();
    start_.clear();
    return {};
  }

  // Continues after a broken connection as long as data arrives between two breaks.
  Status FetchThroughBreaks() {
    Millis delay = options_.first_delay;
    for (int breaks = 0;; ++breaks) {
      const std::uint64_t before = done_;
      again_ = HttpEnd::Again::kNo;
      Status fetched = Fetch();
      if (fetched || again_ == HttpEnd::Again::kNo || done_ == before || breaks == kMostBreaks) {
        return fetched;
      }
      if (!WaitUnlessCancelled(delay, cancel_)) {
        return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel_.reason());
      }
      delay *= 2;
    }
  }

  // Returns true if the data so far can be distinguished from another file's beginning.
  bool IsProvable() const { return !etag_.empty() || !wanted_.empty(); }

  Status Fetch() {
    if (done_ > 0 && !IsProvable()) DOSSIER_RETURN_IF_ERROR(StartOver());
    std::string url = source_.url;
    for (int hop = 0; hop <= kMostRedirects; ++hop) {
      HttpCall call{.method = HttpCall::Method::kGet,
                    .url = url,
                    .headers = {"User-Agent: dossier"},
                    .deadline = kDeadline,
                    .idle_limit = options_.idle_limit};
      if (done_ > 0) {
        call.headers.push_back(fmt::format("Range: bytes={}-", done_));
        if (!etag_.empty()) call.headers.push_back("If-Range: " + etag_);
      }
      HttpDownload download(loop_, std::move(call), cancel_);
      const Status fetched = ReadFrom(download, url);
      if (!fetched) again_ = download.again();
      if (!fetched || next_url_.empty()) return fetched;
      url = std::exchange(next_url_, {});
    }
    return MakeError(ErrorCode::kNetwork, "{} redirects more than {} times", source_.url,
                     kMostRedirects);
  }

  Status ReadFrom(HttpDownload& download, const std::string& url) {
    DOSSIER_ASSIGN_OR_RETURN(const HttpDownload::Head* head, download.ReadHead());
    if (head->status >= 300 && head->status < 400 && !head->Header("location").empty()) {
      DOSSIER_ASSIGN_OR_RETURN(next_url_, Follow(url, head->Header("location")));
      return {};
    }
    if (head->status == 416 && done_ > 0) {
      if (head->Header("content-range") == fmt::format("bytes */{}", done_)) {  // all is here
        total_ = done_;
        return {};
      }
      // The local data is not the beginning of the remote file.
      next_url_ = url;
      return StartOver();
    }
    if (head->status != 200 && head->status != 206) return Refused(head->status);
    DOSSIER_RETURN_IF_ERROR(Accept(*head));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string piece, download.Read());
      if (piece.empty()) break;
      DOSSIER_RETURN_IF_ERROR(Write(piece));
    }
    Tell();
    if (total_ == 0 || done_ == total_) return {};
    return MakeError(ErrorCode::kNetwork, "{}: {} of {} bytes arrived", file_, GroupDigits(done_),
                     GroupDigits(total_));
  }

  tl::unexpected<Error> Refused(int status) const {
    const ErrorCode code = status == 404                    ? ErrorCode::kNotFound
                           : status == 401 || status == 403 ? ErrorCode::kAuth
                                                            : ErrorCode::kNetwork;
    const char* why = status == 404 ? "there is no such file"
                      : code == ErrorCode::kAuth
                          ? "the server wants a login; download it yourself, "
                            "then `dossier models pull FILE.gguf`"
                          : "the server refuses";
    return MakeError(code, "{}: {} (status {})", source_.url, why, status);
  }

  // Handles the response head: continues at our position, or starts over.
  Status Accept(const HttpDownload::Head& head) {
    const auto length = ExactNumber<std::uint64_t>(head.Header("content-length"));
    if (head.status == 206) {
      const auto range = ParseContentRange(head.Header("content-range"));
      if (!range || range->first != done_) {
        return MakeError(ErrorCode::kNetwork, "{}: the server sends another part than asked for",
                         source_.url);
      }
      total_ = range->total;
    } else {
      DOSSIER_RETURN_IF_ERROR(StartOver());
      total_ = length.value_or(0);
    }
    etag_ = head.Header("etag");
    if (etag_.starts_with("W/")) etag_.clear();  // a weak ETag says nothing about single bytes
    DOSSIER_RETURN_IF_ERROR(
        CheckSpace(file_, folder_, total_ - std::min(total_, done_), options_.free));
    const Json note = JsonObject{{"url", source_.url}, {"sha256", wanted_}, {"etag", etag_}};
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(partial_ + ".json", ToJson(note), 0600));
    Tell();
    return {};
  }

  Status Write(std::string_view bytes) {
    if (start_.size() < 4 && done_ < 4) {
      start_ += bytes.substr(0, 4 - start_.size());
      if (start_ != std::string_view("GGUF").substr(0, start_.size())) {
        return MakeError(ErrorCode::kDamaged, "{} is not a GGUF file (it does not start with GGUF)",
                         source_.url);
      }
    }
    if (const Status written = WriteAll(out_.get(), bytes); !written) {
      return MakeError(ErrorCode::kIo, "{}: {}; {} bytes are missing, nothing was kept", path_,
                       written.error().message,
                       total_ > done_ ? GroupDigits(total_ - done_) : std::string("more"));
    }
    hash_.Update(bytes);
    done_ += bytes.size();
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ >= kTellEvery) Tell();
    return {};
  }

  void Tell() {
    told_ = std::chrono::steady_clock::now();
    if (options_.progress) options_.progress({done_, total_, resumed_});
  }

  // Keeps what the next pull can continue from, and nothing else.
  Error Cleaned(Error error) {
    const bool lost = error.code == ErrorCode::kIo || error.code == ErrorCode::kDamaged;
    if (lost || done_ == 0) {
      RemovePartial();
    } else {
      error.message +=
          fmt::format("; {} bytes are kept, the next pull goes on from there", GroupDigits(done_));
    }
    return error;
  }

  void RemovePartial() {
    out_.Reset();
    unlink(partial_.c_str());
    unlink((partial_ + ".json").c_str());
  }

  Result<FetchResult> Finish() {
    FetchResult result{.sha256 = hash_.Hex()};
    if (!wanted_.empty() && result.sha256 != wanted_) {
      RemovePartial();
      return MakeError(ErrorCode::kDamaged,
                       "{}: {} bytes with SHA-256 {} arrived, expected {}; nothing was kept", file_,
                       GroupDigits(done_), result.sha256, wanted_);
    }
    if (done_ < 4) {
      RemovePartial();
      return MakeError(ErrorCode::kDamaged, "{}: {} bytes are no GGUF file", source_.url, done_);
    }
    if (fsync(out_.get()) != 0) return MakeErrnoError(errno, partial_);
    out_.Reset();
    if (rename(partial_.c_str(), path_.c_str()) != 0) return MakeErrnoError(errno, path_);
    unlink((partial_ + ".json").c_str());
    DOSSIER_ASSIGN_OR_RETURN(result.weights, FindWeights(DataFolderOf(), ModelName()));
    return result;
  }

  const FetchSource& source_;
  const FetchOptions& options_;
  const CancelToken& cancel_;
  const std::string folder_;
  std::string file_, path_, partial_, wanted_;
  std::shared_ptr<HttpLoop> loop_;
  UniqueFd out_;
  Sha256 hash_;
  std::string start_, etag_, next_url_;
  std::uint64_t done_ = 0, total_ = 0, resumed_ = 0;
  HttpEnd::Again again_ = HttpEnd::Again::kNo;
  std::chrono::steady_clock::time_point told_{};
};

}  // namespace

Result<FetchResult> FetchWeights(const FetchSource& source, const std::string& data_folder,
                                 const FetchOptions& options, const CancelToken& cancel) {
  return Fetcher(source, data_folder, options, cancel).Run();
}

}  // namespace dossier::model
