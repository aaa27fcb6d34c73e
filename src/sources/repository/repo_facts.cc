#include "sources/repository/repo_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/process/git_call.h"
#include "base/process/process.h"
#include "base/random.h"
#include "base/task_group.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

using std::chrono::duration_cast;

constexpr std::string_view kUnknown = "HEAD";
constexpr std::string_view kRefMark = "ref: ";
constexpr std::string_view kHeads = "refs/heads/";
constexpr std::string_view kReftableBranch = "refs/heads/.invalid";  // in HEAD with reftable
constexpr std::uint64_t kMaxRefBytes = 64 << 10;
constexpr int kMaxLinks = 5;  // chain of symbolic references; git's own limit
constexpr const char* kRecentCommits = "-5";

// Returns a value that changes when the file changes.
std::string StampOf(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return "-";
  return fmt::format("{} {} {}.{} {}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

// A reftable folder changes through its list of tables.
std::string StampOfReftable(const std::string& folder) {
  return StampOf(folder) + StampOf(folder + "/tables.list");
}

// Returns "refs/heads/main" for "ref: refs/heads/main\n"; empty if it is no symbolic reference.
std::string TargetOf(const std::string& content) {
  if (!content.starts_with(kRefMark)) return {};
  return std::string(TrimSpace(std::string_view(content).substr(kRefMark.size())));
}

// Returns true for a reference that may be looked up as a file below the git folder.
bool IsPlainRef(std::string_view name) {
  return name.starts_with("refs/") && name.find("..") == std::string_view::npos;
}

// Returns the root of the repository, or of a folder above with a `.git` of any kind.
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

// Git's output, or a sentence why there is none, and whether git itself reported that.
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
                       .work_tree = root_,  // overrides the repository's core.worktree
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
  // A branch without a commit is a normal state, not a fault.
  const bool unborn = head.problem.find("Needed a single revision") != std::string::npos ||
                      head.problem.find("unknown revision") != std::string::npos ||
                      head.problem.find("ambiguous argument 'HEAD'") != std::string::npos;
  if (!unborn) facts->problem = head.problem;
}

void RepoWatch::ReadStatus(const RepoQuery& query, RepoFacts* facts) {
  // One new folder makes it dirty; git lists its files only if they are requested.
  Answer status = Ask({"status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all",
                       query.changed ? "--untracked-files=all" : "--untracked-files=normal"});
  if (!status.problem.empty()) facts->problem = std::move(status.problem);
  if (!status.out) return;
  facts->dirty = !status.out->empty();
  // After the last NUL there is nothing, or a path that was cut off.
  status.out->erase(status.out->rfind('\0') + 1);
  constexpr std::size_t kCodeBytes = 3;  // "XY "
  for (const std::string_view entry : Split(*status.out, '\0')) {
    if (entry.size() > kCodeBytes) facts->changed.emplace_back(entry.substr(kCodeBytes));
  }
}

void RepoWatch::ReadUpstream(RepoFacts* facts) {
  const Answer counts = Ask({"rev-list", "--left-right", "--count", "HEAD...@{upstream}"});
  // Having no upstream is a normal state, not a fault.
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
  // Reads the key first: what changes while git runs is read again next time.
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
  // Without a commit nothing can be ahead, behind or in the log.
  if (facts.head == kUnknown) return facts;
  if (query.upstream) ReadUpstream(&facts);
  if (query.commits) ReadCommits(&facts);
  return facts;
}

namespace {

constexpr std::size_t kBoundaryDigits = 32;

std::string ReadBoundary(const std::string& path) {
  auto text = ReadFile(path, 4096);
  if (!text || text->size() != kBoundaryDigits + 1) return "";
  text->pop_back();
  const bool hex = std::all_of(text->begin(), text->end(),
                               [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
  return hex ? *text : "";
}

constexpr std::size_t kMaxOutput = 256 << 20;  // bytes of one answer from git
constexpr std::string_view kCommits = "-1000";
constexpr std::string_view kCommitMark = "\x01\x02";  // no sensible path starts with it
constexpr const char* kSettings = "^core\\.(excludesfile|ignorecase)$";
constexpr Millis kTimeout(10'000);

Result<ProcessResult> Git(const GitFolders& folders, std::vector<std::string> arguments,
                          const CancelToken& cancel) {
  arguments.insert(arguments.begin(), "--literal-pathspecs");
  return CallGit({.folder = folders.root,
                  .work_tree = folders.root,  // overrides the repository's core.worktree
                  .arguments = std::move(arguments),
                  .max_output = kMaxOutput,
                  .timeout = kTimeout},
                 cancel);
}

// Reads "MODE NAME STAGE\tPATH" from `ls-files -s`.
void ReadIndex(std::string_view out, GitFacts* facts) {
  ForEachAtNul(out, [&](std::string_view entry) {
    const std::size_t tab = entry.find('\t');
    if (tab == std::string_view::npos || !entry.starts_with("100")) return;  // a link, a submodule
    const std::size_t name = entry.find(' ') + 1;
    const std::size_t end = entry.find(' ', name);
    if (name == 0 || end == std::string_view::npos || end > tab) return;
    if (end - name == 64) facts->hash = GitHash::kSha256;
    facts->index.emplace(entry.substr(tab + 1), entry.substr(name, end - name));
  });
}

void ReadLog(std::string_view out, GitFacts* facts) {
  ForEachAtNul(out, [&](std::string_view entry) {
    if (entry == kCommitMark) {
      facts->commits.emplace_back();
      return;
    }
    if (facts->commits.empty()) return;
    if (entry.starts_with('\n')) entry.remove_prefix(1);  // added by git after the mark
    if (entry.empty()) return;
    facts->last_commit.emplace(entry, static_cast<std::uint32_t>(facts->commits.size() - 1));
    facts->commits.back().emplace_back(entry);
  });
}

// Reads "NAME\nVALUE" for each setting, or "NAME" alone; the last one counts. Git parses
// the values itself, but only if there are any: this usually saves a process.
void ReadSettings(const GitFolders& folders, std::string_view out, const CancelToken& cancel,
                  GitFacts* facts) {
  const auto value = [&](const char* type, const char* name) -> std::optional<std::string> {
    bool there = false;
    ForEachAtNul(out, [&](std::string_view entry) {
      there = there || entry.substr(0, entry.find('\n')) == name;
    });
    if (!there) return std::nullopt;
    const auto asked = Git(folders, {"config", "--null", type, "--get", name}, cancel);
    if (!asked || asked->exit_code != 0) return std::nullopt;
    return asked->out.substr(0, asked->out.find('\0'));
  };
  facts->global_ignore_file = value("--type=path", "core.excludesfile");
  if (value("--type=bool", "core.ignorecase") == "true")
    facts->letters = CaseSensitivity::kInsensitive;
}

// Returns the first line of git's error message, or why it could not be started.
std::string Complaint(const Result<ProcessResult>& done) {
  if (!done) return done.error().message;
  if (done->timed_out) return "it did not end in time";
  const std::string_view line = TrimSpace(Split(done->err, '\n').front());
  return line.empty() ? fmt::format("exit {}", done->exit_code) : std::string(line);
}

}  // namespace

Result<std::string> ProjectStateFolder(const std::string& path) {
  if (const auto git = FindGitFolders(path)) return git->common + "/dossier";
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  if (error) return MakeErrnoError(error.value(), path);
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  return fmt::format("{}/projects/{}", data, Sha256Hex(real).substr(0, 32));
}

Result<std::string> ProjectBoundary(const std::string& state_folder) {
  const std::string path = state_folder + "/boundary";
  if (std::string kept = ReadBoundary(path); !kept.empty()) return kept;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(state_folder, 0700));
  // The file is written beside it and linked into place: of two processes the first one wins.
  const std::string fresh = fmt::format("{}.{}", path, RandomHex(16));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(fresh, RandomHex(kBoundaryDigits) + "\n", 0600));
  const bool damaged = Exists(path) && ReadBoundary(path).empty();
  const int failed =
      damaged ? rename(fresh.c_str(), path.c_str()) : link(fresh.c_str(), path.c_str());
  const int failure = failed == 0 ? 0 : errno;
  unlink(fresh.c_str());
  if (failure != 0 && failure != EEXIST) return MakeErrnoError(failure, path);
  std::string kept = ReadBoundary(path);
  if (kept.empty()) return MakeError(ErrorCode::kIo, "{}: cannot be kept", path);
  return kept;
}

GitFacts ReadGitFacts(const GitFolders& folders, const CancelToken& cancel) {
  GitFacts facts;
  if (!FindProgram("git")) {
    facts.problem = "git is not installed: files are ordered by path";
    return facts;
  }
  const ProcessResult not_asked{.exit_code = -1};
  Result<ProcessResult> log = not_asked, index = not_asked, staged = not_asked,
                        settings = not_asked;
  {
    TaskGroup tasks;
    tasks.RunOrDo([&] {
      log = Git(folders,
                {"log", std::string(kCommits), "-z", "--name-only", "--no-renames", "--no-ext-diff",
                 "--no-textconv", "--no-relative", "--no-show-signature",
                 fmt::format("--format=tformat:{}", kCommitMark), "HEAD", "--"},
                cancel);
    });
    index = Git(folders, {"ls-files", "-s", "-z"}, cancel);
    // If one call hangs, the next will, too, so they are not tried.
    if (index && !index->timed_out) {
      staged = Git(folders,
                   {"diff-index", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff",
                    "--no-textconv", "--no-relative", "HEAD", "--"},
                   cancel);
    }
    if (staged && !staged->timed_out) {
      settings = Git(folders, {"config", "--null", "--get-regexp", kSettings}, cancel);
    }
  }
  if (!index || index->exit_code != 0) {
    facts.problem =
        fmt::format("git could not be asked ({}): files are ordered by path", Complaint(index));
    return facts;
  }
  ReadIndex(index->out, &facts);
  if (log && log->exit_code == 0) ReadLog(log->out, &facts);
  if (staged && staged->exit_code == 0) {
    ForEachAtNul(staged->out, [&](std::string_view path) { facts.staged.emplace(path); });
  } else {  // there is no commit yet
    for (const auto& [path, name] : facts.index) facts.staged.insert(path);
  }
  if (settings && settings->exit_code == 0) ReadSettings(folders, settings->out, cancel, &facts);
  return facts;
}

bool IsUnchanged(const GitFacts& facts, const std::string& path, std::string_view content) {
  const auto entry = facts.index.find(path);
  return entry != facts.index.end() && !facts.staged.contains(path) &&
         entry->second == GitBlobName(content, facts.hash);
}

}  // namespace dossier::sources
