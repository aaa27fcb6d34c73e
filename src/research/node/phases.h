// Runs phases 0 to 4 of one node: plan, installation, files, compilation, execution.
//
//   NodeWork work{.node = &node, .workspace = folder, .prefix = prefix, …};
//   DOSSIER_ASSIGN_OR_RETURN(const PhasesOutcome outcome, RunPhases(services, work, cancel));
//   node.term_out = outcome.term_out, node.exc_type = outcome.exc_type;
//
// A failed command, a reply without an answer, or a missing output is an outcome of the node; an
// error ends the run. Every finished step is journalled, so that a resumed run does not repeat it.
// Thread-safety: one thread per node; several nodes at the same time.

#ifndef DOSSIER_RESEARCH_NODE_PHASES_H_
#define DOSSIER_RESEARCH_NODE_PHASES_H_

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "memory/store/store.h"
#include "research/call/caller.h"
#include "research/exec/exec_backend.h"
#include "research/setup/config.h"
#include "research/tree/node.h"
#include "research/tree/run_log.h"

namespace dossier::research {

// The services that every part of a run uses. All of them outlive the parts.
struct Services {
  const RunConfig* config = nullptr;
  ResearchLog* log = nullptr;
  RoleCaller* caller = nullptr;
  memory::Store* memory = nullptr;  // null: --no-memory
  std::shared_ptr<const Clock> clock;
  BackendFactory backend;
  std::string run_folder;
  std::string run_name;                  // for the output's name
  std::vector<std::string> compilers;    // found by the probe
  std::vector<Bind> binds;               // resources, data
  std::string data;                      // folder that is copied into each workspace; "": none
  std::vector<std::string> environment;  // for commands
  std::array<Json, kPhases> resources;   // section `Resources`, by phase
  // kYes if the model of role `vlm` accepts images (assembly::Capability::image_tokens).
  enum class Vision : std::uint8_t { kNo, kYes } vision = Vision::kNo;
  // Performs one GET for literature search; empty: there is no network.
  std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> fetch;
  std::function<void(std::string_view)> progress;  // one line for a person; may be empty
};

// One node's program before it runs.
struct NodeWork {
  std::string node_id, worker;  // "worker-0"
  CallOrigin scope;
  // Without the plan, which phase 0 makes, and without resources, which are in services.resources.
  PrefixSections prefix;
  Json history;  // for phase 0; null: none
  // The call that yields the artefacts: site, own sections, query. RunPhases sets its prefix and
  // check. With `code_only` (single mode) its reply is plan and code.
  CallRequest coding;
  std::string workspace;                 // absolute
  std::vector<std::string> environment;  // added to the services': "DOSSIER_SEED=1"
  Phase last = Phase::kRun;              // --until: later phases are left out
  // For RerunArtifacts: the state after phase 1 of the node whose program is rerun. Its workspace
  // is copied (absolute path; "": none) and its image used ("": the configured one).
  std::string base_workspace, base_image;
};

struct PhasesOutcome {
  Json phase0_plan;        // null if phase 0 failed
  Json artifacts;          // checked, in the form of ArtifactsJson; null: none
  std::string plan, code;  // code: files as prompts show them
  Json history;            // for phase 0 of a child
  std::string term_out;    // output of the last command list, its middle cut out
  std::string exc_type;    // "": no failure
  std::string exc_info;
  bool timed_out = false;            // in a command of phase 3 or 4
  double exec_time = 0;              // seconds, for phase 4
  std::vector<std::string> outputs;  // expected outputs that exist, relative to the workspace
  std::string worker_image;
  std::optional<CallFailure> failure;
};

Result<PhasesOutcome> RunPhases(const Services& services, const NodeWork& work,
                                const CancelToken& cancel);

// Runs phases 2 to 4 of `artifacts` again, in a separate workspace, with `environment` added: for
// reruns with other seeds. No model is asked.
Result<PhasesOutcome> RerunArtifacts(const Services& services, const NodeWork& work,
                                     const Json& artifacts, const CancelToken& cancel);

// The form of an outcome in the journal, so that finished work is not repeated.
JsonObject OutcomeJson(const PhasesOutcome& outcome);
// ReadOutcome(OutcomeJson(o)) equals o. Errors: kDamaged naming the field.
Result<PhasesOutcome> ReadOutcome(const Json& json);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASES_H_
