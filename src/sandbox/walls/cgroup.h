// A cgroup of its own for the processes of a jail, where the kernel lets us make one: cgroup v2,
// delegated to the user (systemd does so for every login).
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string parent, Cgroup::FindParent());
//   DOSSIER_ASSIGN_OR_RETURN(Cgroup group, Cgroup::Make(parent, {.processes = 256, .memory = 1 <<
//   30})); … in the child, before it gives up any right:
//   DOSSIER_RETURN_IF_ERROR(Cgroup::Join(group.entrance()));
//
// The kernel then refuses a process too many, and ends what uses too much memory, shared memory and
// private file systems included. A group is used only with both controllers. The owner ends what is
// left in the group and removes it. Thread-safety: none; one owner.

#ifndef DOSSIER_SANDBOX_WALLS_CGROUP_H_
#define DOSSIER_SANDBOX_WALLS_CGROUP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::sandbox {

// Where groups are; other folders for tests.
struct CgroupPlace {
  std::string mounted = "/sys/fs/cgroup";
  std::string membership = "/proc/self/cgroup";
};

class Cgroup {
 public:
  struct Limits {
    int processes = 0;         // threads included
    std::uint64_t memory = 0;  // bytes of all together
  };

  // The folder below which the caller may make groups with both controllers: its own group's, or
  // the one above that. Errors: kUnavailable with the reason, for the report.
  static Result<std::string> FindParent(const CgroupPlace& place = {});
  // Errors: kUnavailable.
  static Result<Cgroup> Make(const std::string& parent, const Limits& limits);
  // Puts the calling process into the group with this entrance. Errors: kUnavailable.
  static Status Join(int entrance);

  Cgroup(Cgroup&& other) noexcept
      : folder_(std::exchange(other.folder_, "")), entrance_(std::move(other.entrance_)) {}
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();

  int entrance() const { return entrance_.get(); }
  // Processes that were ended because the memory was used up.
  std::uint64_t memory_kills() const;

 private:
  explicit Cgroup(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;  // empty: moved away
  UniqueFd entrance_;
};

// The reason why workers have no group, for the report: their other limits hold in any case.
std::string CgroupReason();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_CGROUP_H_
