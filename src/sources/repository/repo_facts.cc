#include "sources/repository/repo_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/files/file.h"
#include "base/process/git_call.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

using std::chrono::duration_cast;

constexpr std::string_view kUnknown = "HEAD";
constexpr std::string_view kRefMark = "ref: ";
constexpr std::string_view kHeads = "refs/heads/";
constexpr std::string_view kReftableBranch = "refs/heads/.invalid";  // stands in HEAD with reftable
constexpr std::uint64_t kMaxRefBytes = 64 << 10;
constexpr int kMaxLinks = 5;  // symbolic references that lead on to others; git's own limit
constexpr const char* kRecentCommits = "-5";

// What tells one state of a file from another.
std::string StampOf(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return "-";
  return fmt::format("{} {} {}.{} {}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

// A reftable folder changes by its list of tables.
std::string StampOfReftable(const std::string& folder) {
  return StampOf(folder) + StampOf(folder + "/tables.list");
}

// "refs/heads/main" of "ref: refs/heads/main\n"; empty if it is no symbolic reference.
std::string TargetOf(const std::string& content) {
  if (!content.starts_with(kRefMark)) return {};
  return std::string(TrimSpace(std::string_view(content).substr(kRefMark.size())));
}

// A reference that may be looked up as a file below the git folder.
bool IsPlainRef(std::string_view name) {
  return name.starts_with("refs/") && name.find("..") == std::string_view::npos;
}

// Folders of the repository, or of the folder above that has a `.git` of any kind.
std::string RootOf(const std::string& folder, const std::optional<GitFolders>& git) {
  if (git) return git->root;
  std::error_code error;
  const auto start = std::filesystem::weakly_canonical(folder, error);
  for (auto at = start; !at.empty(); at = at.parent_path()) {
    if (Exists((at / ".git").string())) return at.string();
    if (at == at.parent_path()) break;
  }
  return start.string();
}

}  // namespace

std::string RepoRoot(const std::string& folder) { return RootOf(folder, FindGitFolders(folder)); }

RepoWatch::RepoWatch(const std::string& folder, CancelToken cancel, Millis timeout)
    : git_(FindGitFolders(folder)), cancel_(std::move(cancel)), timeout_(timeout) {
  root_ = RootOf(folder, git_);
}

std::size_t RepoWatch::git_starts() const {
  const std::lock_guard lock(mutex_);
  return git_starts_;
}

std::string RepoWatch::StateKey() const {
  std::string key = ReadRegularFile(git_->git + "/HEAD", kMaxRefBytes).value_or("");
  std::string ref = TargetOf(key);
  for (int link = 0; link < kMaxLinks && IsPlainRef(ref); ++link) {
    const std::string path = fmt::format("{}/{}", git_->common, ref);
    key += "|" + StampOf(path);
    const auto content = ReadRegularFile(path, kMaxRefBytes);
    ref = content ? TargetOf(*content) : "";
  }
  key += "|" + StampOf(git_->common + "/packed-refs");
  key += "|" + StampOfReftable(git_->common + "/reftable");
  if (git_->git != git_->common) key += "|" + StampOfReftable(git_->git + "/reftable");
  return key + "|" + StampOf(git_->git + "/index");
}

// What git printed, or why there is nothing: as a sentence, and whether git itself says so.
struct RepoWatch::Answer {
  std::optional<std::string> out;
  std::string problem;
  enum class By { kGit, kUs } by = By::kUs;

  bool refused() const { return !out && by == By::kGit; }
};

RepoWatch::Answer RepoWatch::Ask(std::vector<std::string> arguments) {
  if (!hung_.empty()) return {.problem = hung_};
  ++git_starts_;
  const std::string name = arguments.front();
  auto done = CallGit({.folder = root_,
                       .work_tree = root_,  // before core.worktree of the repository
                       .arguments = std::move(arguments),
                       .timeout = timeout_},
                      cancel_);
  if (!done) {
    const bool missing = done.error().code == ErrorCode::kNotFound;
    return {.problem = missing ? "git is not installed" : done.error().message};
  }
  if (done->timed_out) {
    hung_ = fmt::format("git {} did not end within {} s", name,
                        duration_cast<std::chrono::seconds>(timeout_).count());
    return {.problem = hung_};
  }
  if (done->exit_code != 0) {
    const std::string_view line = TrimSpace(Split(done->err, '\n').front());
    return {.problem = fmt::format("git {}: {}", name,
                                   line.empty() ? fmt::format("exit {}", done->exit_code)
                                                : utf8::CleanForTerminal(utf8::Prefix(line, 300))),
            .by = Answer::By::kGit};
  }
  Answer answer{.out = std::move(done->out)};
  if (done->out_dropped > 0) {
    answer.problem = fmt::format("git {} printed more than {} MiB: the rest is left out", name,
                                 answer.out->size() >> 20);
  }
  return answer;
}

void RepoWatch::ReadBranch(RepoFacts* facts) const {
  const std::string ref = TargetOf(ReadRegularFile(git_->git + "/HEAD", kMaxRefBytes).value_or(""));
  if (ref.empty()) return;
  facts->branch = ref.starts_with(kHeads) ? ref.substr(kHeads.size()) : ref;
}

void RepoWatch::ReadHead(RepoFacts* facts) {
  const std::string ref = TargetOf(ReadRegularFile(git_->git + "/HEAD", kMaxRefBytes).value_or(""));
  if (ref == kReftableBranch) {
    const Answer name = Ask({"symbolic-ref", "-q", "HEAD"});
    const std::string_view branch = name.out ? TrimSpace(*name.out) : kUnknown;
    facts->branch = branch.starts_with(kHeads) ? branch.substr(kHeads.size()) : branch;
  }
  const Answer head = Ask({"rev-parse", "--short", "HEAD"});
  if (head.out) {
    facts->head = TrimSpace(*head.out);
    return;
  }
  // A branch without a commit is a state, not a fault.
  const bool unborn = head.problem.find("Needed a single revision") != std::string::npos ||
                      head.problem.find("unknown revision") != std::string::npos ||
                      head.problem.find("ambiguous argument 'HEAD'") != std::string::npos;
  if (!unborn) facts->problem = head.problem;
}

void RepoWatch::ReadStatus(const RepoQuery& query, RepoFacts* facts) {
  // One new folder is enough to be dirty; only who wants its files has git walk through it.
  Answer status = Ask({"status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all",
                       query.changed ? "--untracked-files=all" : "--untracked-files=normal"});
  if (!status.problem.empty()) facts->problem = std::move(status.problem);
  if (!status.out) return;
  facts->dirty = !status.out->empty();
  // Behind the last NUL there is nothing, or a path that was cut.
  status.out->erase(status.out->rfind('\0') + 1);
  constexpr std::size_t kCodeBytes = 3;  // "XY "
  for (const std::string_view entry : Split(*status.out, '\0')) {
    if (entry.size() > kCodeBytes) facts->changed.emplace_back(entry.substr(kCodeBytes));
  }
}

void RepoWatch::ReadUpstream(RepoFacts* facts) {
  const Answer counts = Ask({"rev-list", "--left-right", "--count", "HEAD...@{upstream}"});
  // That there is none is a state, not a fault.
  if (!counts.problem.empty() && !counts.refused()) facts->problem = counts.problem;
  if (!counts.out) return;
  const std::string& out = *counts.out;
  const std::size_t tab = out.find('\t');
  if (tab == std::string::npos) return;
  Upstream upstream;
  std::from_chars(out.data(), out.data() + tab, upstream.ahead);
  std::from_chars(out.data() + tab + 1, out.data() + out.size(), upstream.behind);
  facts->upstream = upstream;
}

void RepoWatch::ReadCommits(RepoFacts* facts) {
  Answer log = Ask({"log", kRecentCommits, "--no-show-signature", "--encoding=UTF-8", "-z",
                    "--format=tformat:%s", "HEAD", "--"});
  if (!log.problem.empty()) facts->problem = std::move(log.problem);
  if (!log.out) return;
  for (std::string_view rest = *log.out; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    facts->commits.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

RepoFacts RepoWatch::Get(const RepoQuery& query) {
  const std::lock_guard lock(mutex_);
  if (!git_) return {.problem = NoWorkTree(root_)};
  hung_.clear();
  // The key is taken first: what moves while git runs is asked again the next time.
  const std::string key = StateKey();
  if (!known_ || key != key_) {
    RepoFacts facts;
    ReadBranch(&facts);
    ReadHead(&facts);
    known_ = std::move(facts);
    key_ = known_->problem.empty() ? key : "";
  }
  RepoFacts facts = *known_;
  if (!hung_.empty()) return facts;
  if (query.dirty || query.changed) ReadStatus(query, &facts);
  // Without a commit there is nothing ahead, behind or in the log.
  if (facts.head == kUnknown) return facts;
  if (query.upstream) ReadUpstream(&facts);
  if (query.commits) ReadCommits(&facts);
  return facts;
}

}  // namespace dossier::sources
