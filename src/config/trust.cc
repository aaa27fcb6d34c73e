#include "config/trust.h"

#include <algorithm>
#include <filesystem>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::config {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::uint64_t kMaxTrustedBytes = 16 << 20;
constexpr unsigned kPrivate = 0600, kPrivateFolder = 0700;
constexpr Millis kLockLimit{30'000};  // longer than any change of the file takes

tl::unexpected<Error> Damaged(const std::string& path) {
  return MakeError(ErrorCode::kDamaged,
                   "{} is damaged; remove it, then approve your projects again (dossier trust)",
                   path);
}

Result<std::vector<Approval>> Parse(const std::string& text, const std::string& path) {
  const auto json = ParseJson(text);
  if (!json || FindInt(*json, "version") != kVersion) return Damaged(path);
  const Json* files = dossier::Find(*json, "files");
  if (!files || !files->is_array()) return Damaged(path);
  std::vector<Approval> approvals;
  for (const Json& file : files->as_array()) {
    const auto name = FindString(file, "path"), hash = FindString(file, "sha256");
    // The hash becomes a file name, so nothing else may pass.
    if (!name || !hash || !IsSha256Hex(*hash)) return Damaged(path);
    approvals.push_back({std::string(*name), std::string(*hash), TextAt(file, "approved_at")});
  }
  return approvals;
}

std::string Write(const std::vector<Approval>& approvals) {
  JsonArray files;
  for (const Approval& approval : approvals) {
    files.push_back(JsonObject{{"path", approval.path},
                               {"sha256", approval.sha256},
                               {"approved_at", approval.approved_at}});
  }
  return ToPrettyJson(JsonObject{{"version", kVersion}, {"files", std::move(files)}}) + "\n";
}

}  // namespace

Result<std::vector<Approval>> TrustStore::List() const {
  if (!Exists(file())) return std::vector<Approval>();
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file(), kMaxTrustedBytes));
  return Parse(text, file());
}

Result<std::optional<Approval>> TrustStore::Find(std::string_view real_path) const {
  DOSSIER_ASSIGN_OR_RETURN(const auto approvals, List());
  for (const Approval& approval : approvals) {
    if (approval.path == real_path) return approval;
  }
  return std::nullopt;
}

Result<std::string> TrustStore::Bytes(const Approval& approval) const {
  return ReadFile(fmt::format("{}/trust/{}", folder_, approval.sha256), kMaxTrustedBytes);
}

Status TrustStore::Change(const std::function<void(std::vector<Approval>*)>& change) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_, kPrivateFolder));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           FileLock::Take(folder_ + "/trust.lock", kLockLimit, CancelToken()));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<Approval> approvals, List());
  change(&approvals);
  std::sort(approvals.begin(), approvals.end(),
            [](const Approval& a, const Approval& b) { return a.path < b.path; });
  return WriteFileAtomic(file(), Write(approvals), kPrivate);
}

Status TrustStore::Approve(const std::string& real_path, std::string_view bytes) {
  const std::string hash = Sha256Hex(bytes);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_ + "/trust", kPrivateFolder));
  // Store the bytes first: an approval without them could not show a difference later.
  DOSSIER_RETURN_IF_ERROR(
      WriteFileAtomic(fmt::format("{}/trust/{}", folder_, hash), bytes, kPrivate));
  return Change([&](std::vector<Approval>* approvals) {
    std::erase_if(*approvals, [&](const Approval& known) { return known.path == real_path; });
    approvals->push_back({real_path, hash, FormatTime(clock_->WallNow())});
  });
}

Result<bool> TrustStore::Revoke(std::string_view real_path) {
  bool found = false;
  DOSSIER_RETURN_IF_ERROR(Change([&](std::vector<Approval>* approvals) {
    found = std::erase_if(*approvals,
                          [&](const Approval& known) { return known.path == real_path; }) > 0;
  }));
  return found;
}

bool IsBelowTrustRoot(std::string_view real_path, std::string_view roots) {
  for (const std::string_view root : Split(roots, ':')) {
    if (!root.starts_with('/')) continue;  // a relative one would depend on the working folder
    std::error_code error;
    std::string real = std::filesystem::canonical(root, error).string();
    if (error) continue;
    if (!real.ends_with('/')) real += '/';
    if (real_path.starts_with(real)) return true;
  }
  return false;
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 4 << 20;  // all files together
constexpr std::size_t kMaxFiles = 1000;

// Lists all files below `root`, as a layout may name any of them.
Result<std::vector<std::string>> NamesIn(const fs::path& root) {
  std::vector<std::string> names;
  for (const char* kind : {"layouts", "prompts"}) {
    std::error_code error;
    const fs::path folder = root / kind;
    if (!fs::exists(folder, error)) continue;
    fs::recursive_directory_iterator at(folder, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      const fs::path& path = at->path();
      std::error_code gone;
      const fs::file_status status = at->symlink_status(gone);
      if (fs::is_directory(status)) continue;
      if (!fs::is_regular_file(status)) {
        return MakeError(ErrorCode::kConfig, "{} is no regular file", path.string());
      }
      names.push_back(path.lexically_relative(root).string());
      if (names.size() > kMaxFiles) {
        return MakeError(ErrorCode::kConfig, "{} holds more than {} files", root.string(),
                         kMaxFiles);
      }
    }
    // What cannot be listed might be used all the same, by a name that a layout gives.
    if (error) return MakeErrnoError(error.value(), folder.string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Rejects links, which could name files outside the project. Links above `folder` are allowed.
Result<std::string> RealFolder(const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return MakeErrnoError(error.value(), folder);
  const bool is_link = fs::is_symlink(fs::symlink_status(folder, error));
  for (const char* kind : {"layouts", "prompts"}) {
    if (is_link || fs::is_symlink(fs::symlink_status(real / kind, error))) {
      return MakeError(ErrorCode::kRefused, "{} is a link; name the folder with --layouts-dir",
                       is_link ? folder : (real / kind).string());
    }
  }
  return real.string();
}

}  // namespace

Result<std::optional<ProjectAssets>> ReadProjectAssets(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fs::path(folder) / "layouts", error) &&
      !fs::exists(fs::path(folder) / "prompts", error)) {
    return std::nullopt;
  }
  ProjectAssets assets{.file = {.path = folder}};
  DOSSIER_ASSIGN_OR_RETURN(assets.file.real_path, RealFolder(folder));
  DOSSIER_ASSIGN_OR_RETURN(assets.names, NamesIn(assets.file.real_path));
  if (assets.names.empty()) return std::nullopt;
  for (const std::string& name : assets.names) {
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string text,
        ReadOwnedFile(fmt::format("{}/{}", assets.file.real_path, name), kMaxBytes));
    assets.file.bytes += fmt::format("=== {}, {} bytes\n{}\n", name, text.size(), text);
    if (assets.file.bytes.size() > kMaxBytes) {
      return MakeError(ErrorCode::kConfig, "{}: layouts and prompts hold more than {} bytes",
                       folder, kMaxBytes);
    }
  }
  return assets;
}

}  // namespace dossier::config
