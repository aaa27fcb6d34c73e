// The walls around a process that runs a model's code: built in the parent, closed in the child.
//
//   DOSSIER_ASSIGN_OR_RETURN(IsolationPlan plan, PlanIsolation({.mode = Mode::kStrict}));
//   // in the child, after fork, before any foreign code:
//   IsolationReport report = plan.EnterBeforeExec();   // namespaces, new root, ids, rlimits
//   …exec or start the interpreter…
//   report = plan.Lock(bridge_fd);                      // landlock, seccomp, both filters
//
// Thread-safety: a plan is immutable; Enter and Lock change the calling process.

#ifndef DOSSIER_SANDBOX_ISOLATION_H_
#define DOSSIER_SANDBOX_ISOLATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace dossier::sandbox {

enum class Mode { kStrict, kDegraded };
enum class LayerState { kApplied, kUnavailable, kFailed };

struct Layer {
  std::string name;  // process, namespaces, flags, rlimits, landlock, seccomp, seccomp-threads, …
  LayerState state = LayerState::kUnavailable;
  std::string reason;  // or detail: "ABI 7"
};

struct Limits {
  Millis silence{60'000};                 // of a block without bridge activity (SBX-41)
  Millis cpu{120'000};                    // of a block, all threads
  Millis grace{2'000};                    // from the first interrupt to SIGKILL
  std::uint64_t memory = 1ull << 30;      // bytes beyond base and context
  std::uint64_t output = 10u << 20;       // bytes kept of one block
  std::uint64_t tmp = 64u << 20;          // bytes of the private /tmp
  int threads = 64, files = 64;
};

struct IsolationReport {
  Mode mode = Mode::kStrict;
  std::vector<Layer> layers;
  std::vector<std::string> gaps;  // "file names visible" (SBX-14)
  Limits limits;
  std::string worker;             // "python 3.11.2"

  // dossier.sandbox/1
  Json ToJson() const;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_ISOLATION_H_
