// Native probes: single system calls tried by a process under the worker's own lock.
//
//   const NativeProbe probes[] = {{"unshare", [] { return unshare(CLONE_NEWUSER) == 0; }}};
//   DOSSIER_ASSIGN_OR_RETURN(auto results, RunNativeProbes(options, probes));
//   results[0].refused;   // the call failed, or the process died of it
//
// Each runs in a session of its own, because most die. Thread-safety: forks; the child of a process
// with threads is safe, since it only runs what follows fork() in glibc.

#ifndef DOSSIER_SANDBOX_PROBES_ESCAPE_NATIVE_H_
#define DOSSIER_SANDBOX_PROBES_ESCAPE_NATIVE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

struct NativeProbe {
  std::string_view name;
  bool (*succeeds)();  // errno says why not
};

struct NativeResult {
  std::string_view name;
  bool refused = false;
  std::string how;  // "errno 1", "signal 31", "it worked"
};

// The probes of the attempt with this id ("E6.1"); empty if it has none.
std::span<const NativeProbe> NativeProbes(std::string_view id);

// Errors: kUnavailable if the lock cannot be closed; kIo.
Result<std::vector<NativeResult>> RunNativeProbes(const IsolationOptions& options,
                                                  std::span<const NativeProbe> probes);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_ESCAPE_NATIVE_H_
