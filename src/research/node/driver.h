// The data that the parts of the driver share: round.h, node_work.h, stage_loop.h, stage_end.h,
// report.h.
//
//   const CallRequest request{.site = "define_metrics", .prefix = CallPrefix(driver)};
//   DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
//   DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, "run", outcome.warnings));
//
// Made by run_setup.h, which owns what it points to. Thread-safety: read only once it is made; its
// services may be used from any thread.

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
  Steering* steering = nullptr;  // what people want of the nodes
  // What ids of nodes come from: of the idea and the seed, so that a replay has the same ones.
  std::string node_key;
  std::string title;                   // of the idea
  std::string query;                   // its title and goal: what memory is asked for
  std::string evaluation;              // as the idea has it; "": nothing said
  PrefixSections prefix;               // of all calls, without resources and plan
  std::string environment, resources;  // texts, for the report and the paper
  std::string data_overview;           // text of the file; "": none
  int retries = 0;                     // of what failed, over all resumes of the run

  const RunConfig& config() const { return *services.config; }
  RoleCaller& caller() const { return *services.caller; }
  RunLog& log() const { return *services.log; }
};

bool Skips(const RunOrder& order, RunOrder::Skip what);

// The prefix of calls that are no phase of a node: with the resources of the run's last phase.
PrefixSections CallPrefix(const Driver& driver);

// Where the workspace of a node lies: absolute.
std::string WorkspaceOf(const Driver& driver, std::string_view node);

// Journals each warning once, also over several resumes. `place`: a node's id, or "run".
Status KeepWarnings(const Driver& driver, std::string_view place,
                    std::span<const std::string> warnings);
Status KeepWarning(const Driver& driver, std::string_view place, std::string warning);

// "missing_payload: … (logs/phase_logs/…)": for a person, and for node.failure.
std::string FailureText(const CallFailure& failure);

// Writes a file of the run folder: to a temporary name, renamed, then journalled. kSurvivesCrash:
// for what is written again, or can be made again from the journal.
Status WriteArtefact(const Services& services, const std::string& path, std::string_view content,
                     Durability durability = Durability::kSurvivesPowerLoss);
// Whether the journal knows this file with this content.
bool IsArtefact(const Services& services, std::string_view path, std::string_view content);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_DRIVER_H_
