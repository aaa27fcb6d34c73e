#include "agents/git/git.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr int kMinMajor = 2, kMinMinor = 38;

// Overrides user settings that make git refuse files that must be taken unchanged.
constexpr const char* kSettings[] = {"core.safecrlf=false", "add.ignoreErrors=false",
                                     "user.useConfigOnly=true"};

// Our index must be one complete file that records each change: users' performance settings hide
// some, or keep a part of the index elsewhere.
constexpr const char* kIndexSettings[] = {
    "core.splitIndex=false",     "core.untrackedCache=false", "index.sparse=false",
    "core.sparseCheckout=false", "core.trustctime=true",      "core.checkStat=default",
};

// Parses "git version 2.39.5 (Debian)" as {2, 39}; zeros for anything else.
std::array<int, 2> VersionOf(std::string_view line) {
  constexpr std::string_view kHead = "git version ";
  std::array<int, 2> version{};
  if (!line.starts_with(kHead)) return version;
  line.remove_prefix(kHead.size());
  const auto major = std::from_chars(line.data(), line.data() + line.size(), version[0]);
  if (major.ptr < line.data() + line.size() && *major.ptr == '.') {
    std::from_chars(major.ptr + 1, line.data() + line.size(), version[1]);
  }
  return version;
}

}  // namespace

Git::Git(GitFolders folders, GitOptions options)
    : folders_(std::move(folders)), options_(std::move(options)) {}

Result<Git> Git::Open(GitFolders folders, GitOptions options, const CancelToken& cancel) {
  if (!FindProgram(options.program)) {
    return MakeError(ErrorCode::kFailed, "{} is not on PATH: install git 2.38 or newer",
                     options.program);
  }
  Git git(std::move(folders), std::move(options));
  DOSSIER_ASSIGN_OR_RETURN(const std::string line,
                           git.AskLine(git.Objects(), {"--version"}, cancel));
  if (VersionOf(line) < std::array<int, 2>{kMinMajor, kMinMinor}) {
    return MakeError(ErrorCode::kFailed, "{} is too old: install git {}.{} or newer", line,
                     kMinMajor, kMinMinor);
  }
  DOSSIER_RETURN_IF_ERROR(git.AskLine(git.Objects(), {"rev-parse", "--git-dir"}, cancel));
  return git;
}

Git Git::With(std::string variable) const {
  Git more = *this;
  more.environment_.push_back(std::move(variable));
  return more;
}

GitPlace Git::Objects() const {
  return {.git_dir = folders_.common, .index = folders_.common + "/no-index"};
}

GitCall Git::CallOf(const GitPlace& place, const GitCommand& command) const {
  GitCall call{.program = options_.program,
               .folder = place.work_tree.empty() ? "/" : place.work_tree,
               .git_dir = place.git_dir,
               .work_tree = place.work_tree,
               .index = place.index,
               .environment = environment_,
               .input = command.input,
               .max_output = command.max_output,
               .timeout = options_.timeout,
               .starts = command.starts};
  for (const char* setting : kSettings)
    call.arguments.insert(call.arguments.end(), {"-c", setting});
  if (!place.index.empty()) {
    for (const char* setting : kIndexSettings) {
      call.arguments.insert(call.arguments.end(), {"-c", setting});
    }
  }
  call.arguments.insert(call.arguments.end(), command.arguments.begin(), command.arguments.end());
  call.environment.insert(call.environment.end(), command.environment.begin(),
                          command.environment.end());
  return call;
}

Result<ProcessSpec> Git::Plan(const GitPlace& place, const GitCommand& call) const {
  return PlanGitCall(CallOf(place, call));
}

Result<std::vector<std::string>> Git::Filters(const GitPlace& place) const {
  return GitFilters(CallOf(place, {}));
}

Result<ProcessResult> Git::Run(const GitPlace& place, const GitCommand& call,
                               const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, CallGit(CallOf(place, call), cancel));
  if (result.timed_out) {
    return MakeError(ErrorCode::kTimeout, "git {} took longer than {} s",
                     call.arguments.empty() ? "" : call.arguments.front(),
                     options_.timeout.count() / 1000);
  }
  return result;
}

Result<std::string> Git::Ask(const GitPlace& place, const GitCommand& call,
                             const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, Run(place, call, cancel));
  const std::string name = call.arguments.empty() ? "" : call.arguments.front();
  if (result.exit_code != 0) {
    return MakeError(ErrorCode::kFailed, "git {}: {}", name, GitComplaint(result));
  }
  if (result.out_dropped > 0) {
    return MakeError(ErrorCode::kLimit, "git {} printed more than {}", name,
                     FormatSize(call.max_output));
  }
  return std::move(result.out);
}

Result<std::string> Git::AskLine(const GitPlace& place, std::vector<std::string> arguments,
                                 const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(std::string out,
                           Ask(place, {.arguments = std::move(arguments)}, cancel));
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

std::string GitComplaint(const ProcessResult& result) {
  std::string_view first;
  for (const std::string_view line : Split(result.err, '\n')) {
    for (const std::string_view head : {"fatal: ", "error: "}) {
      if (line.starts_with(head)) return std::string(TrimSpace(line.substr(head.size())));
    }
    if (first.empty()) first = TrimSpace(line);
  }
  if (!first.empty()) return std::string(first);
  return result.signal != 0 ? fmt::format("it was ended by signal {}", result.signal)
                            : fmt::format("exit {}", result.exit_code);
}

}  // namespace dossier::agents
