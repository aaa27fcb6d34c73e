// What the phases of one node share: its services, its sandbox, its result so far.
//
// Private to the phases (phases.cc, phase0.cc, phase1.cc).
// Thread-safety: one owner, one thread.

#ifndef DOSSIER_RESEARCH_NODE_PHASE_CONTEXT_H_
#define DOSSIER_RESEARCH_NODE_PHASE_CONTEXT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "research/exec/phase_log.h"
#include "research/node/phases.h"

namespace dossier::research {

class PhaseContext {
 public:
  PhaseContext(const Services& services, const NodeWork& work, const CancelToken& cancel)
      : services(services), work(work), cancel(cancel) {}
  ~PhaseContext() { StopSandbox(); }
  PhaseContext(const PhaseContext&) = delete;
  PhaseContext& operator=(const PhaseContext&) = delete;

  const Services& services;
  const NodeWork& work;
  const CancelToken& cancel;
  PhasesOutcome outcome;

  // Asks, with the scope and resources of `phase`. Errors: those of the caller.
  Result<CallOutcome> Ask(Phase phase, CallRequest request);

  // Starts the node's sandbox, unless it runs with this image; "": that of the configuration.
  // Phase 1 says that it is next (SandboxSpec::Use).
  Status StartSandbox(const std::string& image, SandboxSpec::Use use = SandboxSpec::Use::kProgram);
  void StopSandbox() noexcept;
  // Stops it, and removes the workspace and what was installed.
  Status ClearSandbox();
  // Copies the run's data into a workspace in which no command has run yet. Does nothing if the
  // data are bound, or if there are none.
  Status CopyData() const;
  ExecBackend* sandbox() { return sandbox_.get(); }

  // A refused or failed command is a result; it is written to `log`. `job` names the command for a
  // cluster's queue; "": it never waits there.
  Result<ExecResult> Run(ExecCommand command, PhaseLog& log, std::string_view job = {});

  // Whether a command of this name was given to a queue, by this process or an earlier one.
  bool HasJob(std::string_view job) const;

  // An event of memory's recall: "compile_failed". Nothing with --no-memory.
  Status Remember(Phase phase, std::string_view kind, std::string_view text);
  Status Warn(std::string_view text);
  void Say(std::string_view text) const;

  // The node fails. `type`: "CompilationError", "RuntimeError", …
  void Fail(std::string_view type, std::string_view info);
  bool failed() const { return !outcome.exc_type.empty() || outcome.failure.has_value(); }

  // "NODE/STEP", a key of the journal.
  std::string Key(std::string_view step) const;
  // Of this node, absolute.
  PhaseLog Log(std::string_view name) const;
  // A file of this worker, absolute: "plans/phase0_plan.json".
  std::string WorkerFile(std::string_view name) const;

 private:
  std::unique_ptr<ExecBackend> sandbox_;
  std::string image_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE_CONTEXT_H_
