#include "agents/git/git_dir_guard.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "agents/git/worktree.h"
#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 32 << 20;
constexpr std::size_t kMaxEntries = 10'000;
constexpr const char* kWatched[] = {"config", "config.worktree", "hooks", "info",
                                    "objects/info/alternates"};
constexpr std::string_view kUnwatched = "info/refs";
constexpr std::string_view kOurRefs = "refs/dossier/";

// The content of a link is its target, that of a folder its entries. What cannot be read has no
// content, and so differs from anything readable.
std::string ContentOf(const fs::path& path, const struct stat& info) {
  if (S_ISREG(info.st_mode)) return ReadFile(path.string(), kMaxBytes).value_or("");
  std::error_code error;
  return S_ISLNK(info.st_mode) ? fs::read_symlink(path, error).string() : "";
}

}  // namespace

GitDirGuard::GitDirGuard(const Git& git, std::string_view run, std::string undone)
    : git_(git), own_(fmt::format("{}{}/", kOurRefs, run)), undone_(std::move(undone)) {}

Result<std::unique_ptr<GitDirGuard>> GitDirGuard::Take(const Git& git, std::string_view run,
                                                       std::string undone,
                                                       const CancelToken& cancel) {
  auto guard = std::unique_ptr<GitDirGuard>(new GitDirGuard(git, run, std::move(undone)));
  guard->entries_ = guard->ReadEntries();
  std::uint64_t bytes = 0;
  for (const auto& [path, entry] : guard->entries_) bytes += entry.content.size();
  if (bytes > kMaxBytes || guard->entries_.size() > kMaxEntries) {
    return MakeError(ErrorCode::kLimit, "{}: hooks and info hold more than {} or {} files",
                     git.folders().common, FormatSize(kMaxBytes), kMaxEntries);
  }
  DOSSIER_ASSIGN_OR_RETURN(guard->refs_, guard->ReadRefs(cancel));
  return guard;
}

GitDirGuard::Entries GitDirGuard::ReadEntries() const {
  Entries entries;
  std::vector<std::string> waiting(std::begin(kWatched), std::end(kWatched));
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    const fs::path path = fs::path(git_.folders().common) / name;
    struct stat info{};
    if (name == kUnwatched || lstat(path.c_str(), &info) != 0) continue;
    entries[name] = {info.st_mode, ContentOf(path, info)};
    if (!S_ISDIR(info.st_mode)) continue;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      waiting.push_back(fmt::format("{}/{}", name, entry->path().filename().string()));
    }
  }
  return entries;
}

Result<GitDirGuard::Refs> GitDirGuard::ReadRefs(const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string out,
      git_.Ask(git_.Objects(),
               {.arguments = {"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/",
                              std::string(kOurRefs)}},
               cancel));
  Refs refs;
  for (const std::string_view line : Split(out, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    refs.emplace(line.substr(space + 1), line.substr(0, space));
  }
  return refs;
}

// Moves what is at `path` below `folder`, and returns its new path; nothing there: an empty one.
Result<std::string> GitDirGuard::Keep(const std::string& path, const std::string& folder) const {
  const std::string full = fmt::format("{}/{}", git_.folders().common, path);
  struct stat info{};
  if (lstat(full.c_str(), &info) != 0) return std::string();
  const fs::path kept = fs::path(folder) / path;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(kept.parent_path().string()));
  if (rename(full.c_str(), kept.c_str()) != 0) return MakeErrnoError(errno, full);
  return kept.string();
}

Result<ForeignChange> GitDirGuard::Undo(const std::string& path, const Entry* was,
                                        const std::string& folder) const {
  const std::string full = fmt::format("{}/{}", git_.folders().common, path);
  ForeignChange change{.path = path, .kept = {}};
  struct stat info{};
  const bool is_folder = lstat(full.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  const bool stays = was && is_folder && S_ISDIR(was->mode);  // its entries are compared separately
  if (!stays) {
    DOSSIER_ASSIGN_OR_RETURN(change.kept, Keep(path, folder));
  }
  if (!was) return change;
  if (S_ISDIR(was->mode)) {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(full));
  } else if (S_ISLNK(was->mode)) {
    if (symlink(was->content.c_str(), full.c_str()) != 0) return MakeErrnoError(errno, full);
    return change;
  } else {
    DOSSIER_RETURN_IF_ERROR(ReplaceFile(full, {was->content}, {}));
  }
  if (chmod(full.c_str(), was->mode & 07777) != 0) return MakeErrnoError(errno, full);
  return change;
}

// Returns a folder that no earlier check of this run, or of the run that it resumes, has filled.
std::string GitDirGuard::FreeFolder() const {
  std::error_code error;
  for (int number = 1;; ++number) {
    std::string folder = fmt::format("{}/{}", undone_, number);
    if (!fs::exists(folder, error)) return folder;
  }
}

Status GitDirGuard::CompareFiles(GuardReport* report) const {
  const Entries now = ReadEntries();
  const std::string folder = FreeFolder();
  // In path order, so that a folder is restored before its contents.
  for (const auto& [path, was] : entries_) {
    const auto found = now.find(path);
    if (found != now.end() && found->second == was) continue;
    DOSSIER_ASSIGN_OR_RETURN(ForeignChange change, Undo(path, &was, folder));
    report->foreign.push_back(std::move(change));
  }
  for (const auto& [path, entry] : now) {
    if (entries_.contains(path)) continue;
    DOSSIER_ASSIGN_OR_RETURN(ForeignChange change, Undo(path, nullptr, folder));
    report->foreign.push_back(std::move(change));
  }
  return {};
}

bool GitDirGuard::IsAllowed(const std::string& name, const std::string& commit) const {
  const auto was = refs_.find(name);
  if (name.starts_with(own_)) return was != refs_.end() && was->second == commit;
  return was == refs_.end() || was->second == commit;
}

// Adds foreign refs to `report`, and returns the commands for `update-ref` that undo them.
std::string GitDirGuard::JudgeRefs(const Refs& now, GuardReport* report) const {
  std::string commands;
  const auto put_back = [&](const std::string& name) {
    report->foreign.push_back({.path = name, .kept = {}});
    const auto was = refs_.find(name);
    commands += was == refs_.end() ? "delete " : "update ";
    commands.append(name).push_back('\0');
    if (was != refs_.end()) commands.append(was->second).push_back('\0');
    commands.push_back('\0');  // any current value
  };
  for (const auto& [name, commit] : now) {
    if (name.starts_with(kOurRefs) && !IsAllowed(name, commit)) put_back(name);
  }
  for (const auto& [name, commit] : refs_) {
    if (name.starts_with(own_) && !now.contains(name)) put_back(name);
  }
  return commands;
}

std::vector<std::string> GitDirGuard::MovedBranches(const Refs& now) const {
  std::vector<std::string> moved;
  for (const auto& [name, commit] : now) {
    if (name.starts_with(kOurRefs)) continue;
    const auto was = refs_.find(name);
    const auto expected = expected_.find(name);
    const bool known = (was != refs_.end() && was->second == commit) ||
                       (expected != expected_.end() && expected->second.contains(commit));
    if (!known) moved.push_back(name);
  }
  for (const auto& [name, commit] : refs_) {
    if (!name.starts_with(kOurRefs) && !now.contains(name)) moved.push_back(name);
  }
  return moved;
}

Status GitDirGuard::CompareRefs(const CancelToken& cancel, GuardReport* report) {
  DOSSIER_ASSIGN_OR_RETURN(Refs now, ReadRefs(cancel));
  report->moved_branches = MovedBranches(now);
  const std::string commands = JudgeRefs(now, report);
  if (!commands.empty()) {
    DOSSIER_RETURN_IF_ERROR(git_.Ask(
        git_.Objects(),
        {.arguments = {"update-ref", "--no-deref", "--stdin", "-z"}, .input = commands}, cancel));
    DOSSIER_ASSIGN_OR_RETURN(now, ReadRefs(cancel));
  }
  refs_ = std::move(now);
  return {};
}

Result<GuardReport> GitDirGuard::Check(const CancelToken& cancel) {
  std::lock_guard lock(mutex_);
  GuardReport report;
  // Files first: until they are restored git would read a foreign configuration.
  DOSSIER_RETURN_IF_ERROR(CompareFiles(&report));
  DOSSIER_RETURN_IF_ERROR(CompareRefs(cancel, &report));
  return report;
}

Status GitDirGuard::WriteRef(const std::string& name, const std::string& commit) {
  std::lock_guard lock(mutex_);
  DOSSIER_RETURN_IF_ERROR(
      git_.Ask(git_.Objects(), {.arguments = {"update-ref", "--no-deref", name, commit}}));
  refs_[name] = commit;
  return {};
}

void GitDirGuard::Expect(const std::string& branch, const std::string& commit) {
  std::lock_guard lock(mutex_);
  expected_[branch].insert(commit);
}

}  // namespace dossier::agents
