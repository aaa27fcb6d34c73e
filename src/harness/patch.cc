#include "harness/patch.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/task_group.h"
#include "base/text.h"
#include "harness/agent_file.h"
#include "harness/diff_headers.h"
#include "harness/diff_output.h"
#include "harness/path_rules.h"

namespace dossier::harness {
namespace {

constexpr const char* kAllButAgent[] = {"--", ".", ":(exclude,top).agent"};
constexpr std::uint64_t kMaxMetaBytes = 1 << 20;
constexpr std::size_t kMaxListBytes = 256 << 20;  // of names, from git
constexpr std::size_t kMaxListed = 20;            // violations of one kind that are worth showing

std::vector<std::string> WithPaths(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), std::begin(kAllButAgent), std::end(kAllButAgent));
  return arguments;
}

// Takes one patch.
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
  // Leaves patch_.tree empty if there is something to object to.
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
      if (count == CountIgnored::kYes) tasks.Run([&] { counted = CountIgnoredFiles(); });
      judged = JudgeUntracked();
    }
    DOSSIER_RETURN_IF_ERROR(counted);
    DOSSIER_RETURN_IF_ERROR(judged);
    if (!Goes()) return {};
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult added,
                             git_.Run(place_, {.arguments = WithPaths({"add", "-A"})}, cancel_));
    if (added.exit_code != 0) {
      // Unreadable, a socket, a repository without a commit: nothing that a commit could hold.
      patch_.violations.push_back({.rule = "path", .value = GitComplaint(added)});
      return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(patch_.tree, git_.AskLine(place_, {"write-tree"}, cancel_));
    return {};
  }

  Result<std::string> Others(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"ls-files", "-z", "--others", "--exclude-standard"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return git_.Ask(place_,
                    {.arguments = WithPaths(std::move(arguments)), .max_output = kMaxListBytes},
                    cancel_);
  }

  Status CountIgnoredFiles() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string names, Others({"--ignored"}));
    patch_.ignored_files = static_cast<std::uint64_t>(std::count(names.begin(), names.end(), '\0'));
    return {};
  }

  // Before git reads a byte of them.
  Status JudgeUntracked() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string names, Others({}));
    std::uint64_t files = 0, bytes = 0;
    ForEachAtNul(names, [&](std::string_view name) {
      ++files;
      if (name.ends_with('/')) {  // how git lists a repository of its own
        name.remove_suffix(1);
        nested_.emplace_back(name);
      }
      if (const char* problem = PathProblem(name);
          problem && patch_.violations.size() < kMaxListed) {
        patch_.violations.push_back({.rule = "path", .path = std::string(name), .value = problem});
      }
      struct stat info{};
      if (lstat(fmt::format("{}/{}", worktree_.path(), name).c_str(), &info) == 0 &&
          S_ISREG(info.st_mode)) {
        bytes += static_cast<std::uint64_t>(info.st_size);
      }
    });
    const auto limit = [&](std::uint64_t value, std::uint64_t most, const char* unit) {
      if (value <= most) return;
      patch_.violations.push_back({.rule = "too-large",
                                   .value = fmt::format("{} untracked {}", value, unit),
                                   .limit = fmt::format("{}", most)});
    };
    limit(files, kMaxUntrackedFiles, "files");
    limit(bytes, kMaxUntrackedBytes, "bytes");
    return JudgeNested();
  }

  // A repository without a commit cannot be added at all, not even as a submodule.
  Status JudgeNested() {
    for (const std::string& name : nested_) {
      DOSSIER_ASSIGN_OR_RETURN(
          const ProcessResult added,
          git_.Run(place_, {.arguments = {"add", "--dry-run", "--", ":(literal,top)" + name}},
                   cancel_));
      if (added.exit_code != 0) {
        patch_.violations.push_back(
            {.rule = "submodule", .path = name, .value = "a repository without a commit"});
      }
    }
    nested_.clear();
    return {};
  }

  // Puts `.agent/patch.diff` into the work tree, all of it or nothing.
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

  // By the paths as git reads them, which are those that it would write to.
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
      const std::size_t tab = entry.rfind('\t');  // behind the counts; old names stand alone
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
      tasks.Run([&] { committed = Commit(); });
      diffed = Diff();
    }
    DOSSIER_RETURN_IF_ERROR(diffed);
    DOSSIER_RETURN_IF_ERROR(committed);
    return CompareClaims();
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

  // The change list that the engine claims in `.agent/meta.json`.
  Status CompareClaims() {
    if (!candidate_.empty()) {
      diff_.base = std::move(patch_.base);
      diff_.candidate = std::move(candidate_);
      diff_.source = patch_.source;
      diff_.ignored_files = patch_.ignored_files;
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
    for (const Change& change : patch_.changes) real.insert(change.path);
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
  std::vector<std::string> nested_;
};

// REP-37's command, for what `output` asks for.
std::vector<std::string> DiffArguments(std::vector<std::string> output, const std::string& from,
                                       const std::string& to) {
  std::vector<std::string> arguments = {
      "diff-tree",     "-r",         "-M50%",           "--no-ext-diff",
      "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"};
  arguments.insert(arguments.end(), output.begin(), output.end());
  arguments.insert(arguments.end(), {from, to});
  return arguments;
}

// Where the links among `changes` lead, in one call.
Status ReadLinks(const Git& git, std::vector<Change>* changes, const CancelToken& cancel) {
  std::vector<Change*> links;
  std::string names;
  for (Change& change : *changes) {
    if (change.new_mode != kModeLink) continue;
    links.push_back(&change);
    names += change.new_blob + '\n';
  }
  if (links.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string out,
      git.Ask(git.Objects(), {.arguments = {"cat-file", "--batch=%(objectsize)"}, .input = names},
              cancel));
  std::string_view rest = out;
  for (Change* link : links) {
    const std::size_t line = rest.find('\n');
    if (line == std::string_view::npos) break;
    const auto size = ParseSize(rest.substr(0, line));
    if (!size || *size + 1 > rest.size() - line - 1) break;
    link->link_target = rest.substr(line + 1, *size);
    rest.remove_prefix(line + 1 + *size + 1);
  }
  return {};
}

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

Result<Patch> DiffTrees(const Git& git, const std::string& from, const std::string& to,
                        const DiffOptions& options, const CancelToken& cancel) {
  // Side by side: for counts and for text git compares all files anew.
  Result<std::string> lists;
  Result<ProcessResult> text;
  {
    TaskGroup tasks;
    tasks.Run([&] {
      lists = git.Ask(git.Objects(),
                      {.arguments = DiffArguments({"-z", "--raw", "--numstat"}, from, to),
                       .max_output = kMaxListBytes},
                      cancel);
    });
    text = git.Run(git.Objects(),
                   {.arguments = DiffArguments({"-p", "--binary", "--full-index"}, from, to),
                    .max_output = options.max_patch_bytes},
                   cancel);
  }
  DOSSIER_RETURN_IF_ERROR(lists);
  DOSSIER_RETURN_IF_ERROR(text);
  if (text->exit_code != 0) {
    return MakeError(ErrorCode::kFailed, "git diff-tree: {}", GitComplaint(*text));
  }
  DOSSIER_ASSIGN_OR_RETURN(DiffOutput diff, ParseDiffOutput(*lists));
  Patch patch{.base = from, .tree = to, .changes = std::move(diff.changes), .stat = diff.stat};
  patch.bytes = text->out.size() + text->out_dropped;
  DOSSIER_RETURN_IF_ERROR(ReadLinks(git, &patch.changes, cancel));
  if (text->out_dropped == 0) patch.sha256 = Sha256Hex(text->out);
  if (patch.bytes > options.max_patch_bytes) {
    patch.violations.push_back({.rule = "too-large",
                                .value = fmt::format("{}", patch.bytes),
                                .limit = fmt::format("{}", options.max_patch_bytes)});
  } else if (!options.file.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteStateFile(options.file, text->out));
    patch.file = options.file;
  }
  return patch;
}

Result<Patch> TakePatch(const Worktree& worktree, const Git& git, const PatchOptions& options,
                        const CancelToken& cancel) {
  return Taker(worktree, git, options, cancel).Take();
}

}  // namespace dossier::harness
