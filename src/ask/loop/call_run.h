// Runs one call, the root's or a child's, from its context to its result.
//
//   CallEnd end = RunCall(run, pool);                       // the root
//   CallTree tree(64, ChildRunner(get_pool));               // children, each on its own thread
//
// The sandbox starts while the first prompt is prepared and answered, and ends with the call.
// Thread-safety: one call per thread, any number at once.

#ifndef DOSSIER_ASK_LOOP_CALL_RUN_H_
#define DOSSIER_ASK_LOOP_CALL_RUN_H_

#include <functional>
#include <memory>
#include <optional>

#include "ask/loop/call_loop.h"
#include "ask/policy/coverage.h"
#include "ask/run/call_tree.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/workbench.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

struct CallEnd {
  CallResult result;
  Coverage::Shares read;                            // shares of the call's context
  std::optional<sandbox::IsolationReport> sandbox;  // unset: no code ran
};

// `begun` is the session for its code, if it was already started.
CallEnd RunCall(RunState& run, sandbox::Pool& pool, std::unique_ptr<BegunSession> begun = nullptr);

// Adds a doubt if a file without a stored copy changed while it was read: the answer may then match
// no state that the file ever had. Waits for copies; called only if all copies were needed.
void DoubtChangedContexts(const RunState& run, CallResult* result);

// Runs children of any call of a run. `get_pool` is called when the first code may run.
CallTree::RunChild ChildRunner(std::function<Result<sandbox::Pool*>()> get_pool);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_CALL_RUN_H_
