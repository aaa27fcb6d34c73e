#include "agents/merge/checkout.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "agents/git/worktree.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxPointer = 16 << 10;  // bytes of HEAD, gitdir and similar files

std::string ReadFirstLine(const std::string& file) {
  const auto text = ReadRegularFile(file, kMaxPointer);
  return text ? std::string(TrimSpace(Split(*text, '\n').front())) : "";
}

// True if HEAD names it, or a rebase will return to it.
bool Holds(const std::string& git_dir, std::string_view ref) {
  return ReadFirstLine(git_dir + "/HEAD") == fmt::format("ref: {}", ref) ||
         ReadFirstLine(git_dir + "/rebase-merge/head-name") == ref ||
         ReadFirstLine(git_dir + "/rebase-apply/head-name") == ref;
}

// Git writes some paths relative to the folder whose file names them.
std::string Resolved(const std::string& path, const std::string& folder) {
  return (fs::path(folder) / path).lexically_normal().string();
}

bool IsThere(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

bool IsFolder(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

GitPlace PlaceOf(const Checkout& checkout) {
  return {.git_dir = checkout.git_dir, .work_tree = checkout.root};
}

// Parses lines such as "error: Entry 'src/a' not uptodate. Cannot merge.".
std::vector<std::string> QuotedPaths(std::string_view complaints) {
  std::vector<std::string> paths;
  for (const std::string_view line : Split(complaints, '\n')) {
    const std::size_t open = line.find('\''), close = line.rfind('\'');
    if (line.starts_with("error: ") && close != std::string_view::npos && close > open) {
      paths.emplace_back(line.substr(open + 1, close - open - 1));
    }
  }
  return paths;
}

CheckoutRefusal RefusalOf(const ProcessResult& result) {
  if (result.exit_code == 0) return {};
  std::vector<std::string> paths = QuotedPaths(result.err);
  return {.reason =
              paths.empty() ? GitComplaint(result) : "files that are not committed are in the way",
          .paths = std::move(paths)};
}

// Returns the work tree of the main checkout; "" if there is none. That of a submodule is named in
// its configuration.
Result<std::string> MainRoot(const Git& git) {
  const std::string& common = git.folders().common;
  if (git.folders().git == common) return git.folders().root;
  for (const char* file : {"config.worktree", "config"}) {
    const std::string config = fmt::format("{}/{}", common, file);
    if (!Exists(config)) continue;
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult named,
        git.Run(git.Objects(), {.arguments = {"config", "--file", config, "core.worktree"}}));
    const std::string tree(TrimSpace(named.out));
    if (named.exit_code == 0 && !tree.empty()) return Resolved(tree, common);
  }
  return common.ends_with("/.git") ? common.substr(0, common.size() - 5) : "";
}

// For a new file: returns the file itself, or what is in place of a folder above it.
std::string InTheWay(const std::string& root, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    const std::string full = fmt::format("{}/{}", root, above);
    if (!IsThere(full)) return "";
    if (!IsFolder(full)) return above;
  }
  return IsThere(fmt::format("{}/{}", root, path)) ? path : "";
}

// Git overwrites ignored files that are in the way, but they may be a person's, with a password.
Result<CheckoutRefusal> FilesInTheWay(const Git& git, const GitPlace& place,
                                      const CheckoutMove& move, const CancelToken& cancel) {
  CheckoutRefusal refusal;
  for (const PathChange& change : move.changes) {
    if (change.old_mode != 0) continue;
    const std::string name = InTheWay(move.checkout.root, change.path);
    if (name.empty()) continue;
    const bool folder = IsFolder(fmt::format("{}/{}", move.checkout.root, name));
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string found,
        git.Ask(place,
                {.arguments = {"ls-files", "-z", folder ? "--others" : "--cached", "--",
                               ":(literal,top)" + name}},
                cancel));
    if (folder == found.empty()) continue;
    refusal.reason = "an untracked file is in the way";
    refusal.paths.push_back(name);
  }
  return refusal;
}

// Returns the id of the blob that adding `path` would give; "" if it is missing or a folder.
Result<std::string> BlobAt(const Git& git, const Checkout& checkout, const PathChange& change) {
  const std::string full = fmt::format("{}/{}", checkout.root, change.path);
  const std::string& known = change.old_blob.empty() ? change.new_blob : change.old_blob;
  const GitHash hash = known.size() == 64 ? GitHash::kSha256 : GitHash::kSha1;
  struct stat info{};
  if (lstat(full.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return "";
  if (S_ISLNK(info.st_mode)) {
    std::error_code error;
    return GitBlobName(fs::read_symlink(full, error).string(), hash);
  }
  if (!S_ISREG(info.st_mode)) return "";
  return git.AskLine(PlaceOf(checkout), {"hash-object", "--path=" + change.path, "--", full});
}

// Returns "MODE BLOB STAGE" of each path of the index.
Result<std::map<std::string, std::string, std::less<>>> StagedEntries(const Git& git,
                                                                      const Checkout& checkout) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string listed,
                           git.Ask(PlaceOf(checkout), {.arguments = {"ls-files", "-s", "-z"}}));
  std::map<std::string, std::string, std::less<>> staged;
  for (const std::string_view entry : Split(listed, '\0')) {
    const std::size_t tab = entry.find('\t');
    if (tab != std::string_view::npos)
      staged[std::string(entry.substr(tab + 1))] = entry.substr(0, tab);
  }
  return staged;
}

// True if the index has what the new commit has at that path.
bool IsStaged(const std::map<std::string, std::string, std::less<>>& staged,
              const PathChange& change) {
  const auto found = staged.find(change.path);
  if (found == staged.end() || change.new_mode == 0)
    return (found == staged.end()) == (change.new_mode == 0);
  return found->second == fmt::format("{:o} {} 0", change.new_mode, change.new_blob);
}

Status Rescue(const std::string& from, const std::string& to) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(to.substr(0, to.rfind('/')), 0700));
  std::error_code error;
  fs::copy(from, to,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks |
               fs::copy_options::overwrite_existing,
           error);
  if (error) return MakeErrnoError(error.value(), to);
  return {};
}

// Removes a file that the old commit does not have, and folders that become empty.
Status RemoveNew(const std::string& root, const std::string& path) {
  const std::string full = fmt::format("{}/{}", root, path);
  if (unlink(full.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR && errno != EISDIR) {
    return MakeErrnoError(errno, full);
  }
  fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  while (!folder.empty() && fs::remove(fs::path(root) / folder, error) && !error) {
    folder = folder.parent_path();
  }
  return {};
}

}  // namespace

Result<std::vector<Checkout>> FindCheckouts(const Git& git, std::string_view ref) {
  std::vector<Checkout> found;
  const std::string& common = git.folders().common;
  DOSSIER_ASSIGN_OR_RETURN(const std::string main_root, MainRoot(git));
  if (!main_root.empty() && Holds(common, ref)) found.push_back({main_root, common});
  std::error_code error;
  for (fs::directory_iterator entry(common + "/worktrees", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string admin = entry->path().string();
    const std::string pointer = Resolved(ReadFirstLine(admin + "/gitdir"), admin);
    if (!pointer.ends_with("/.git") || !Exists(pointer) || !Holds(admin, ref)) continue;
    found.push_back({pointer.substr(0, pointer.size() - 5), admin});
  }
  return found;
}

bool IsOn(const Checkout& checkout, std::string_view ref) {
  return ReadFirstLine(checkout.git_dir + "/HEAD") == fmt::format("ref: {}", ref);
}

CheckoutRefusal RefuseBusy(const Checkout& checkout) {
  constexpr struct {
    const char *file, *name, *command;
  } kOperations[] = {{"MERGE_HEAD", "a merge", "merge"},
                     {"rebase-merge", "a rebase", "rebase"},
                     {"rebase-apply/applying", "an import of patches", "am"},
                     {"rebase-apply", "a rebase", "rebase"},
                     {"CHERRY_PICK_HEAD", "a cherry-pick", "cherry-pick"},
                     {"REVERT_HEAD", "a revert", "revert"}};
  for (const auto& [file, name, command] : kOperations) {
    if (!Exists(fmt::format("{}/{}", checkout.git_dir, file))) continue;
    return {
        .reason = fmt::format("{0} is in progress in {1}: end it (`git {2} --continue`) or give "
                              "it up (`git {2} --abort`)",
                              name, checkout.root, command),
        .paths = {}};
  }
  return {};
}

CheckoutRefusal RefuseCheckouts(const std::vector<Checkout>& checkouts, std::string_view ref) {
  if (checkouts.size() > 1) {
    return {.reason = fmt::format("{} is checked out twice: in {} and in {}; put one of them on "
                                  "another branch",
                                  ref, checkouts[0].root, checkouts[1].root),
            .paths = {}};
  }
  return checkouts.empty() ? CheckoutRefusal() : RefuseBusy(checkouts[0]);
}

Result<CheckoutRefusal> WouldRefuse(const Git& git, const StateFolder& state,
                                    const CheckoutMove& move, const CancelToken& cancel) {
  GitPlace place = PlaceOf(move.checkout);
  place.index = state.path() + "/merge.index";
  DOSSIER_RETURN_IF_ERROR(RemoveAll(place.index));
  const std::string index = move.checkout.git_dir + "/index";
  if (Exists(index)) DOSSIER_RETURN_IF_ERROR(CopyIndex(index, place.index));
  // A file with only a new time is unchanged. Uses the copy: the checkout's own index stays.
  DOSSIER_RETURN_IF_ERROR(
      git.Run(place, {.arguments = {"update-index", "-q", "--refresh"}}, cancel));
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult tried,
      git.Run(place,
              {.arguments = {"read-tree", "-n", "-m", "-u", move.old_commit, move.new_commit}},
              cancel));
  CheckoutRefusal refusal = RefusalOf(tried);
  if (!refusal) {
    DOSSIER_ASSIGN_OR_RETURN(refusal, FilesInTheWay(git, place, move, cancel));
  }
  static_cast<void>(RemoveAll(place.index));
  return refusal;
}

CheckoutRefusal WaitForIndex(const Checkout& checkout, Millis limit) {
  const std::string lock = checkout.git_dir + "/index.lock";
  const auto until = std::chrono::steady_clock::now() + limit;
  while (Exists(lock)) {
    if (std::chrono::steady_clock::now() >= until) {
      return {.reason = fmt::format("another git has held {} for {} s; remove it if none runs",
                                    lock, limit.count() / 1000)};
    }
    std::this_thread::sleep_for(Millis(20));  // there is no notification when it is released
  }
  return {};
}

Result<CheckoutRefusal> MoveCheckout(const Git& git, const CheckoutMove& move) {
  const GitPlace place = PlaceOf(move.checkout);
  DOSSIER_RETURN_IF_ERROR(git.Run(place, {.arguments = {"update-index", "-q", "--refresh"}}));
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult moved,
      git.Run(place, {.arguments = {"read-tree", "-m", "-u", move.old_commit, move.new_commit}}));
  return RefusalOf(moved);
}

Result<std::vector<std::string>> PutBack(const Git& git, const CheckoutMove& move,
                                         const std::optional<std::string>& rescue) {
  const Checkout& checkout = move.checkout;
  std::map<std::string, std::string, std::less<>> staged;
  if (!rescue) {
    DOSSIER_ASSIGN_OR_RETURN(staged, StagedEntries(git, checkout));
  }
  std::vector<std::string> rescued;
  std::set<std::string, std::less<>> left;
  std::string entries, files;
  for (const PathChange& change : move.changes) {
    const std::string full = fmt::format("{}/{}", checkout.root, change.path);
    // Without a rescue folder, what a person staged meanwhile stays.
    if (rescue || IsStaged(staged, change)) {
      entries += fmt::format("{:o} {}\t{}", change.old_mode, change.old_blob, change.path);
      entries += '\0';
    }
    if (change.old_mode == kModeSubmodule || change.new_mode == kModeSubmodule) continue;
    DOSSIER_ASSIGN_OR_RETURN(const std::string blob, BlobAt(git, checkout, change));
    // A folder in place of an old file is a person's; of a new one, it may be the old commit's.
    const bool foreign = blob.empty() ? change.old_mode != 0 && IsFolder(full)
                                      : blob != change.old_blob && blob != change.new_blob;
    if (foreign && !rescue) {
      left.insert(change.path);
      rescued.push_back(full);
      continue;
    }
    if (foreign) {
      rescued.push_back(fmt::format("{}/{}", *rescue, change.path));
      DOSSIER_RETURN_IF_ERROR(Rescue(full, rescued.back()));
    }
    if (change.old_mode == 0) continue;
    files += change.path;
    files += '\0';
  }
  DOSSIER_RETURN_IF_ERROR(git.Ask(
      PlaceOf(checkout), {.arguments = {"update-index", "-z", "--index-info"}, .input = entries}));
  // New files first: one may be where the old commit has a folder.
  for (const PathChange& change : move.changes) {
    if (change.old_mode == 0 && change.new_mode != kModeSubmodule && !left.contains(change.path)) {
      DOSSIER_RETURN_IF_ERROR(RemoveNew(checkout.root, change.path));
    }
  }
  if (!files.empty()) {
    DOSSIER_RETURN_IF_ERROR(git.Ask(
        PlaceOf(checkout),
        {.arguments = {"checkout-index", "-f", "-q", "-u", "-z", "--stdin"}, .input = files}));
  }
  return rescued;
}

}  // namespace dossier::agents
