// The state shared by the phases of one node: its services, its sandbox, its result so far.
//
// Private to the phases (phases.cc, phase0.cc, phase1.cc). Thread-safety: one owner, one thread.

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

  // Calls the model with the scope and resources of `phase`. Errors: those of the caller.
  Result<CallOutcome> Ask(Phase phase, CallRequest request);

  // Starts the node's sandbox, unless it already runs with this image; "": the configured image.
  // Phase 1 passes kInstall (SandboxSpec::Use).
  Status StartSandbox(const std::string& image, SandboxSpec::Use use = SandboxSpec::Use::kProgram);
  void StopSandbox() noexcept;
  // Stops the sandbox, and removes the workspace and what was installed.
  Status ClearSandbox();
  // Copies the run's data into a workspace in which no command has run yet. Does nothing if the
  // data are bound, or if there are none.
  Status CopyData() const;
  ExecBackend* sandbox() { return sandbox_.get(); }

  // Runs a command; a refused or failed one is a result, written to `log`. `job` names the command
  // for a cluster's queue; "": it is never queued.
  Result<ExecResult> Run(ExecCommand command, PhaseLog& log, std::string_view job = {});

  // Returns true if this process or an earlier one queued a command of this name.
  bool HasJob(std::string_view job) const;

  // Records an event in memory: "compile_failed". Does nothing with --no-memory.
  Status Remember(Phase phase, std::string_view kind, std::string_view text);
  Status Warn(std::string_view text);
  void Say(std::string_view text) const;

  // Marks the node as failed. `type`: "CompilationError", "RuntimeError", …
  void Fail(std::string_view type, std::string_view info);
  bool failed() const { return !outcome.exc_type.empty() || outcome.failure.has_value(); }

  // Returns "NODE/STEP", a journal key.
  std::string Key(std::string_view step) const;
  // Opens a log of this node; its path is absolute.
  PhaseLog Log(std::string_view name) const;
  // Returns the absolute path of a file of this worker: "plans/phase0_plan.json".
  std::string WorkerFile(std::string_view name) const;

 private:
  std::unique_ptr<ExecBackend> sandbox_;
  std::string image_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE_CONTEXT_H_
