#include "research/run/own_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "config/config.h"
#include "research/files/run_folder.h"
#include "research/run/idea.h"
#include "research/run/run_record.h"
#include "research/setup/exec_backends.h"
#include "sources/commands/context_command.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kApprovedFiles[] = {run_files::kConfig, run_files::kResourceFile,
                                               run_files::kRun};

std::string In(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

// Returns true if only jails see what is below `path`, which is relative to the run folder.
bool IsLeftToCommands(const fs::path& path) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  if (parts.size() == 3 && parts[0] == "nodes") return parts[2] == "workspace";
  if (parts.size() == 5 && parts[0] == "nodes") return parts[2] == "system";  // upper/usr
  return parts.size() == 3 && (parts[0] / parts[1]).string() == run_files::kSystem;
}

bool IsHeld(const fs::path& within) {
  const std::string top = within.begin()->string();
  return top == run_files::kData || top == run_files::kResources;
}

// Returns true if the path to `within`, relative to `root`, contains a link, or something that a
// command may replace by a link during the run.
bool PassesLinkOrCommands(const fs::path& root, const fs::path& within) {
  std::error_code error;
  fs::path part;
  for (const fs::path& name : within) {
    if (!part.empty() && fs::is_symlink(root / part, error)) return true;
    part /= name;
    if (IsLeftToCommands(part)) return true;
  }
  return false;
}

// "a/.." is not the parent folder of a if a is a link.
bool TurnsBack(const fs::path& target) {
  bool named = false;
  for (const fs::path& name : target) {
    if (name == ".." && named) return true;
    named |= name != ".." && name != ".";
  }
  return false;
}

// Returns the place of an absolute `target` below `root`, which may be reached by links from
// outside; else empty.
fs::path BelowRoot(const fs::path& target, const fs::path& root) {
  std::error_code error;
  fs::path part;
  for (const fs::path& name : target) {
    part /= name;
    if (fs::equivalent(part, root, error)) return root / target.lexically_relative(part);
  }
  return {};
}

// A link to a missing target is as bad as one that leads out: writing through it creates the
// target. Files that came from elsewhere may link to each other, since nothing is written there.
bool LeadsOut(const fs::path& link, const fs::path& root) {
  constexpr int kMaxHops = 40;  // the kernel's limit
  std::error_code error;
  const fs::path from = link.lexically_relative(root);
  if (IsHeld(from)) {
    const fs::path to = fs::canonical(link, error).lexically_relative(root);
    return error || to.empty() || *to.begin() != *from.begin();
  }
  fs::path at = link;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const fs::path target = fs::read_symlink(at, error);
    if (error || TurnsBack(target)) return true;
    at = target.is_absolute() ? BelowRoot(target, root)
                              : (at.parent_path() / target).lexically_normal();
    const fs::path within = at.lexically_relative(root);
    if (within.empty() || *within.begin() == ".." || IsHeld(within)) return true;
    if (PassesLinkOrCommands(root, within) || !fs::exists(fs::symlink_status(at, error)))
      return true;
    if (!fs::is_symlink(at, error)) return false;
  }
  return true;
}

}  // namespace

Result<OwnRun> OwnRun::Of(const std::string& folder, Trust trust) {
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(config::ProcessVariables()));
  std::error_code error;
  const std::string real = fs::canonical(folder, error).string();
  if (error) return MakeErrnoError(error.value(), folder);
  return OwnRun(real, config::TrustStore(user.state, SystemClock()), trust);
}

Result<bool> OwnRun::IsApproved(const std::string& path) const {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMaxIdeaBytes));
  DOSSIER_ASSIGN_OR_RETURN(const auto known, store_.Find(path));
  return known && known->sha256 == Sha256Hex(text);
}

Status OwnRun::Check() const {
  DOSSIER_RETURN_IF_ERROR(CheckRunFolder(folder_));
  if (trust_ == Trust::kGiven) return {};
  std::vector<std::string> paths;
  for (const std::string_view name : kApprovedFiles) {
    const std::string path = In(folder_, name);
    if (name == run_files::kResourceFile && !Exists(path)) continue;
    DOSSIER_ASSIGN_OR_RETURN(const bool approved, IsApproved(path));
    if (!approved) paths.push_back(path);
  }
  if (paths.empty()) return {};
  std::vector<std::string> commands;
  for (const std::string& path : paths) commands.push_back("dossier trust " + ShellQuote(path));
  return MakeError(ErrorCode::kRefused,
                   "{} {} not as your own run left {}: {} which commands run and what they may "
                   "read and write. Look at {}, then run: {}",
                   Join(paths, ", "), paths.size() == 1 ? "is" : "are",
                   paths.size() == 1 ? "it" : "them", paths.size() == 1 ? "it says" : "they say",
                   paths.size() == 1 ? "it" : "them", Join(commands, " && "));
}

std::function<Status(std::string_view, std::string_view)> OwnRun::Approver() const {
  if (trust_ == Trust::kGiven) return {};
  return [folder = folder_, store = store_](std::string_view name, std::string_view text) mutable {
    return store.Approve(In(folder, name), text);
  };
}

Status CheckRunFolder(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return MakeErrnoError(error.value(), folder);
  // Folders that this user may not enter are neither read nor written.
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(root, kOptions, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_symlink(error)) {
      if (!LeadsOut(at->path(), root)) continue;
      return MakeError(ErrorCode::kRefused,
                       "{} is a link that leads out of the run's folder, into a workspace or to "
                       "nothing",
                       at->path().string());
    }
    if (!at->is_regular_file(error) && !at->is_directory(error)) {
      return MakeError(ErrorCode::kRefused, "{} is neither a file nor a folder",
                       at->path().string());
    }
    if (IsLeftToCommands(at->path().lexically_relative(root))) at.disable_recursion_pending();
  }
  // A run active at the same time may remove files.
  const bool failed = error && error != std::errc::no_such_file_or_directory;
  if (failed) return MakeErrnoError(error.value(), folder);
  return {};
}

Status UseOwnMachine(const UserFolders& user, RunOrder* order) {
  order->clock = SystemClock();
  order->environment = sources::CurrentEnvironment();
  DOSSIER_ASSIGN_OR_RETURN(order->backend, MakeBackends({.config = &order->config.exec,
                                                         .folder = order->folder,
                                                         .degraded = order->config.exec.degraded,
                                                         .host_environment = order->environment}));
  order->probe_cache = user.cache + "/probes";
  order->user_data = user.data;
  order->journal_folder = user.data + "/runs";
  return {};
}

Result<RunOrder> StoredOrder(const std::string& folder, RunConfig config) {
  DOSSIER_ASSIGN_OR_RETURN(const RunRecord record, ReadRunRecord(folder));
  RunOrder order{.folder = folder,
                 .config = std::move(config),
                 .mode = RunOrder::Mode::kResume,
                 .stages = record.stages,
                 .skip = record.skip,
                 .connection = record.connection,
                 .memory_store = record.memory_store};
  const auto read = [&](std::string_view name) {
    return ReadRegularFile(In(folder, name), kMaxIdeaBytes);
  };
  DOSSIER_ASSIGN_OR_RETURN(order.idea, read(run_files::kIdea));
  order.resources = read(run_files::kResourceFile).value_or("");
  order.resources_path = order.config.exec.resources;
  return order;
}

}  // namespace dossier::research
