// Runs the escape attempts, which must fail, against a pool.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pool, Pool::Make(options));
//   DOSSIER_ASSIGN_OR_RETURN(EscapeReport report, RunEscapeTests(*pool, options));
//   report.Summary();   // "68 of 68 refused"
//
// Refused means: an error or death, and no effect. Every attempt must report under a random number
// that it was refused, or die; silence, a syntax error or a block that did not run counts against
// the sandbox. Effects are also searched for from outside: new files, connections and datagrams
// that arrived, calls that nobody made, a secret in the output.
//
// Thread-safety: one run at a time.

#ifndef DOSSIER_SANDBOX_PROBES_ESCAPE_H_
#define DOSSIER_SANDBOX_PROBES_ESCAPE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "sandbox/session/session.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

struct EscapeOutcome {
  std::string id, name;  // "E1.1", "read /etc/passwd"
  bool refused = false;
  std::string how;  // "PermissionError …", "killed by signal 31", "effect: …"
};

struct EscapeReport {
  std::vector<EscapeOutcome> outcomes;  // in the order of the attempts
  std::vector<std::string> not_built;   // ids of attempts that this build does not support
  IsolationReport isolation;

  std::size_t refused() const;
  bool all_refused() const { return refused() == outcomes.size(); }
  std::string Summary() const;
  // dossier.sandbox.test/1
  Json ToJson() const;
};

// `options` are those of the pool; the native attempts run under a lock made from them. Errors:
// those of Pool::Open; kIo if the target files and listeners cannot be made; kCancelled.
Result<EscapeReport> RunEscapeTests(Pool& pool, const PoolOptions& options,
                                    const CancelToken& cancel = {});

// The escape attempts as data: one entry per attempt.
//
// The code is the body of a function. It returns a true value if it had an effect; an exception is
// a refusal. These are replaced: $FOLDER$ a folder outside with a file `secret` that anyone may
// read and change, $HOME$, $STORE$, $TCP$ and $UDP$ ports of the host's loopback, $STREAM$ and
// $DGRAM$ unix sockets in the folder, $ABSTRACT$ an abstract one, $ROOT$ 1 if the new root must
// hide file names. Thread-safety: read-only data.

struct EscapeAttempt {
  enum class Then { kNothing, kSameSession, kNextSession };

  std::string_view id, name;
  std::string_view code;  // empty: native probes only
  Then then = Then::kNothing;
  std::string_view check;  // code of a second block; returns true if the first had its effect
  // Run on the host: returns true if the first block's result shows an effect.
  bool (*effect)(const BlockResult& result, const Limits& limits) = nullptr;
};

std::span<const EscapeAttempt> EscapeAttempts();

// The attempts with JavaScript code. They are tried if that worker is built.
std::span<const EscapeAttempt> JavaScriptAttempts();

// Native probes: single system calls, made by a process under the worker's own lock.
//
//   const NativeProbe probes[] = {{"unshare", [] { return unshare(CLONE_NEWUSER) == 0; }}};
//   DOSSIER_ASSIGN_OR_RETURN(auto results, RunNativeProbes(options, probes));
//   results[0].refused;   // the call failed, or the process died of it
//
// Each runs in its own session, because most die. Thread-safety: forks; this is safe in a process
// with threads, since the child runs only what glibc allows after fork().

struct NativeProbe {
  std::string_view name;
  bool (*succeeds)();  // errno holds the reason
};

struct NativeResult {
  std::string_view name;
  bool refused = false;
  std::string how;  // "errno 1", "signal 31", "it worked"
};

// Returns the probes of the attempt with this id ("E6.1"); empty if it has none.
std::span<const NativeProbe> NativeProbes(std::string_view id);

// Errors: kUnavailable if the lock cannot be closed; kIo.
Result<std::vector<NativeResult>> RunNativeProbes(const IsolationOptions& options,
                                                  std::span<const NativeProbe> probes);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_ESCAPE_H_
