// A cgroup for the processes of a jail, if the kernel lets us create one: cgroup v2, delegated to
// the user (as systemd does for every login).
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string parent, Cgroup::FindParent());
//   DOSSIER_ASSIGN_OR_RETURN(Cgroup group, Cgroup::Make(parent, {.processes = 256, .memory = 1 <<
//   30})); … in the child, before it gives up any right:
//   DOSSIER_RETURN_IF_ERROR(Cgroup::Join(group.entrance()));
//
// The kernel then refuses processes above the limit, and kills what uses too much memory, including
// shared memory and private file systems. A group is used only with both controllers. The owner
// kills what is left in the group and removes it. Thread-safety: one owner.

#ifndef DOSSIER_SANDBOX_WALLS_CGROUP_H_
#define DOSSIER_SANDBOX_WALLS_CGROUP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::sandbox {

// The paths of the cgroup file system; tests use other folders.
struct CgroupPlace {
  std::string mounted = "/sys/fs/cgroup";
  std::string membership = "/proc/self/cgroup";
};

class Cgroup {
 public:
  struct Limits {
    int processes = 0;         // including threads
    std::uint64_t memory = 0;  // bytes of all processes together
  };

  // Returns the folder in which the caller may create groups with both controllers: its own
  // group's, or the parent of that. Errors: kUnavailable with the reason, for the report.
  static Result<std::string> FindParent(const CgroupPlace& place = {});
  // Errors: kUnavailable.
  static Result<Cgroup> Make(const std::string& parent, const Limits& limits);
  // Moves the calling process into the group with this entrance. Errors: kUnavailable.
  static Status Join(int entrance);

  Cgroup(Cgroup&& other) noexcept
      : folder_(std::exchange(other.folder_, "")), entrance_(std::move(other.entrance_)) {}
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();

  int entrance() const { return entrance_.get(); }
  // Returns the number of processes killed because memory ran out.
  std::uint64_t memory_kills() const;

 private:
  explicit Cgroup(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;  // empty: moved away
  UniqueFd entrance_;
};

// The reason why workers have no group, for the report; their other limits apply in any case.
std::string CgroupReason();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_CGROUP_H_
