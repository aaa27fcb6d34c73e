// The data shared by the parts of the driver: round.h, node_work.h, stage_loop.h, stage_end.h,
// report.h.
//
//   const CallRequest request{.site = "define_metrics", .prefix = CallPrefix(driver)};
//   DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
//   DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, "run", outcome.warnings));
//
// Made by run_setup.h, which owns what it points to. Thread-safety: read-only after construction;
// its services may be used from any thread.

#ifndef DOSSIER_RESEARCH_NODE_DRIVER_H_
#define DOSSIER_RESEARCH_NODE_DRIVER_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "model/client/ledger.h"
#include "research/node/phases.h"
#include "research/run.h"

namespace dossier::research {

class Steering;

struct Driver {
  Services services;
  const RunOrder* order = nullptr;
  model::Ledger* ledger = nullptr;
  Steering* steering = nullptr;  // what people requested for nodes
  // Source of the node ids, made from idea and seed, so that a replay has the same ids.
  std::string node_key;
  std::string title;                   // title of the idea
  std::string query;                   // title and goal of the idea: the query for memory
  std::string evaluation;              // from the idea; "": not given
  PrefixSections prefix;               // for all calls, without resources and plan
  std::string environment, resources;  // texts, for report and paper
  std::string data_overview;           // text of the file; "": none
  Json previous_history;               // of the attempt before, for first plans; null: none
  int retries = 0;                     // of failed work, counted over all resumes of the run

  const RunConfig& config() const { return *services.config; }
  RoleCaller& caller() const { return *services.caller; }
  ResearchLog& log() const { return *services.log; }
};

bool Skips(const RunOrder& order, RunOrder::Skip what);

// The prefix of calls that are not a phase of a node; it has the resources of the run's last phase.
PrefixSections CallPrefix(const Driver& driver);

// Returns the absolute path of a node's workspace.
std::string WorkspaceOf(const Driver& driver, std::string_view node);

// Journals each warning once, also over several resumes. `place`: a node's id, or "run".
Status KeepWarnings(const Driver& driver, std::string_view place,
                    std::span<const std::string> warnings);
Status KeepWarning(const Driver& driver, std::string_view place, std::string warning);

// Returns "missing_payload: … (logs/phase_logs/…)": for a person, and for node.failure.
std::string FailureText(const CallFailure& failure);

// Writes a file of the run folder: under a temporary name, renamed, then journalled.
// kSurvivesCrash: for files that are written again or can be rebuilt from the journal.
Status WriteArtefact(const Services& services, const std::string& path, std::string_view content,
                     Durability durability = Durability::kSurvivesPowerLoss);
// Returns true if the journal has this file with this content.
bool IsArtefact(const Services& services, std::string_view path, std::string_view content);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_DRIVER_H_
