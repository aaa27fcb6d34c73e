#include "harness/worktree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/replace_file.h"
#include "base/user_folders.h"
#include "harness/tree_removal.h"

namespace dossier::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxGitFile = 16 << 10;  // bytes of a `.git` file or a record
constexpr std::string_view kPointer = "gitdir: ";
constexpr Millis kLockWait{60'000};  // a turn takes a few ms: files are checked out outside of it

// Git looks into the admin folders of all worktrees when it makes one, and fails at one that is
// half made or half gone. Those of all workers and runs are made and removed in turn.
Result<FileLock> LockAdmins(const std::string& common, const CancelToken& cancel = {}) {
  return FileLock::Take(common + "/dossier/worktrees.lock", kLockWait, cancel);
}

Status RemoveAdmin(const std::string& admin) {  // COMMON/worktrees/<name>
  const fs::path common = fs::path(admin).parent_path().parent_path();
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockAdmins(common.string()));
  return RemoveTree(admin);
}

std::string AdminRoot(const Git& git) { return git.folders().common + "/worktrees/"; }

// A record is ours, yet nothing outside git's folder of admin folders is removed on its word.
bool IsAdminFolder(const Git& git, const std::string& path) {
  const std::string root = AdminRoot(git);
  return path.starts_with(root) && path.size() > root.size() &&
         path.find('/', root.size()) == std::string::npos && !path.ends_with("/..") &&
         !path.ends_with("/.");
}

Result<std::string> AdminOf(const Git& git, std::string_view git_file) {
  std::string_view path = git_file;
  if (path.ends_with('\n')) path.remove_suffix(1);
  if (path.starts_with(kPointer)) path.remove_prefix(kPointer.size());
  std::error_code error;
  std::string admin = fs::canonical(path, error).string();
  if (error || !IsAdminFolder(git, admin)) {
    return MakeError(ErrorCode::kInternal, "git made a worktree whose folder is {}", path);
  }
  return admin;
}

struct Record {
  std::string path, admin;
};

Result<Record> ReadRecord(const std::string& file) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxGitFile));
  DOSSIER_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  const auto path = FindString(json, "path"), admin = FindString(json, "admin");
  if (!path || !path->starts_with('/') || !admin) {
    return MakeError(ErrorCode::kDamaged, "{}: not a record of a worktree", file);
  }
  return Record{std::string(*path), std::string(*admin)};
}

std::vector<std::string> RecordsIn(const std::string& folder) {
  std::vector<std::string> records;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".json") records.push_back(entry->path().string());
  }
  return records;
}

}  // namespace

Result<std::string> WorktreePath(const Git& git, std::string_view run, int number, Role role) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string cache, CacheFolder());
  const std::string& root = git.folders().root.empty() ? git.folders().common : git.folders().root;
  // Repositories of the same name keep apart.
  return fmt::format("{}/worktrees/{}-{}/{}/w{}{}", cache, fs::path(root).filename().string(),
                     Sha256Hex(git.folders().common).substr(0, 8), run, number,
                     role == Role::kReviewer ? "-review" : "");
}

Status CopyIndex(const std::string& from, const std::string& to) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(from));
  struct stat info{};
  if (stat(from.c_str(), &info) != 0) return MakeErrnoError(errno, from);
  UniqueFd fd(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, to);
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  const timespec times[] = {info.st_mtim, info.st_mtim};
  if (futimens(fd.get(), times) != 0) return MakeErrnoError(errno, to);
  return {};
}

Result<Worktree> Worktree::Make(const Git& git, const StateFolder& state, const WorktreeSpec& spec,
                                const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, state.Worktrees(spec.run));
  const fs::path path(spec.path);
  Worktree made;
  made.path_ = spec.path;
  made.commit_ = spec.commit;
  made.record_ = fmt::format("{}/{}.json", folder, path.filename().string());
  made.index_ = fmt::format("{}/{}.index", folder, path.filename().string());
  DOSSIER_ASSIGN_OR_RETURN(
      made.tree_, git.AskLine(git.Objects(), {"rev-parse", spec.commit + "^{tree}"}, cancel));
  if (const auto old = ReadRecord(made.record_); old && IsAdminFolder(git, old->admin)) {
    DOSSIER_RETURN_IF_ERROR(RemoveAdmin(old->admin));
  }
  DOSSIER_RETURN_IF_ERROR(RemoveTree(spec.path));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.parent_path().string(), 0700));
  DOSSIER_RETURN_IF_ERROR(made.WriteRecord());
  {
    DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockAdmins(git.folders().common, cancel));
    // Forced only over the memory of a worktree that is gone: the path is free.
    DOSSIER_RETURN_IF_ERROR(git.Ask(git.Common(),
                                    {.arguments = {"worktree", "add", "--quiet", "--no-checkout",
                                                   "--force", "--detach", spec.path, spec.commit}},
                                    cancel));
  }
  DOSSIER_ASSIGN_OR_RETURN(made.git_file_, ReadFile(spec.path + "/.git", kMaxGitFile));
  DOSSIER_ASSIGN_OR_RETURN(made.admin_, AdminOf(git, made.git_file_));
  DOSSIER_RETURN_IF_ERROR(made.WriteRecord());
  DOSSIER_RETURN_IF_ERROR(git.Ask({.git_dir = made.admin_, .work_tree = spec.path},
                                  {.arguments = {"-c", "core.sparseCheckout=false", "reset",
                                                 "--hard", "--quiet", "--no-recurse-submodules"}},
                                  cancel));
  DOSSIER_RETURN_IF_ERROR(CopyIndex(made.admin_ + "/index", made.index_));
  return made;
}

Worktree::Worktree(Worktree&& other) noexcept
    : path_(std::move(other.path_)),
      admin_(std::move(other.admin_)),
      commit_(std::move(other.commit_)),
      tree_(std::move(other.tree_)),
      index_(std::move(other.index_)),
      record_(std::move(other.record_)),
      git_file_(std::move(other.git_file_)),
      owned_(std::exchange(other.owned_, false)) {}

Worktree::~Worktree() {
  if (owned_ && !path_.empty()) static_cast<void>(Remove());
}

Status Worktree::WriteRecord() const {
  return WriteStateFile(
      record_,
      ToJson(JsonObject{{"v", 1}, {"path", path_}, {"admin", admin_}, {"commit", commit_}}),
      Durability::kOfThisSystem);
}

Status Worktree::ResetAgentFolder() const {
  const std::string folder = path_ + "/.agent";
  DOSSIER_RETURN_IF_ERROR(RemoveTree(folder));
  return MakeFolders(folder);
}

Result<bool> Worktree::HadOwnGitFile() const {
  const std::string file = path_ + "/.git";
  struct stat info{};
  if (lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
    const auto bytes = ReadFile(file, kMaxGitFile);
    if (bytes && *bytes == git_file_) return true;
  }
  DOSSIER_RETURN_IF_ERROR(RemoveTree(file));
  DOSSIER_RETURN_IF_ERROR(
      ReplaceFile(file, {git_file_}, {.durability = Durability::kOfThisSystem}));
  return false;
}

Status Worktree::Remove() {
  owned_ = false;
  const Status folder = RemoveTree(path_);
  const Status admin = admin_.empty() ? Status() : RemoveAdmin(admin_);
  DOSSIER_RETURN_IF_ERROR(folder);
  DOSSIER_RETURN_IF_ERROR(admin);
  DOSSIER_RETURN_IF_ERROR(RemoveAll(index_));
  return RemoveAll(record_);
}

Status RemoveRecordedWorktrees(const Git& git, const StateFolder& state, std::string_view run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, state.Worktrees(run));
  Status first;
  const auto keep = [&first](Status status) {
    if (first && !status) first = std::move(status);
  };
  for (const std::string& file : RecordsIn(folder)) {
    const auto record = ReadRecord(file);
    if (!record) {
      keep(tl::unexpected(record.error()));
      continue;
    }
    const Status removed = RemoveTree(record->path);
    keep(removed);
    if (IsAdminFolder(git, record->admin)) keep(RemoveAdmin(record->admin));
    if (removed) keep(RemoveAll(file));
  }
  return first;
}

std::vector<std::string> RecordedAdminFolders(const StateFolder& state) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator run(state.path() + "/runs", error), end; !error && run != end;
       run.increment(error)) {
    for (const std::string& file : RecordsIn(run->path().string() + "/.worktrees")) {
      const auto record = ReadRecord(file);
      if (record) names.push_back(fs::path(record->admin).filename().string());
    }
  }
  return names;
}

}  // namespace dossier::harness
