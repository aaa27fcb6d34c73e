#include "sandbox/walls/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/text/text.h"

namespace dossier::sandbox {
namespace {

constexpr std::size_t kMostText = 1 << 16;

// The kernel creates the files of a group; a test's folder has none yet.
Status WriteSetting(const std::string& path, std::string_view value) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return MakeError(ErrorCode::kUnavailable, "{}", ErrnoError(errno, path).message);
  if (write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) return {};
  return MakeError(ErrorCode::kUnavailable, "{}", ErrnoError(errno, path).message);
}

bool HasWord(std::string_view text, std::string_view word) {
  for (const std::string_view line : Split(text, '\n')) {
    for (const std::string_view part : Split(line, ' ')) {
      if (part == word) return true;
    }
  }
  return false;
}

// Moving processes between groups needs write access to this file of a group above both.
bool MayMakeGroups(const std::string& folder) {
  return access(folder.c_str(), W_OK) == 0 && access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
}

bool HasControllers(const std::string& folder) {
  const std::string enabled = ReadFile(folder + "/cgroup.subtree_control", kMostText).value_or("");
  return HasWord(enabled, "pids") && HasWord(enabled, "memory");
}

}  // namespace

Result<std::string> Cgroup::FindParent(const CgroupPlace& place) {
  const std::string groups = ReadFile(place.membership, kMostText).value_or("");
  const std::size_t unified = groups.starts_with("0::") ? 0 : groups.find("\n0::") + 1;
  if (!groups.starts_with("0::") && unified == 0) {
    return MakeError(ErrorCode::kUnavailable, "not delegated (no unified hierarchy)");
  }
  const std::string own = groups.substr(unified + 3, groups.find('\n', unified) - unified - 3);
  bool delegated = false;
  for (const std::string_view hierarchy : {"", "/unified"}) {
    std::string folder = fmt::format("{}{}{}", place.mounted, hierarchy, own == "/" ? "" : own);
    const std::string top = fmt::format("{}{}", place.mounted, hierarchy);
    for (int up = 0; up < 2 && folder.size() >= top.size(); ++up) {
      if (MayMakeGroups(folder)) {
        delegated = true;
        if (HasControllers(folder)) return folder;
      }
      folder.resize(folder.rfind('/'));
    }
  }
  return MakeError(
      ErrorCode::kUnavailable, "{}",
      delegated ? "delegated without limits of memory and processes" : "not delegated");
}

Result<Cgroup> Cgroup::Make(const std::string& parent, const Limits& limits) {
  std::string folder = parent + "/dossier-jail-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return MakeError(ErrorCode::kUnavailable, "{}", ErrnoError(errno, folder).message);
  }
  Cgroup group(folder);
  DOSSIER_RETURN_IF_ERROR(WriteSetting(folder + "/pids.max", std::to_string(limits.processes)));
  DOSSIER_RETURN_IF_ERROR(WriteSetting(folder + "/memory.max", std::to_string(limits.memory)));
  // Not every kernel has this file, and without swap there is nothing to limit.
  (void)WriteSetting(folder + "/memory.swap.max", "0");
  group.entrance_ =
      UniqueFd(open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (group.entrance_.valid()) return group;
  return MakeError(ErrorCode::kUnavailable, "{}", ErrnoError(errno, folder).message);
}

Status Cgroup::Join(int entrance) {
  if (write(entrance, "0", 1) == 1) return {};
  return MakeError(ErrorCode::kUnavailable, "{}", ErrnoError(errno, "entering it").message);
}

std::uint64_t Cgroup::memory_kills() const {
  const std::string events = ReadFile(folder_ + "/memory.events", kMostText).value_or("");
  for (const std::string_view line : Split(events, '\n')) {
    constexpr std::string_view kName = "oom_kill ";
    if (!line.starts_with(kName)) continue;
    std::uint64_t count = 0;
    std::from_chars(line.data() + kName.size(), line.data() + line.size(), count);
    return count;
  }
  return 0;
}

Cgroup::~Cgroup() {
  if (folder_.empty()) return;
  entrance_.Reset();
  // Usually all have ended, and the group is removed at once.
  constexpr int kTries = 50, kMillisBetween = 20;
  for (int i = 0; i < kTries && rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i) {
    (void)WriteSetting(folder_ + "/cgroup.kill", "1");
    (void)poll(nullptr, 0, kMillisBetween);
  }
}

std::string CgroupReason() {
  const Result<std::string> parent = Cgroup::FindParent();
  return parent ? "delegated, not used for workers" : parent.error().message;
}

}  // namespace dossier::sandbox
