#include "research/resources/resource_content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/hash.h"
#include "base/process/git_call.h"
#include "base/process/process.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

// Paths below `folder`, in byte order; for a file, only its name.
struct Listing {
  std::vector<std::string> paths;  // relative
  std::string folder;
  enum class Size : std::uint8_t { kWhole, kCut } size = Size::kWhole;
};

Result<Listing> List(const std::string& path, const CancelToken& cancel) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  const auto slash = path.rfind('/');
  if (!S_ISDIR(info.st_mode)) return Listing{{path.substr(slash + 1)}, path.substr(0, slash)};
  DOSSIER_ASSIGN_OR_RETURN(const WalkResult walked, WalkFolder(path,
                                                               {.hidden = HiddenFiles::kInclude,
                                                                .ignore = IgnoreRules::kDisregard,
                                                                .max_files = kMaxResourceFiles},
                                                               cancel));
  Listing listing{.folder = path};
  for (const std::string& file : walked.files) {
    std::string_view inner = file;
    inner.remove_prefix(std::min(inner.size(), path.size()));
    while (inner.starts_with('/')) inner.remove_prefix(1);
    // A repository's .git folder is not part of its content.
    if (inner == ".git" || inner.starts_with(".git/")) continue;
    listing.paths.emplace_back(inner);
  }
  if (walked.stopped) listing.size = Listing::Size::kCut;
  return listing;
}

// Hashes a file in pieces, so that a large one is never entirely in memory.
Status HashFile(const std::string& path, Sha256* hash, std::uint64_t* bytes,
                const CancelToken& cancel) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return MakeErrnoError(errno, path);
  std::string block(1 << 20, '\0');
  while (true) {
    if (cancel.cancelled()) {
      return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason());
    }
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) return {};
    hash->Update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
    *bytes += static_cast<std::uint64_t>(got);
  }
}

Status HashAll(const Listing& listing, Content* out, const CancelToken& cancel) {
  Sha256 whole;
  for (const std::string& path : listing.paths) {
    const std::string file = listing.folder + "/" + path;
    struct stat info = {};
    if (stat(file.c_str(), &info) != 0) return MakeErrnoError(errno, file);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::string name = fmt::format("size {}", size);
    if (out->bytes + size <= kMaxHashed) {
      Sha256 hash;
      std::uint64_t bytes = 0;
      DOSSIER_RETURN_IF_ERROR(HashFile(file, &hash, &bytes, cancel));
      name = hash.Hex();
    } else if (out->warnings.empty()) {
      out->warnings.push_back(fmt::format(
          "more than {} bytes: of files from {} on only the sizes are part of the digest",
          kMaxHashed, path));
    }
    out->bytes += size;
    whole.Update(fmt::format("{}\n{}\n", path, name));
  }
  out->sha256 = whole.Hex();
  return {};
}

// Returns files and folders down to kTreeDepth levels.
std::vector<std::string> TreeOf(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    std::size_t slash = path.find('/');
    int depth = 1;
    while (slash != std::string::npos && depth <= kTreeDepth) {
      std::string folder = path.substr(0, slash + 1);
      if (folders.insert(folder).second) out.push_back(std::move(folder));
      slash = path.find('/', slash + 1);
      ++depth;
    }
    if (slash == std::string::npos && depth <= kTreeDepth) out.push_back(path);
  }
  return out;
}

// Returns the text of a small file; nothing if it is not text.
std::optional<std::string> TextOf(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(info.st_size) > kMaxTextFile) return std::nullopt;
  auto text = ReadFile(path, kMaxTextFile);
  if (!text || text->find('\0') != std::string::npos || !utf8::IsValid(*text)) return std::nullopt;
  return std::move(*text);
}

bool IsReadme(std::string_view path) {
  return path.starts_with("README") || path.starts_with("readme");
}

std::vector<std::string> Shown(const Listing& listing, const ContentOptions& options) {
  if (!options.include_files.empty()) return options.include_files;
  std::vector<std::string> paths = listing.paths;
  std::stable_partition(paths.begin(), paths.end(), IsReadme);
  return paths;
}

std::vector<ResourceText> TextsOf(const Listing& listing, const ContentOptions& options) {
  std::vector<ResourceText> out;
  std::int64_t left = options.limits.total_chars;
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(listing.folder, error);
  if (error) return out;
  for (const std::string& path : Shown(listing, options)) {
    const std::int64_t files = options.limits.files;
    if (files >= 0 && static_cast<std::int64_t>(out.size()) >= files) break;
    if (left == 0) break;
    const auto place = PlaceInside(root, path);
    const auto text = place ? TextOf(place->string()) : std::nullopt;
    if (!text) continue;
    std::int64_t most = options.limits.chars;
    if (left >= 0) most = most < 0 ? left : std::min(most, left);
    if (most == 0) break;
    out.push_back({path, Excerpt(*text, most)});
    if (left > 0) {
      left = std::max<std::int64_t>(
          0, left - static_cast<std::int64_t>(utf8::CodePoints(out.back().text)));
    }
  }
  return out;
}

}  // namespace

std::string Excerpt(std::string_view text, std::int64_t chars) {
  const auto all = static_cast<std::int64_t>(utf8::CodePoints(text));
  if (chars < 0 || all <= chars) return std::string(text);
  constexpr std::int64_t kNoteRoom = 60;  // for the note between
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(0, chars - kNoteRoom));
  std::size_t end = 0;
  for (std::size_t line = 0; line < kHeadLines && end < text.size(); ++line) {
    const auto next = text.find('\n', end);
    end = next == text.npos ? text.size() : next + 1;
  }
  // If eight lines alone are too long, the end gets half of the room.
  std::string_view head = text.substr(0, end);
  if (utf8::CodePoints(head) > room) head = utf8::Prefix(text, room / 2);
  const std::uint64_t head_chars = utf8::CodePoints(head);
  const std::string_view tail = utf8::Suffix(text.substr(head.size()), room - head_chars);
  const auto left_out = static_cast<std::uint64_t>(all) - head_chars - utf8::CodePoints(tail);
  const std::string cut =
      fmt::format("{}{}[... {} characters not shown ...]\n{}", head,
                  head.ends_with('\n') || head.empty() ? "" : "\n", left_out, tail);
  return std::string(utf8::Prefix(cut, static_cast<std::uint64_t>(chars)));
}

Result<Content> ReadContent(const std::string& path, const ContentOptions& options,
                            const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const Listing listing, List(path, cancel));
  Content out;
  out.files = static_cast<std::int64_t>(listing.paths.size());
  DOSSIER_RETURN_IF_ERROR(HashAll(listing, &out, cancel));
  if (listing.size == Listing::Size::kCut) {
    out.warnings.push_back(
        fmt::format("more than {} files: only the first of them count", kMaxResourceFiles));
  }
  if (options.tree == ContentWanted::kYes) out.tree = TreeOf(listing.paths);
  if (options.texts == ContentWanted::kYes) out.texts = TextsOf(listing, options);
  return out;
}

namespace {

constexpr Millis kTimeout{1'800'000};  // per git call
constexpr std::size_t kCommitLength = 40;

bool IsCommit(std::string_view ref) {
  return ref.size() == kCommitLength &&
         std::all_of(ref.begin(), ref.end(), [](char c) { return IsHexDigit(c); });
}

// Returns git's error message, in one line.
std::string Complaint(const ProcessResult& result) {
  std::string_view last;
  for (const std::string_view line : Split(result.err, '\n')) {
    if (line.starts_with("fatal:") || line.starts_with("error:")) return std::string(line);
    if (!TrimSpace(line).empty()) last = line;
  }
  return last.empty() ? fmt::format("git ended with {}", result.exit_code) : std::string(last);
}

class Repository {
 public:
  Repository(const std::string& folder, const CancelToken& cancel)
      : folder_(std::filesystem::absolute(folder).string()), cancel_(cancel) {}

  // A commit is fetched by name; a branch or tag without its history.
  Status Clone(const ResourceOrigin& origin) {
    const std::string address = RepositoryAddress(origin.repo);
    if (IsCommit(origin.ref)) {
      DOSSIER_RETURN_IF_ERROR(Git({"clone", "-q", "--no-checkout", "--", address, folder_}));
      // Most servers have sent it with the branches; others must be asked for it.
      static_cast<void>(Git({"-C", folder_, "fetch", "-q", "origin", origin.ref}));
      return Git({"-C", folder_, "checkout", "-q", "--detach", origin.ref});
    }
    std::vector<std::string> arguments = {"clone", "-q", "--depth", "1"};
    if (!origin.ref.empty()) arguments.insert(arguments.end(), {"--branch", origin.ref});
    arguments.insert(arguments.end(), {"--", address, folder_});
    return Git(arguments);
  }

  Result<std::string> Head() {
    DOSSIER_RETURN_IF_ERROR(Git({"-C", folder_, "rev-parse", "HEAD"}));
    return std::string(TrimSpace(out_));
  }

 private:
  Status Git(const std::vector<std::string>& arguments) {
    GitCall call{.arguments = arguments,
                 .environment = {"GIT_CONFIG_NOSYSTEM=1"},
                 .timeout = kTimeout,
                 .starts = GitCall::Starts::kTransport};
    DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, CallGit(call, cancel_));
    if (result.timed_out) {
      return MakeError(ErrorCode::kTimeout, "git took longer than {} s", kTimeout.count() / 1000);
    }
    if (result.exit_code != 0) return MakeError(ErrorCode::kFailed, "{}", Complaint(result));
    out_ = std::move(result.out);
    return {};
  }

  const std::string folder_;
  const CancelToken& cancel_;
  std::string out_;
};

}  // namespace

std::string RepositoryAddress(const std::string& repo) {
  if (repo.starts_with('/')) return "file://" + repo;
  const bool has_scheme = repo.find("://") != std::string::npos || repo.find('@') != repo.npos;
  return has_scheme ? repo : fmt::format("https://github.com/{}.git", repo);
}

Fetched FetchRepository(const ResourceOrigin& origin, const std::string& folder,
                        const CancelToken& cancel) {
  Fetched fetched;
  const auto fail = [&](const Error& error) {
    fetched.status = FetchStatus::kFailed;
    fetched.reason = Redact(error.message);
    return fetched;
  };
  if (!Exists(folder)) {
    // Fetched under another name until it is complete.
    const std::string part = folder + ".part";
    if (const Status removed = RemoveAll(part); !removed) return fail(removed.error());
    const auto parent = std::filesystem::path(folder).parent_path().string();
    if (const Status made = MakeFolders(parent); !made) return fail(made.error());
    if (const Status cloned = Repository(part, cancel).Clone(origin); !cloned) {
      static_cast<void>(RemoveAll(part));
      return fail(cloned.error());
    }
    std::error_code error;
    std::filesystem::rename(part, folder, error);
    if (error) return fail({ErrorCode::kIo, fmt::format("{}: {}", folder, error.message())});
  }
  const auto head = Repository(folder, cancel).Head();
  if (!head) return fail(head.error());
  fetched.status = FetchStatus::kAvailable;
  fetched.head = *head;
  return fetched;
}

}  // namespace dossier::research
