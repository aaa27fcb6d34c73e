// The system call filters of a zygote's sessions: assembled once, in the zygote, and loaded as they
// are in every session.
//
//   SessionFilters filters = SessionFilters::Assemble();              // in the parent
//   filters.Fill({.pid = getpid(), .private_fds = {bridge, epoll}});  // in a child of it
//   DOSSIER_RETURN_IF_ERROR(LoadFilter(filters.common(FileAccess::kReadWrite), …));
//
// A session's process id and descriptors are not known before it is there. Their places hold
// markers that Fill overwrites: some ten words, where assembling takes longer than all other filter
// work. Thread-safety: none; each process has its own copy.

#ifndef DOSSIER_SANDBOX_WALLS_SESSION_FILTERS_H_
#define DOSSIER_SANDBOX_WALLS_SESSION_FILTERS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sandbox/walls/seccomp_policy.h"
#include "sandbox/walls/seccomp_program.h"

namespace dossier::sandbox {

class SessionFilters {
 public:
  // Places for descriptors that only the bridge's thread may name: a bridge needs three.
  static constexpr std::size_t kMostPrivateFds = 4;

  static SessionFilters Assemble();

  struct Session {
    pid_t pid = 0;
    std::vector<int> private_fds;  // those below 0 are skipped
  };
  // May be called again for another session. Errors: kInternal above kMostPrivateFds descriptors;
  // then nothing has changed.
  Status Fill(const Session& session);

  // For every thread. `files`: not kNone.
  const FilterProgram& common(FileAccess files) const {
    return files == FileAccess::kReadWrite ? walled_.program : read_only_.program;
  }
  // For the interpreter's threads on top.
  const FilterProgram& threads() const { return threads_.program; }

 private:
  struct Form {
    FilterProgram program;
    // Where each marker stands: the process id's first, then the descriptors' in order.
    std::vector<std::vector<std::size_t>> places;

    void Set(std::size_t marker, std::uint32_t value);
  };
  static Form MakeForm(FilterProgram program);

  Form walled_, read_only_, threads_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_SESSION_FILTERS_H_
