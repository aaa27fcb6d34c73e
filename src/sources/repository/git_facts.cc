#include "sources/repository/git_facts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

namespace dossier::sources {
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

constexpr std::size_t kMaxOutput = 256 << 20;  // bytes of one answer of git's
constexpr std::string_view kCommits = "-1000";
constexpr std::string_view kCommitMark = "\x01\x02";  // no path of a sane repository starts so
constexpr const char* kSettings = "^core\\.(excludesfile|ignorecase)$";
constexpr Millis kTimeout(10'000);

Result<ProcessResult> Git(const GitFolders& folders, std::vector<std::string> arguments,
                          const CancelToken& cancel) {
  arguments.insert(arguments.begin(), "--literal-pathspecs");
  return CallGit({.folder = folders.root,
                  .work_tree = folders.root,  // before core.worktree of the repository
                  .arguments = std::move(arguments),
                  .max_output = kMaxOutput,
                  .timeout = kTimeout},
                 cancel);
}

// "MODE NAME STAGE\tPATH" of `ls-files -s`.
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
    if (entry.starts_with('\n')) entry.remove_prefix(1);  // git's own, behind the mark
    if (entry.empty()) return;
    facts->last_commit.emplace(entry, static_cast<std::uint32_t>(facts->commits.size() - 1));
    facts->commits.back().emplace_back(entry);
  });
}

// "NAME\nVALUE" of each setting, or "NAME" alone, the last one counts. Git reads the values itself,
// but only where there are any: mostly one process less.
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

// Git's first line of complaint, or why it could not be started.
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
  // Written whole beside it and linked into place: of two processes the first one's draw stays.
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
    tasks.Run([&] {
      log = Git(folders,
                {"log", std::string(kCommits), "-z", "--name-only", "--no-renames", "--no-ext-diff",
                 "--no-textconv", "--no-relative", "--no-show-signature",
                 fmt::format("--format=tformat:{}", kCommitMark), "HEAD", "--"},
                cancel);
    });
    index = Git(folders, {"ls-files", "-s", "-z"}, cancel);
    // One that hangs will do so again: the next are not tried.
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
