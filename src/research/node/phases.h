// Phases 0 to 4 of one node: the plan, the installation, the files, the compiler, the
// program.
//
//   NodeWork work{.node = &node, .workspace = folder, .prefix = prefix, …};
//   DOSSIER_ASSIGN_OR_RETURN(const PhasesOutcome outcome, RunPhases(services, work, cancel));
//   node.term_out = outcome.term_out, node.exc_type = outcome.exc_type;
//
// A command that fails, a reply without an answer, a missing output are outcomes of the node; an
// error ends the run. Every finished step is journalled, so that a resumed run does not do it
// again. Thread-safety: one thread a node; several nodes at the same time.

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

// What every part of a run works with. All of it outlives the parts.
struct Services {
  const RunConfig* config = nullptr;
  RunLog* log = nullptr;
  RoleCaller* caller = nullptr;
  memory::Store* memory = nullptr;  // null: --no-memory
  std::shared_ptr<const Clock> clock;
  BackendFactory backend;
  std::string run_folder;
  std::string run_name;                  // for the output's name
  std::vector<std::string> compilers;    // that the probe found
  std::vector<Bind> binds;               // resources, data
  std::string data;                      // folder that each workspace gets a copy of; "": none
  std::vector<std::string> environment;  // of commands
  std::array<Json, kPhases> resources;   // section `Resources`, by phase
  // Whether the model of role `vlm` takes images (assembly::Capability::image_tokens).
  enum class Vision : std::uint8_t { kNo, kYes } vision = Vision::kNo;
  // One GET of a search for literature; empty: there is no network.
  std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> fetch;
  std::function<void(std::string_view)> progress;  // one line for a person; may be empty
};

// The program of one node, before it ran.
struct NodeWork {
  std::string node_id, worker;  // "worker-0"
  CallOrigin scope;
  // Without the plan, which phase 0 makes, and without resources, which services.resources holds.
  PrefixSections prefix;
  Json history;  // of phase 0; null: none
  // The call that yields the artefacts: site, own sections, query. Its prefix and check are set
  // here. With `code_only` (single mode) its reply is plan and code.
  CallRequest coding;
  std::string workspace;                 // absolute
  std::vector<std::string> environment;  // added: "DOSSIER_SEED=1"
  Phase last = Phase::kRun;              // --until: what comes after it is left out
  // Of RerunArtifacts: what the node had after phase 1 whose program it is. Its workspace is copied
  // (absolute path; "": none), its image used ("": that of the configuration).
  std::string base_workspace, base_image;
};

struct PhasesOutcome {
  Json phase0_plan;        // null if phase 0 failed
  Json artifacts;          // checked, as ArtifactsJson writes them; null if there are none
  std::string plan, code;  // code: files as prompts show them
  Json history;            // for phase 0 of a child
  std::string term_out;    // of the last command list, the middle cut out
  std::string exc_type;    // "": all went well
  std::string exc_info;
  bool timed_out = false;            // a command of phase 3 or 4
  double exec_time = 0;              // seconds, of phase 4
  std::vector<std::string> outputs;  // expected outputs that are there, relative to the workspace
  std::string worker_image;
  std::optional<CallFailure> failure;
};

Result<PhasesOutcome> RunPhases(const Services& services, const NodeWork& work,
                                const CancelToken& cancel);

// Runs phases 2 to 4 of `artifacts` again, in a workspace of its own, with `environment` added: for
// reruns with other seeds. No model is asked.
Result<PhasesOutcome> RerunArtifacts(const Services& services, const NodeWork& work,
                                     const Json& artifacts, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASES_H_
