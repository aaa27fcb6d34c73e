#include "sandbox/walls/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/files/file.h"

namespace dossier::sandbox {
namespace {

// As declared by the kernel since ABI 6. System headers are older than kernels, so we have our own.
struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;  // ABI 4
  std::uint64_t scoped = 0;              // ABI 6
};

constexpr std::uint64_t kReadRights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kTruncate = 1ull << 14;  // ABI 3
constexpr std::uint64_t kWriteRights =
    kReadRights | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR;
constexpr std::uint64_t kRefer = 1ull << 13;          // ABI 2: rename into another folder
constexpr std::uint64_t kControlDevice = 1ull << 15;  // ABI 5
constexpr std::uint64_t kProgramRights = kReadRights | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kOwnedRights = kProgramRights | kWriteRights | kRefer |
                                       LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                       LANDLOCK_ACCESS_FS_MAKE_SOCK;
constexpr std::uint64_t kDeviceRights =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kControlDevice;
// The rights that apply to files; the others apply to folders.
constexpr std::uint64_t kFileRightsOnly = kDeviceRights | LANDLOCK_ACCESS_FS_EXECUTE;

// The number of file rights of each ABI: they are numbered from bit 0 without gaps.
constexpr int kFileRights[] = {0, 13, 14, 15, 15, 16};

RulesetAttributes EveryRight(int abi, FileRules::Network network) {
  const int rights = kFileRights[std::min<int>(abi, std::size(kFileRights) - 1)];
  return {.handled_access_fs = (1ull << rights) - 1,
          // TCP bind and connect
          .handled_access_net = abi >= 4 && network == FileRules::Network::kNone ? 3u : 0u,
          .scoped = abi >= 6 ? 3u : 0u};  // abstract UNIX sockets, signals
}

std::size_t AttributesSize(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? offsetof(RulesetAttributes, scoped)
                  : offsetof(RulesetAttributes, handled_access_net);
}

Status AddPath(int ruleset, const std::string& path, std::uint64_t rights, std::uint64_t known) {
  const UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return MakeErrnoError(errno, "open " + path);
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return MakeErrnoError(errno, "stat " + path);
  if (!S_ISDIR(info.st_mode)) rights &= kFileRightsOnly;
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = rights & known;
  rule.parent_fd = fd.get();
  if (syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    return MakeErrnoError(errno, "landlock rule for " + path);
  }
  return {};
}

}  // namespace

Result<int> LandlockAbi() {
  const long abi =
      syscall(__NR_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi > 0) return static_cast<int>(abi);
  return MakeError(ErrorCode::kUnavailable, "{}",
                   errno == EOPNOTSUPP ? "switched off at boot" : "kernel built without it");
}

Result<UniqueFd> MakeRuleset(const FileRules& rules) {
  DOSSIER_ASSIGN_OR_RETURN(const int abi, LandlockAbi());
  const RulesetAttributes attributes = EveryRight(abi, rules.network);
  UniqueFd ruleset(
      static_cast<int>(syscall(__NR_landlock_create_ruleset, &attributes, AttributesSize(abi), 0)));
  if (!ruleset.valid()) return MakeErrnoError(errno, "landlock ruleset");
  const std::uint64_t known = attributes.handled_access_fs;
  const std::pair<const std::vector<std::string>&, std::uint64_t> table[] = {
      {rules.read, kReadRights},   {rules.write, kWriteRights},    {rules.programs, kProgramRights},
      {rules.owned, kOwnedRights}, {rules.devices, kDeviceRights},
  };
  for (const auto& [paths, rights] : table) {
    for (const std::string& path : paths) {
      DOSSIER_RETURN_IF_ERROR(AddPath(ruleset.get(), path, rights, known));
    }
  }
  return ruleset;
}

Status RestrictFiles(const FileRules& rules) {
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd ruleset, MakeRuleset(rules));
  if (syscall(__NR_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return MakeErrnoError(errno, "landlock");
  }
  return {};
}

}  // namespace dossier::sandbox
