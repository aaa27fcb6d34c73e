#include "sandbox/walls/process_layer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/file.h"

namespace dossier::sandbox {

Status CloseOtherDescriptors(std::vector<int> keep) {
  keep.insert(keep.end(), {0, 1, 2});
  std::erase_if(keep, [](int fd) { return fd < 0; });
  std::sort(keep.begin(), keep.end());
  unsigned next = 0;
  for (int fd : keep) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > next && close_range(next, kept - 1, 0) != 0) return MakeErrnoError(errno, "close");
    next = std::max(next, kept + 1);
  }
  if (close_range(next, ~0u, 0) != 0) return MakeErrnoError(errno, "close");
  return {};
}

std::string CgroupReason() {
  const std::string groups = ReadFile("/proc/self/cgroup", 1 << 16).value_or("");
  const std::size_t unified = groups.find("0::");
  if (unified == std::string::npos) return "not delegated (no unified hierarchy)";
  const std::string path = groups.substr(unified + 3, groups.find('\n', unified) - unified - 3);
  for (const char* mounted : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (access((mounted + path + "/cgroup.procs").c_str(), W_OK) == 0) {
      return "delegated, not used by this version";
    }
  }
  return "not delegated";
}

}  // namespace dossier::sandbox
