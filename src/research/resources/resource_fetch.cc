#include "research/resources/resource_fetch.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/git_call.h"
#include "base/process/process.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/text.h"

namespace dossier::research {
namespace {

constexpr Millis kTimeout{1'800'000};  // of one git call
constexpr std::size_t kCommitLength = 40;

bool IsCommit(std::string_view ref) {
  return ref.size() == kCommitLength &&
         std::all_of(ref.begin(), ref.end(), [](char c) { return IsHexDigit(c); });
}

// What git said went wrong, in one line.
std::string Complaint(const ProcessResult& result) {
  std::string_view last;
  for (const std::string_view line : Split(result.err, '\n')) {
    if (line.starts_with("fatal:") || line.starts_with("error:")) return std::string(line);
    if (!TrimSpace(line).empty()) last = line;
  }
  return last.empty() ? fmt::format("git ended with {}", result.exit_code) : std::string(last);
}

class Repository {
 public:
  Repository(const std::string& folder, const CancelToken& cancel)
      : folder_(std::filesystem::absolute(folder).string()), cancel_(cancel) {}

  // A commit is fetched by name; a branch or tag without what was before it.
  Status Clone(const ResourceOrigin& origin) {
    const std::string address = RepositoryAddress(origin.repo);
    if (IsCommit(origin.ref)) {
      DOSSIER_RETURN_IF_ERROR(Git({"clone", "-q", "--no-checkout", "--", address, folder_}));
      // Most servers have sent it with the branches; others are asked for it.
      static_cast<void>(Git({"-C", folder_, "fetch", "-q", "origin", origin.ref}));
      return Git({"-C", folder_, "checkout", "-q", "--detach", origin.ref});
    }
    std::vector<std::string> arguments = {"clone", "-q", "--depth", "1"};
    if (!origin.ref.empty()) arguments.insert(arguments.end(), {"--branch", origin.ref});
    arguments.insert(arguments.end(), {"--", address, folder_});
    return Git(arguments);
  }

  Result<std::string> Head() {
    DOSSIER_RETURN_IF_ERROR(Git({"-C", folder_, "rev-parse", "HEAD"}));
    return std::string(TrimSpace(out_));
  }

 private:
  Status Git(const std::vector<std::string>& arguments) {
    GitCall call{.arguments = arguments,
                 .environment = {"GIT_CONFIG_NOSYSTEM=1"},
                 .timeout = kTimeout,
                 .starts = GitCall::Starts::kTransport};
    DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, CallGit(call, cancel_));
    if (result.timed_out) {
      return MakeError(ErrorCode::kTimeout, "git took longer than {} s", kTimeout.count() / 1000);
    }
    if (result.exit_code != 0) return MakeError(ErrorCode::kFailed, "{}", Complaint(result));
    out_ = std::move(result.out);
    return {};
  }

  const std::string folder_;
  const CancelToken& cancel_;
  std::string out_;
};

}  // namespace

std::string RepositoryAddress(const std::string& repo) {
  if (repo.starts_with('/')) return "file://" + repo;
  const bool has_scheme = repo.find("://") != std::string::npos || repo.find('@') != repo.npos;
  return has_scheme ? repo : fmt::format("https://github.com/{}.git", repo);
}

Fetched FetchRepository(const ResourceOrigin& origin, const std::string& folder,
                        const CancelToken& cancel) {
  Fetched fetched;
  const auto fail = [&](const Error& error) {
    fetched.status = FetchStatus::kFailed;
    fetched.reason = Redact(error.message);
    return fetched;
  };
  if (!Exists(folder)) {
    // Under another name until it is whole.
    const std::string part = folder + ".part";
    if (const Status removed = RemoveAll(part); !removed) return fail(removed.error());
    const auto parent = std::filesystem::path(folder).parent_path().string();
    if (const Status made = MakeFolders(parent); !made) return fail(made.error());
    if (const Status cloned = Repository(part, cancel).Clone(origin); !cloned) {
      static_cast<void>(RemoveAll(part));
      return fail(cloned.error());
    }
    std::error_code error;
    std::filesystem::rename(part, folder, error);
    if (error) return fail({ErrorCode::kIo, fmt::format("{}: {}", folder, error.message())});
  }
  const auto head = Repository(folder, cancel).Head();
  if (!head) return fail(head.error());
  fetched.status = FetchStatus::kAvailable;
  fetched.head = *head;
  return fetched;
}

}  // namespace dossier::research
