// The escape attempts that must fail, run against a pool.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pool, Pool::Make(options));
//   DOSSIER_ASSIGN_OR_RETURN(EscapeReport report, RunEscapeTests(*pool, options));
//   report.Summary();   // "67 of 67 refused; 1 needs the JavaScript worker, which …"
//
// Refused means: an error or death, never an effect. Every attempt has to say under a number drawn
// at random that it was refused, or to die; silence, a syntax error or a block that was not run
// counts against the sandbox. Effects are also looked for from outside: files that appeared,
// connections and datagrams that arrived, calls that nobody made, a secret in the output.
//
// Thread-safety: one run at a time.

#ifndef DOSSIER_SANDBOX_PROBES_ESCAPE_H_
#define DOSSIER_SANDBOX_PROBES_ESCAPE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "sandbox/session/session.h"

namespace dossier::sandbox {

struct EscapeOutcome {
  std::string id, name;  // "E1.1", "read /etc/passwd"
  bool refused = false;
  std::string how;  // "PermissionError …", "killed by signal 31", "effect: …"
};

struct EscapeReport {
  std::vector<EscapeOutcome> outcomes;  // in the order of the attempts
  std::vector<std::string> not_built;   // ids of attempts that need what this build lacks
  IsolationReport isolation;

  std::size_t refused() const;
  bool all_refused() const { return refused() == outcomes.size(); }
  std::string Summary() const;
  // dossier.sandbox.test/1
  Json ToJson() const;
};

// `options` are those of the pool: the native attempts run under a lock made from them. Errors:
// what Pool::Open returns; kIo if the listeners and files to escape to cannot be made; kCancelled.
Result<EscapeReport> RunEscapeTests(Pool& pool, const PoolOptions& options,
                                    const CancelToken& cancel = {});

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_ESCAPE_H_
