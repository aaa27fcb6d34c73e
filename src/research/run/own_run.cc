#include "research/run/own_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "config/folders.h"
#include "research/files/run_folder.h"
#include "research/run/idea.h"

namespace dossier::research {

Result<OwnRun> OwnRun::Of(const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(config::ProcessVariables()));
  std::error_code error;
  const std::string real = std::filesystem::canonical(folder, error).string();
  if (error) return MakeErrnoError(error.value(), folder);
  return OwnRun(real, config::TrustStore(user.state, SystemClock()));
}

std::string OwnRun::path() const { return fmt::format("{}/{}", folder_, run_files::kConfig); }

Result<std::string> OwnRun::ReadConfig() const { return ReadRegularFile(path(), kMaxIdeaBytes); }

Status OwnRun::Check(Trust trust) {
  trust_ = trust;
  DOSSIER_ASSIGN_OR_RETURN(before_, ReadConfig());
  DOSSIER_RETURN_IF_ERROR(CheckRunFolder(folder_));
  DOSSIER_ASSIGN_OR_RETURN(const auto known, store_.Find(path()));
  if (trust == Trust::kGiven || (known && known->sha256 == Sha256Hex(*before_))) return {};
  return MakeError(ErrorCode::kRefused,
                   "{} is not as your own run left it: it says which commands run and what they "
                   "may read. Look at it, then run: dossier trust {}",
                   path(), ShellQuote(path()));
}

Status OwnRun::Begin(std::string_view config) {
  return trust_ == Trust::kGiven ? Status() : store_.Approve(path(), config);
}

Status OwnRun::End() {
  if (trust_ == Trust::kGiven || !before_ || ReadConfig() != *before_) return {};
  return store_.Approve(path(), *before_);
}

Status CheckRunFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string real = fs::canonical(folder, error).string() + "/";
  // What this user may not enter, nothing is read from or written to.
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, kOptions, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_symlink(error) &&
        !fs::weakly_canonical(at->path(), error).string().starts_with(real)) {
      return MakeError(ErrorCode::kRefused, "{} is a link that leads out of the run's folder",
                       at->path().string());
    }
    if (!at->is_symlink(error) && !at->is_regular_file(error) && !at->is_directory(error)) {
      return MakeError(ErrorCode::kRefused, "{} is neither a file nor a folder",
                       at->path().string());
    }
    // What lies in a workspace and in the system of a jail is seen from inside of it only.
    const std::string name = at->path().filename().string();
    if (at.depth() > 0 && (name == "workspace" || name == "system")) at.disable_recursion_pending();
  }
  // A run that works meanwhile may take files away.
  const bool failed = error && error != std::errc::no_such_file_or_directory;
  if (failed) return MakeErrnoError(error.value(), folder);
  return {};
}

}  // namespace dossier::research
