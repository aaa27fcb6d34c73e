#include "agents/git/worktree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxGitFile = 16 << 10;  // bytes of a `.git` file or a record
constexpr std::size_t kMaxRefs = 64 << 20;       // bytes of the ref list that an engine sees
constexpr const char* kCopiedSettings =
    "^(core\\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)|user\\.(name|email))$";

std::string AdminOf(std::string_view path) { return fmt::format("{}.git", path); }

// Quotes a value for a git configuration file.
std::string QuotedValue(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Returns the settings of an engine's repository: how files are written, and who commits. No
// setting that starts a program or names a server is copied.
Result<std::string> SettingsFor(const Git& git, const std::string& commit,
                                const CancelToken& cancel) {
  constexpr std::size_t kSha256Digits = 64;
  std::string text = commit.size() == kSha256Digits
                         ? "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n"
                           "\tobjectformat = sha256\n"
                         : "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult found,
      git.Run(git.Common(), {.arguments = {"config", "-z", "--get-regexp", kCopiedSettings}},
              cancel));
  ForEachAtNul(found.out, [&](std::string_view entry) {  // "core.eol\nlf"
    const std::size_t dot = entry.find('.'), line = entry.find('\n');
    if (dot == std::string_view::npos || line == std::string_view::npos) return;
    text += fmt::format("[{}]\n\t{} = {}\n", entry.substr(0, dot),
                        entry.substr(dot + 1, line - dot - 1), QuotedValue(entry.substr(line + 1)));
  });
  return text;
}

// Makes a separate repository for an engine that shares the real one's objects: whatever the engine
// does with git does not affect the real one's settings, refs and worktrees.
Status MakeAdmin(const Git& git, const std::string& admin, const std::string& commit,
                 const CancelToken& cancel) {
  const std::string& common = git.folders().common;
  for (const char* folder : {"/objects/info", "/refs/heads", "/info"}) {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(admin + folder, 0700));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string settings, SettingsFor(git, commit, cancel));
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string refs,
      git.Ask(git.Objects(),
              {.arguments = {"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads",
                             "refs/remotes", "refs/tags"},
               .max_output = kMaxRefs},
              cancel));
  const ReplaceOptions options{.durability = Durability::kSurvivesCrash};
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(admin + "/config", {settings}, options));
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(admin + "/packed-refs", {refs}, options));
  DOSSIER_RETURN_IF_ERROR(
      ReplaceFile(admin + "/objects/info/alternates", {common + "/objects\n"}, options));
  for (const char* file : {"/shallow", "/info/exclude"}) {
    const auto text = ReadRegularFile(common + file, kMaxRefs);
    if (text) DOSSIER_RETURN_IF_ERROR(ReplaceFile(admin + file, {*text}, options));
  }
  return ReplaceFile(admin + "/HEAD", {commit + "\n"}, options);
}

struct Record {
  std::string path, admin;
};

Result<Record> ReadRecord(const std::string& file) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxGitFile));
  DOSSIER_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  const auto path = FindString(json, "path"), admin = FindString(json, "admin");
  // Removes only a pair of folders that Make can have made, because a record is not trusted.
  if (!path || !path->starts_with('/') || !admin || *admin != AdminOf(*path)) {
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
  // The hash separates repositories with the same name.
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

namespace {

// Returns true if `folder` contains a repository's objects. The repository's files name it and may
// be hostile, so an engine is shown only folders of git.
bool IsObjectFolder(const fs::path& folder) {
  std::error_code error;
  return folder.filename() == "objects" && fs::is_directory(folder / "pack", error) &&
         fs::is_regular_file(folder.parent_path() / "HEAD", error);
}

}  // namespace

std::vector<std::string> ObjectFolders(const std::string& common) {
  constexpr std::size_t kMostFolders = 32;  // git itself follows five levels
  std::error_code error;
  const fs::path own = fs::canonical(common + "/objects", error);
  if (error || own != fs::canonical(common, error) / "objects") return {};
  std::vector<std::string> folders = {own.string()};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const fs::path folder = folders[i];
    const auto listed = ReadRegularFile((folder / "info/alternates").string(), kMaxGitFile);
    if (!listed) continue;
    for (const std::string_view line : Split(*listed, '\n')) {
      if (line.empty() || line.front() == '#' || folders.size() >= kMostFolders) continue;
      const fs::path other = fs::canonical(folder / line, error);
      if (!error && IsObjectFolder(other)) folders.push_back(other.string());
    }
  }
  return folders;
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
  made.admin_ = AdminOf(spec.path);
  made.git_file_ = fmt::format("gitdir: {}\n", made.admin_);
  DOSSIER_RETURN_IF_ERROR(RemoveTree(spec.path));
  DOSSIER_RETURN_IF_ERROR(RemoveTree(made.admin_));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.parent_path().string(), 0700));
  DOSSIER_RETURN_IF_ERROR(made.WriteRecord());
  DOSSIER_RETURN_IF_ERROR(MakeAdmin(git, made.admin_, spec.commit, cancel));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(spec.path));
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(spec.path + "/.git", {made.git_file_},
                                      {.durability = Durability::kSurvivesCrash}));
  DOSSIER_RETURN_IF_ERROR(
      git.Ask({.git_dir = made.admin_, .work_tree = spec.path},
              {.arguments = {"reset", "--hard", "--quiet", "--no-recurse-submodules"}}, cancel));
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
      Durability::kSurvivesCrash);
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
      ReplaceFile(file, {git_file_}, {.durability = Durability::kSurvivesCrash}));
  return false;
}

Status Worktree::Remove() {
  owned_ = false;
  const Status folder = RemoveTree(path_);
  const Status admin = admin_.empty() ? Status() : RemoveTree(admin_);
  DOSSIER_RETURN_IF_ERROR(folder);
  DOSSIER_RETURN_IF_ERROR(admin);
  DOSSIER_RETURN_IF_ERROR(RemoveAll(index_));
  return RemoveAll(record_);
}

Status RemoveRecordedWorktrees(const StateFolder& state, std::string_view run) {
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
    const Status admin = RemoveTree(record->admin);
    keep(admin);
    if (removed && admin) keep(RemoveAll(file));
  }
  return first;
}

namespace {

namespace fs = std::filesystem;

// A folder is made accessible before its entries are listed, so each level can be entered.
void OpenUp(const fs::path& folder) {
  chmod(folder.c_str(), 0700);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (entry->symlink_status(unknown).type() == fs::file_type::directory) OpenUp(entry->path());
  }
}

}  // namespace

Status RemoveTree(const std::string& path) {
  if (RemoveAll(path)) return {};
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::directory) OpenUp(path);
  return RemoveAll(path);
}

}  // namespace dossier::agents
