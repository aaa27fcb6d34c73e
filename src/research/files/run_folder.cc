#include "research/files/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "memory/records/connection.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNameLength = 60;
constexpr std::string_view kAttempt = "_attempt_";
constexpr std::size_t kTimeLength = sizeof("YYYY-MM-DD_HH-MM-SS") - 1;

bool IsNameChar(char c) { return IsAlnum(c) || c == '-'; }

std::string BaseName(const std::string& path) { return fs::path(path).filename().string(); }

// Matches "2026-01-28_17-46-11": a digit at each place.
bool IsTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00_00-00-00";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char form) {
           return form == '0' ? c >= '0' && c <= '9' : c == form;
         });
}

bool IsRunFolder(const std::string& folder) {
  return Exists(folder + "/" + std::string(run_files::kRun)) || Exists(folder + "/journal.sqlite");
}

std::string IdOf(const std::string& folder) {
  const auto text = ReadRegularFile(folder + "/" + std::string(run_files::kRun), 1 << 20);
  const auto json = text ? ParseJson(*text) : Result<Json>(Json());
  return json ? TextAt(*json, "run") : "";
}

std::optional<RunLock::Holder> ReadHolder(const std::string& path) {
  const auto text = ReadRegularFile(path, 4096);
  const auto json = text ? ParseJson(*text) : Result<Json>(Json());
  if (!json || !json->is_object()) return std::nullopt;
  return RunLock::Holder{.pid = FindInt(*json, "pid").value_or(0),
                         .host = TextAt(*json, "host"),
                         .since = TextAt(*json, "since")};
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  std::string text = error ? path : whole.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

namespace run_files {

std::string Worker(std::string_view worker) { return fmt::format("workers/{}", worker); }
std::string Plans(std::string_view worker) { return Worker(worker) + "/plans"; }
std::string Node(std::string_view node) { return fmt::format("nodes/{}", node); }
std::string NodeJson(std::string_view node) { return Node(node) + "/node.json"; }
std::string Workspace(std::string_view node) { return Node(node) + "/workspace"; }
std::string Plots(std::string_view node) { return Node(node) + "/plots"; }
std::string StageBest(std::string_view stage) { return fmt::format("stage_best/{}", stage); }
std::string StageLogs(std::string_view stage) { return fmt::format("logs/stage_{}", stage); }
std::string PhaseLogs(std::string_view node) {
  return fmt::format("logs/phase_logs/node_{}", node);
}
std::string PromptLogs(std::string_view node) {
  return node.empty() ? std::string(kPromptLogs) : PhaseLogs(node) + "/prompt_logs";
}

}  // namespace run_files

Status WriteRunFile(const std::string& path, std::string_view content) {
  return ReplaceFile(path, {content}, {.durability = Durability::kSurvivesCrash});
}

std::string RunNameOf(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (IsNameChar(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  name.resize(std::min(name.size(), kMaxNameLength));
  while (name.ends_with('_')) name.pop_back();
  return name.empty() ? "run" : name;
}

std::string RunFolderName(std::string_view name, std::int64_t attempt, Clock::Wall time) {
  std::string stamp = FormatTime(time).substr(0, kTimeLength);
  stamp = ReplaceAll(ReplaceAll(stamp, ":", "-"), "T", "_");
  return fmt::format("{}_{}{}{}", stamp, RunNameOf(name), kAttempt, attempt);
}

Result<std::string> MakeRunFolder(const RunFolderOrder& order) {
  const std::string out = AbsolutePath(order.out);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(out));
  std::set<std::string> seconds_taken;  // so that the latest run by name is the one begun last
  for (const std::string& run : ListRuns(out)) {
    seconds_taken.insert(BaseName(run).substr(0, kTimeLength));
  }
  constexpr int kTries = 1000;
  for (int seconds = 0; seconds < kTries; ++seconds) {
    const std::string name =
        RunFolderName(order.name, order.attempt, order.time + std::chrono::seconds(seconds));
    if (seconds_taken.contains(name.substr(0, kTimeLength))) continue;
    const std::string folder = out + "/" + name;
    if (mkdir(folder.c_str(), 0755) == 0) return folder;
    if (errno != EEXIST) return MakeErrnoError(errno, folder);
  }
  return MakeError(ErrorCode::kIo, "{}: no free name for a run of {}", out, order.name);
}

std::optional<RunFolderParts> ParseRunFolderName(std::string_view folder_name) {
  const auto at = folder_name.rfind(kAttempt);
  if (at == folder_name.npos || at <= kTimeLength + 1 ||
      !IsTime(folder_name.substr(0, kTimeLength)) || folder_name[kTimeLength] != '_') {
    return std::nullopt;
  }
  RunFolderParts parts;
  const std::string_view number = folder_name.substr(at + kAttempt.size());
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), parts.attempt);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  parts.name = std::string(folder_name.substr(kTimeLength + 1, at - kTimeLength - 1));
  return parts;
}

std::vector<std::string> ListRuns(const std::string& out) {
  std::vector<std::string> runs;
  std::error_code error;
  const std::string folder = AbsolutePath(out);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsRunFolder(entry->path().string())) runs.push_back(entry->path().string());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::string PreviousAttempt(const std::string& folder) {
  const std::string own = AbsolutePath(folder);
  const auto self = ParseRunFolderName(BaseName(own));
  if (!self) return "";
  std::string best;
  std::int64_t best_attempt = -1;
  for (const std::string& run : ListRuns(fs::path(own).parent_path().string())) {
    const auto parts = ParseRunFolderName(BaseName(run));
    if (!parts || parts->name != self->name || parts->attempt >= self->attempt) continue;
    if (parts->attempt >= best_attempt) {
      best = run;
      best_attempt = parts->attempt;
    }
  }
  return best;
}

Result<std::string> FindRun(const std::string& out, std::string_view word) {
  if (!word.empty() && IsRunFolder(std::string(word))) return AbsolutePath(std::string(word));
  const std::vector<std::string> runs = ListRuns(out);
  std::error_code error;
  const bool is_folder = !word.empty() && std::filesystem::is_directory(word, error);
  if (runs.empty() && !is_folder) {
    return MakeError(ErrorCode::kNotFound,
                     "{}: no run{} there; `dossier research run IDEA` starts one, --runs-dir names "
                     "another folder",
                     out, word.empty() ? "" : fmt::format(" \"{}\"", word));
  }
  if (word.empty()) return runs.back();
  std::vector<std::string> found;
  for (const std::string& run : runs) {
    if (BaseName(run).starts_with(word) || IdOf(run).starts_with(word)) found.push_back(run);
  }
  if (found.size() == 1) return found.front();
  if (found.empty() && is_folder) {
    return MakeError(ErrorCode::kNotFound,
                     "{}: no run is in this folder, which has no {}; `dossier research run IDEA` "
                     "starts one",
                     word, run_files::kRun);
  }
  std::vector<std::string> names;
  for (const std::string& run : found.empty() ? runs : found) names.push_back(BaseName(run));
  return MakeError(ErrorCode::kNotFound, "{}: {} run begins with \"{}\"; there {}: {}", out,
                   found.empty() ? "no" : "more than one", word, names.size() == 1 ? "is" : "are",
                   Join(names, ", "));
}

Result<RunLock> RunLock::Take(const std::string& folder, const Clock& clock) {
  const std::string path = folder + "/" + std::string(run_files::kLock);
  // Waits a little, because a run that is just ending releases its lock soon.
  auto lock = FileLock::Take(path, Millis(500), CancelToken());
  if (!lock && lock.error().code == ErrorCode::kLocked) {
    const Holder holder = ReadHolder(path).value_or(Holder{});
    return MakeError(ErrorCode::kLocked,
                     "{}: process {} on {} has worked on this run since {}; `dossier research "
                     "status` shows what it does",
                     folder, holder.pid, holder.host.empty() ? "this machine" : holder.host,
                     holder.since.empty() ? "a while" : holder.since);
  }
  if (!lock) return tl::unexpected(std::move(lock).error());
  // Written in place: a new file of this name would not be the locked one.
  const std::string text = ToJson(JsonObject{
      {"pid", getpid()}, {"host", memory::HostName()}, {"since", FormatTime(clock.WallNow())}});
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return MakeErrnoError(errno, path);
  static_cast<void>(fchmod(file.get(), 0644));  // whoever may look at the run sees who works on it
  DOSSIER_RETURN_IF_ERROR(WriteAll(file.get(), text + "\n"));
  return RunLock(std::move(*lock));
}

std::optional<RunLock::Holder> RunLock::HolderOf(const std::string& folder) {
  const std::string path = folder + "/" + std::string(run_files::kLock);
  if (!FileLock::IsHeld(path)) return std::nullopt;
  return ReadHolder(path).value_or(Holder{});
}

namespace fs = std::filesystem;

bool IsInside(const fs::path& root, const fs::path& path) {
  const fs::path inside = path.lexically_relative(root);
  return !inside.empty() && *inside.begin() != "..";
}

std::optional<fs::path> PlaceInside(const fs::path& root, const fs::path& relative) {
  const fs::path plain = relative.lexically_normal();
  if (plain.empty() || plain == ".") return root;
  std::error_code error;
  fs::path place = fs::weakly_canonical(root / plain, error);
  if (error || !IsInside(root, place)) return std::nullopt;
  return place;
}

}  // namespace dossier::research
