#include "agents/git/patch.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>

#include "agents/git/agent_file.h"
#include "agents/git/path_rules.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/task_group.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr const char* kAllButAgent[] = {".", ":(exclude,top).agent"};
constexpr std::uint64_t kMaxMetaBytes = 1 << 20;
constexpr std::size_t kMaxPatchListBytes = 256 << 20;  // for names, from git
constexpr std::size_t kMaxListed = 20;                 // maximum listed violations of one kind

std::vector<std::string> WithPaths(std::vector<std::string> arguments) {
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), std::begin(kAllButAgent), std::end(kAllButAgent));
  return arguments;
}

std::string AtNul(const std::string& text) { return text + '\0'; }

// One entry of `ls-files -t --stage`: "? PATH", or "H 100644 OBJECT 0\tPATH".
struct ListedFile {
  char tag = '?';  // '?' untracked, 'H' in the index, 'C' changed since
  bool submodule = false;
  std::string path;
};

ListedFile ParseListed(std::string_view entry) {
  ListedFile file{.tag = entry.front(), .path = std::string(entry.substr(2))};
  if (file.tag == '?') return file;
  file.submodule = file.path.starts_with("160000 ");
  file.path.erase(0, file.path.find('\t') + 1);
  return file;
}

// Takes a single patch.
class Taker {
 public:
  Taker(const Worktree& worktree, const Git& git, const PatchOptions& options,
        const CancelToken& cancel)
      : worktree_(worktree),
        git_(git),
        options_(options),
        cancel_(cancel),
        place_{.git_dir = git.folders().common,
               .work_tree = worktree.path(),
               .index = worktree.index() + ".patch"} {}

  Result<Patch> Take() {
    patch_.base = worktree_.commit();
    DOSSIER_RETURN_IF_ERROR(CopyIndex(worktree_.index(), place_.index));
    const Status taken = TakeTree();
    static_cast<void>(RemoveAll(place_.index));
    DOSSIER_RETURN_IF_ERROR(taken);
    if (!patch_.violations.empty() || !patch_.apply_problem.empty()) return std::move(patch_);
    DOSSIER_RETURN_IF_ERROR(Describe());
    return std::move(patch_);
  }

 private:
  // Leaves patch_.tree empty if there are violations.
  Status TakeTree() {
    DOSSIER_RETURN_IF_ERROR(Add(CountIgnored::kYes));
    const bool wanted = options_.output == EngineOutput::kPatchFile;
    if (!Goes() || (!wanted && patch_.tree != worktree_.tree())) return {};
    DOSSIER_RETURN_IF_ERROR(ApplyClaim());
    if (!Goes() || patch_.source == PatchSource::kWorktree) return {};
    return Add(CountIgnored::kNo);
  }

  bool Goes() const { return patch_.violations.empty() && patch_.apply_problem.empty(); }

  enum class CountIgnored : std::uint8_t { kNo, kYes };

  Status Add(CountIgnored count) {
    Status counted, judged;
    {
      TaskGroup tasks;
      const auto tally = [&] { counted = CountIgnoredFiles(); };
      if (count == CountIgnored::kYes && !tasks.Run(tally)) tally();
      judged = JudgeFiles();
    }
    DOSSIER_RETURN_IF_ERROR(counted);
    DOSSIER_RETURN_IF_ERROR(judged);
    if (!Goes()) return {};
    std::string paths;
    for (const char* path : kAllButAgent) paths += AtNul(path);
    for (const std::string& path : repositories_) paths += AtNul(":(exclude,top,literal)" + path);
    DOSSIER_RETURN_IF_ERROR(
        Stage({"add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"}, std::move(paths)));
    if (!repositories_.empty()) {
      std::string names;
      for (const std::string& path : repositories_) names += AtNul(path);
      DOSSIER_RETURN_IF_ERROR(Stage({"update-index", "-z", "--stdin"}, std::move(names)));
    }
    if (!Goes()) return {};
    DOSSIER_ASSIGN_OR_RETURN(patch_.tree, git_.AskLine(place_, {"write-tree"}, cancel_));
    return {};
  }

  // What git cannot stage is unreadable, a socket, or a repository without a commit: a commit
  // cannot contain it.
  Status Stage(std::vector<std::string> arguments, std::string input) {
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult staged,
        git_.Run(place_, {.arguments = std::move(arguments), .input = std::move(input)}, cancel_));
    if (staged.exit_code != 0) {
      patch_.violations.push_back({.rule = "path", .value = GitComplaint(staged)});
    }
    return {};
  }

  // Returns NUL-separated entries; if there are too many, only as many as fit.
  Result<ProcessResult> List(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"ls-files", "-z", "--others", "--exclude-standard"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    DOSSIER_ASSIGN_OR_RETURN(
        ProcessResult listed,
        git_.Run(place_,
                 {.arguments = WithPaths(std::move(arguments)), .max_output = kMaxPatchListBytes},
                 cancel_));
    if (listed.exit_code != 0) {
      return MakeError(ErrorCode::kFailed, "git ls-files: {}", GitComplaint(listed));
    }
    return listed;
  }

  Status CountIgnoredFiles() {
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult listed, List({"--ignored"}));
    const std::string& names = listed.out;
    patch_.ignored_files = static_cast<std::uint64_t>(std::count(names.begin(), names.end(), '\0'));
    return {};
  }

  // Runs before git reads any byte of the files.
  Status JudgeFiles() {
    repositories_.clear();
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult listed,
                             List({"--cached", "--stage", "--modified", "-t"}));
    std::uint64_t files = 0, bytes = 0, modified = 0;
    std::set<std::string, std::less<>> folders;
    std::vector<std::string> changed;
    ForEachAtNul(listed.out, [&](std::string_view entry) {
      if (entry.size() < 3) return;
      const ListedFile file = ParseListed(entry);
      // A repository that git recognises is judged as one, below.
      if (!file.path.ends_with('/')) AddFolders(file.path, &folders);
      if (file.tag == '?' || file.tag == 'C') changed.push_back(file.path);
      if (file.tag == '?') {
        ++files;
        bytes += SizeOf(file.path);
        JudgeUntracked(file.path);
      } else if (file.submodule) {
        if (file.tag == 'H') JudgeSubmodule(file.path);
      } else if (file.tag == 'C') {
        modified += SizeOf(file.path);
      }
    });
    const auto limit = [&](std::uint64_t value, std::uint64_t most, const char* unit) {
      if (value <= most) return;
      patch_.violations.push_back({.rule = "too-large",
                                   .value = fmt::format("{} {}", value, unit),
                                   .limit = fmt::format("{}", most)});
    };
    limit(files, kMaxUntrackedFiles, "untracked files");
    limit(bytes, kMaxUntrackedBytes, "untracked bytes");
    limit(modified, kMaxModifiedBytes, "bytes of modified files");
    limit(listed.out.size() + listed.out_dropped, kMaxPatchListBytes, "bytes of names");
    JudgeFolders(folders);
    if (patch_.violations.empty()) JudgeSecrets(changed);
    return JudgeNested();
  }

  // Runs before git stores anything of the files, because objects stay in the repository.
  void JudgeSecrets(const std::vector<std::string>& paths) {
    if (!options_.secrets || options_.secrets->empty()) return;
    for (const std::string& path : paths) {
      if (patch_.violations.size() >= kMaxListed) return;
      const std::string text = ContentOf(path);
      auto found = options_.secrets->Find(text);
      std::size_t line = 0;
      if (found) {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(found->offset);
        line = 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
      } else if (found = options_.secrets->Find(path); !found) {
        continue;
      }
      patch_.violations.push_back(
          {.rule = "secret",
           .path = options_.secrets->Hide(path),
           .value = line == 0 ? fmt::format("its name holds the value of {}", found->name)
                              : fmt::format("line {} holds the value of {}", line, found->name)});
    }
  }

  // Returns the content of a regular file or the target of a link; nothing for anything else.
  std::string ContentOf(const std::string& path) const {
    const std::string full = fmt::format("{}/{}", worktree_.path(), path);
    std::error_code error;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(full, error))) {
      return std::filesystem::read_symlink(full, error).string();
    }
    return ReadRegularFile(full, kMaxModifiedBytes).value_or("");
  }

  // Adds the folders above `path`, except the root.
  static void AddFolders(std::string_view path, std::set<std::string, std::less<>>* folders) {
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;
         slash = path.rfind('/')) {
      path = path.substr(0, slash);
      if (folders->contains(path)) return;
      folders->emplace(path);
    }
  }

  // If a repository's git folder is damaged, git would take its files as plain ones.
  void JudgeFolders(const std::set<std::string, std::less<>>& folders) {
    for (const std::string& folder : folders) {
      if (patch_.violations.size() >= kMaxListed) return;
      if (IsThere(folder + "/.git")) AddSubmodule(folder, "a repository of its own");
    }
  }

  // What is in place of a submodule belongs to another repository: git reads none of its files.
  void JudgeSubmodule(const std::string& path) {
    if (IsThere(path + "/.git")) {
      repositories_.push_back(path);
      patch_.warnings.push_back(fmt::format(
          "{}: a repository in place of a submodule; of it only its commit is seen", path));
      return;
    }
    std::error_code error;
    const std::filesystem::directory_iterator entries(fmt::format("{}/{}", worktree_.path(), path),
                                                      error);
    if (!error && entries != std::filesystem::directory_iterator()) {
      AddSubmodule(path, "files in place of a submodule");
    }
  }

  void AddSubmodule(std::string path, std::string what) {
    patch_.violations.push_back(
        {.rule = "submodule", .path = std::move(path), .value = std::move(what)});
  }

  void JudgeUntracked(std::string_view name) {
    if (name.ends_with('/')) {  // git lists separate repositories in this form
      name.remove_suffix(1);
      nested_.emplace_back(name);
    }
    const char* problem = PathProblem(name);
    if (!problem || patch_.violations.size() >= kMaxListed) return;
    patch_.violations.push_back({.rule = "path", .path = std::string(name), .value = problem});
  }

  bool Stat(const std::string& name, struct stat* info) const {
    return lstat(fmt::format("{}/{}", worktree_.path(), name).c_str(), info) == 0;
  }
  bool IsThere(const std::string& name) const {
    struct stat info{};
    return Stat(name, &info);
  }
  std::uint64_t SizeOf(const std::string& name) const {
    struct stat info{};
    return Stat(name, &info) && S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size)
                                                      : 0;
  }

  // A repository without a commit cannot be added at all, not even as a submodule.
  Status JudgeNested() {
    for (const std::string& name : nested_) {
      DOSSIER_ASSIGN_OR_RETURN(
          const ProcessResult added,
          git_.Run(place_, {.arguments = {"add", "--dry-run", "--", ":(literal,top)" + name}},
                   cancel_));
      if (added.exit_code != 0) {
        AddSubmodule(name, "a repository without a commit");
      }
    }
    nested_.clear();
    return {};
  }

  // Applies `.agent/patch.diff` to the work tree, completely or not at all.
  Status ApplyClaim() {
    const auto diff = ReadAgentFile(worktree_.path(), "patch.diff", options_.max_patch_bytes);
    if (!diff && diff.error().code == ErrorCode::kTooLong) {
      patch_.violations.push_back({.rule = "too-large",
                                   .path = ".agent/patch.diff",
                                   .limit = fmt::format("{}", options_.max_patch_bytes)});
      return {};
    }
    DOSSIER_RETURN_IF_ERROR(diff);
    if (!*diff) return {};
    DOSSIER_RETURN_IF_ERROR(JudgeClaim(**diff));
    if (!Goes()) return {};
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult applied,
                             Apply({"apply", "--whitespace=nowarn", "-"}, **diff));
    if (applied.exit_code != 0) patch_.apply_problem = GitComplaint(applied);
    patch_.source = PatchSource::kPatchFile;
    return {};
  }

  Result<ProcessResult> Apply(std::vector<std::string> arguments, const std::string& diff) const {
    return git_.Run(place_, {.arguments = std::move(arguments), .input = diff}, cancel_);
  }

  // Checks the paths as git parses them, because git writes to these.
  Status JudgeClaim(const std::string& diff) {
    const auto refuse = [&](std::string_view path, std::string_view problem) {
      patch_.violations.push_back(
          {.rule = "path", .path = std::string(path), .value = std::string(problem)});
    };
    for (const std::string_view path : DiffHeaderPaths(diff)) {
      const bool absolute = path.starts_with('/') || path.starts_with("\"/");
      if (absolute && path != "/dev/null") refuse(path, "the path is absolute");
    }
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult listed,
                             Apply({"apply", "--numstat", "-z", "-"}, diff));
    if (listed.exit_code != 0) {
      patch_.apply_problem = GitComplaint(listed);
      return {};
    }
    ForEachAtNul(listed.out, [&](std::string_view entry) {
      const std::size_t tab = entry.rfind('\t');  // after the counts; old names are separate
      const std::string_view path = tab == std::string_view::npos ? entry : entry.substr(tab + 1);
      if (path.empty()) return;
      if (const char* problem = PathProblem(path)) refuse(path, problem);
    });
    return {};
  }

  Status Describe() {
    if (patch_.tree == worktree_.tree()) return CompareClaims();
    Status diffed, committed;
    {
      TaskGroup tasks;
      const auto commit = [&] { committed = Commit(); };
      if (!tasks.Run(commit)) commit();
      diffed = Diff();
    }
    DOSSIER_RETURN_IF_ERROR(diffed);
    DOSSIER_RETURN_IF_ERROR(committed);
    DOSSIER_RETURN_IF_ERROR(JudgeFilters());
    return CompareClaims();
  }

  // Filters are not run, so the result of filtered files would be wrong: they are refused.
  Status JudgeFilters() {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> filters, git_.Filters(place_));
    std::string paths;
    for (const PathChange& change : diff_.changes) {
      if (change.new_mode != 0) paths += AtNul(change.path);
    }
    if (filters.empty() || paths.empty()) return {};
    DOSSIER_ASSIGN_OR_RETURN(const std::string out,
                             git_.Ask(place_,
                                      {.arguments = {"check-attr", "-z", "--stdin", "filter"},
                                       .input = std::move(paths),
                                       .max_output = kMaxPatchListBytes},
                                      cancel_));
    std::vector<std::string_view> fields;  // path, "filter", value
    ForEachAtNul(out, [&](std::string_view field) { fields.push_back(field); });
    for (std::size_t i = 0; i + 2 < fields.size() && diff_.violations.size() < kMaxListed; i += 3) {
      if (std::find(filters.begin(), filters.end(), fields[i + 2]) == filters.end()) continue;
      diff_.violations.push_back(
          {.rule = "filter", .path = std::string(fields[i]), .value = std::string(fields[i + 2])});
    }
    return {};
  }

  Status Commit() {
    const std::string message =
        fmt::format("agent:{} candidate {}", options_.task, options_.attempt);
    DOSSIER_ASSIGN_OR_RETURN(candidate_,
                             CommitCandidate(git_, patch_.tree, patch_.base, message, cancel_));
    const std::string ref = CandidateRef(options_.run, options_.task, options_.attempt);
    if (options_.guard) return options_.guard->WriteRef(ref, candidate_);
    return git_.Ask(git_.Objects(), {.arguments = {"update-ref", ref, candidate_}}, cancel_)
        .transform([](const std::string&) {});
  }

  Status Diff() {
    const DiffOptions options{
        .max_patch_bytes = options_.max_patch_bytes,
        .file = options_.folder.empty() ? "" : options_.folder + "/patch.diff"};
    DOSSIER_ASSIGN_OR_RETURN(diff_,
                             DiffTrees(git_, worktree_.tree(), patch_.tree, options, cancel_));
    return {};
  }

  // Compares with the change list that the engine claims in `.agent/meta.json`.
  Status CompareClaims() {
    if (!candidate_.empty()) {
      diff_.base = std::move(patch_.base);
      diff_.candidate = std::move(candidate_);
      diff_.source = patch_.source;
      diff_.ignored_files = patch_.ignored_files;
      diff_.warnings = std::move(patch_.warnings);
      patch_ = std::move(diff_);
    }
    const auto text = ReadAgentFile(worktree_.path(), "meta.json", kMaxMetaBytes);
    if (!text || !*text) return {};
    const auto meta = ParseJson(**text);
    const Json* files = meta ? Find(*meta, "files") : nullptr;
    if (!files || !files->is_array()) return {};
    std::set<std::string> claimed, real;
    for (const Json& file : files->as_array()) {
      if (file.is_string()) claimed.emplace(file.as_string());
    }
    for (const PathChange& change : patch_.changes) real.insert(change.path);
    if (claimed == real) return {};
    patch_.warnings.push_back(
        fmt::format("meta-mismatch: .agent/meta.json names {} files, the patch changes {}",
                    claimed.size(), real.size()));
    return {};
  }

  const Worktree& worktree_;
  const Git& git_;
  const PatchOptions& options_;
  const CancelToken& cancel_;
  const GitPlace place_;
  Patch patch_, diff_;
  std::string candidate_;
  std::vector<std::string> nested_;        // repositories that git does not recognise
  std::vector<std::string> repositories_;  // in place of submodules
};

}  // namespace

std::string CandidateRef(std::string_view run, std::string_view task, int attempt) {
  return fmt::format("refs/dossier/{}/{}/{}", run, task, attempt);
}

Result<std::string> CommitCandidate(const Git& git, const std::string& tree,
                                    const std::string& parent, const std::string& message,
                                    const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(
      std::string commit,
      git.Ask(
          git.Objects(),
          {.arguments = {"commit-tree", tree, "-p", parent, "-m", message},
           .environment = {"GIT_AUTHOR_NAME=Dossier", "GIT_AUTHOR_EMAIL=dossier@localhost",
                           "GIT_COMMITTER_NAME=Dossier", "GIT_COMMITTER_EMAIL=dossier@localhost"}},
          cancel));
  if (commit.ends_with('\n')) commit.pop_back();
  return commit;
}

Result<Patch> TakePatch(const Worktree& worktree, const Git& git, const PatchOptions& options,
                        const CancelToken& cancel) {
  return Taker(worktree, git, options, cancel).Take();
}

namespace {

constexpr std::string_view kHeaders[] = {"--- ",       "+++ ",       "rename from ",
                                         "rename to ", "copy from ", "copy to "};

// Returns the count in "-12,3" or "+12": 3, 1.
std::uint64_t LinesOf(std::string_view range) {
  const std::size_t comma = range.find(',');
  if (comma == std::string_view::npos) return 1;
  std::uint64_t count = 0;
  std::from_chars(range.data() + comma + 1, range.data() + range.size(), count);
  return count;
}

}  // namespace

std::vector<std::string_view> DiffHeaderPaths(std::string_view text) {
  std::vector<std::string_view> paths;
  std::uint64_t old_lines = 0, new_lines = 0;  // left in the hunk
  for (const std::string_view line : Split(text, '\n')) {
    if (old_lines > 0 || new_lines > 0) {
      const char kind = line.empty() ? ' ' : line[0];
      if (kind != '+' && old_lines > 0 && kind != '\\') --old_lines;
      if (kind != '-' && new_lines > 0 && kind != '\\') --new_lines;
      continue;
    }
    if (line.starts_with("@@ -")) {
      const auto fields = Split(line, ' ');
      if (fields.size() < 3) continue;
      old_lines = LinesOf(fields[1]);
      new_lines = LinesOf(fields[2]);
      continue;
    }
    for (const std::string_view header : kHeaders) {
      if (line.starts_with(header)) {
        const std::string_view rest = line.substr(header.size());
        paths.push_back(rest.substr(0, rest.find('\t')));
      }
    }
  }
  return paths;
}

}  // namespace dossier::agents
