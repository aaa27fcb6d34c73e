#include "sources/pack/pack_select.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/text/text.h"
#include "sources/repository/path_globs.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxFiles = 200'000;

struct Named {
  std::string full;  // absolute, its folder without links
  enum class Kind : std::uint8_t { kFile, kFolder, kGlob } kind = Kind::kFile;
  std::string glob;  // of kGlob, from `full`
};

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  return error ? "" : real;
}

// The folder in front of the first name of `path` with a glob in it, and the rest.
std::pair<std::string, std::string> SplitGlob(const std::string& path) {
  const std::size_t special = path.find_first_of("*?[{");
  const std::size_t slash = path.rfind('/', special);
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Result<Named> Resolve(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (path.find_first_of("*?[{") == std::string::npos) {
      return MakeError(ErrorCode::kNotFound, "{}: no such file or folder", path);
    }
    const auto [folder, glob] = SplitGlob(path);
    const std::string full = Canonical(folder);
    if (full.empty()) return MakeError(ErrorCode::kNotFound, "{}: no such file or folder", path);
    return Named{full, Named::Kind::kGlob, glob};
  }
  if (S_ISDIR(info.st_mode)) return Named{Canonical(path), Named::Kind::kFolder, ""};
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kIsDevice, "{}: not a regular file", path);
  }
  const std::filesystem::path given(path);
  const std::string folder =
      Canonical(given.has_parent_path() ? given.parent_path().string() : ".");
  return Named{fmt::format("{}/{}", folder == "/" ? "" : folder, given.filename().string()),
               Named::Kind::kFile, ""};
}

std::string FolderOf(const Named& named) {
  if (named.kind != Named::Kind::kFile) return named.full;
  return named.full.substr(0, std::max<std::size_t>(named.full.rfind('/'), 1));
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder ||
         (path.starts_with(folder) && path[folder.size()] == '/');
}

// The deepest folder above all that was named.
std::string CommonFolder(const std::vector<Named>& named) {
  std::string common = FolderOf(named.front());
  for (const Named& one : named) {
    const std::string folder = FolderOf(one);
    while (!IsBelow(folder, common)) {
      common = common.substr(0, std::max<std::size_t>(common.rfind('/'), 1));
    }
  }
  return common;
}

class Selector {
 public:
  Selector(const PackOptions& options, const CancelToken& cancel)
      : options_(options), cancel_(cancel), include_(options.include), exclude_(options.exclude) {}

  Result<Selection> Run() {
    std::vector<Named> named;
    for (const std::string& path : options_.paths) {
      DOSSIER_ASSIGN_OR_RETURN(Named one, Resolve(path));
      named.push_back(std::move(one));
    }
    if (named.empty()) return MakeError(ErrorCode::kUsage, "pack: name a file or a folder");
    FindRoot(named);
    for (const Named& one : named) DOSSIER_RETURN_IF_ERROR(Add(one));
    for (auto& [path, file] : found_) selection_.files.push_back(std::move(file));
    if (selection_.files.empty()) {
      selection_.warnings.push_back(
          "no file is packed: there is none, or ignore rules, --include or --exclude leave out "
          "all; a "
          "file that is named is always taken");
    }
    return std::move(selection_);
  }

 private:
  void FindRoot(const std::vector<Named>& named) {
    selection_.root = CommonFolder(named);
    const auto git = FindGitFolders(selection_.root);
    if (!git) return;
    selection_.root = git->root;
    GitFacts facts = ReadGitFacts(*git, cancel_);
    if (!facts.problem.empty()) {
      selection_.warnings.push_back(facts.problem);
      return;
    }
    for (const auto& [path, blob] : facts.index) tracked_.push_back(path);
    std::sort(tracked_.begin(), tracked_.end());
    selection_.git = std::move(facts);
  }

  Status Add(const Named& named) {
    if (named.kind == Named::Kind::kFile) {
      Take(named.full, true);
      return {};
    }
    WalkOptions walk{
        .hidden = options_.hidden ? HiddenFiles::kInclude : HiddenFiles::kSkip,
        .nested = options_.submodules ? NestedRepositories::kInclude : NestedRepositories::kSkip,
        .max_files = kMaxFiles,
        .extra_ignore_files = {".ignore", ".dossierignore"},
        .tracked = tracked_};
    if (selection_.git) {
      walk.global_ignore_file = selection_.git->global_ignore_file;
      walk.letters = selection_.git->letters;
    }
    DOSSIER_ASSIGN_OR_RETURN(const WalkResult result, WalkFolder(named.full, walk, cancel_));
    if (result.stopped) {
      return MakeError(ErrorCode::kLimit, "{}: more than {} files; name fewer folders", named.full,
                       GroupDigits(kMaxFiles));
    }
    for (const SkippedPath& skipped : result.skipped) {
      selection_.warnings.push_back(
          fmt::format("{}: left out ({})", Shown(skipped.path), skipped.reason));
    }
    std::size_t matched = 0;
    const PathGlobs only(named.glob.empty() ? std::vector<std::string>{}
                                            : std::vector<std::string>{"/" + named.glob});
    const std::size_t inside = named.full == "/" ? 1 : named.full.size() + 1;
    for (const std::string& file : result.files) {
      if (!only.empty() && !only.Matches(std::string_view(file).substr(inside))) continue;
      ++matched;
      Take(file, false);
    }
    if (only.empty() || matched > 0) return {};
    return MakeError(ErrorCode::kNotFound,
                     "{}: no file below {} matches, ignored and hidden ones apart", named.glob,
                     named.full);
  }

  std::string Shown(const std::string& full) const {
    return full.substr(selection_.root == "/" ? 1 : selection_.root.size() + 1);
  }

  void Take(const std::string& full, bool named) {
    std::string path = Shown(full);
    if (!named) {
      if (!include_.empty() && !include_.Matches(path)) return;
      if (exclude_.Matches(path)) return;
    }
    SelectedFile& file = found_[path];
    file.full = full;
    file.path = path;
    file.named = file.named || named;
  }

  const PackOptions& options_;
  const CancelToken cancel_;
  const PathGlobs include_, exclude_;
  std::vector<std::string> tracked_;
  std::map<std::string, SelectedFile> found_;
  Selection selection_;
};

}  // namespace

Result<Selection> SelectFiles(const PackOptions& options, const CancelToken& cancel) {
  return Selector(options, cancel).Run();
}

}  // namespace dossier::sources
