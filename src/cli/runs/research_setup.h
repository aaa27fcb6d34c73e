// Turns flags, files and the environment into the inputs of a staged run.
//
//   DOSSIER_ASSIGN_OR_RETURN(const research::RunConfig config, ReadRunConfig(arguments));
//   order.open_model = RoleOpener(call, config, loaded);
//
// Thread-safety: none needed, except RoleOpener's result, which any thread may call.

#ifndef DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_
#define DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "config/config.h"
#include "research/resources/resources.h"
#include "research/run.h"
#include "research/search/steering.h"
#include "research/setup/config.h"

namespace dossier::cli {

struct ResearchArguments {
  std::string out = "experiments";
  // For run; some of them also for resume and probe.
  std::string idea, config, name, resources, backend, image, stages = "1-4", until, memory;
  std::string review_bias;
  std::int64_t attempt = 0;
  std::optional<std::int64_t> workers, seed;
  LimitFlags limits;
  std::vector<std::string> degraded, models, settings;
  bool no_memory = false, dry_run = false;
  bool skip_plots = false, skip_citations = false, skip_writeup = false, skip_review = false;
  ModelFlags connection;  // access to models; `models` and `config` select them
  // For the other commands.
  std::string run;  // folder, or a prefix of it or of an id; "": the latest
  bool watch = false, retry_failed = false, rewrite = false;
  int stage = 0;  // for tree; 0: all stages
  std::string format;
  std::string file;  // for resources
  int phase = 0;     // for resources show
  std::string node, show;
  std::string text;   // for hint and name
  bool undo = false;  // for pin, prune, hint and name
  bool json = false;
};

struct ResearchCall {
  const ResearchArguments& arguments;
  const GlobalFlags& flags;
  const CancelToken& cancel;
  std::ostream& out;
  std::ostream& err;
};

// Precedence, low to high: --config, --set, flags for keys. Errors: kConfig, kUsage, kNotFound.
Result<research::RunConfig> ReadRunConfig(const ResearchArguments& arguments);
// Returns the stored configuration of a run with a resume's changes. Errors: as ReadRunConfig.
Result<research::RunConfig> ReadStoredConfig(const std::string& folder,
                                             const ResearchArguments& arguments);

// Opens the model of a role; each model is opened once and shared by roles. `loaded` is copied.
driver::OpenModel RoleOpener(const ResearchCall& call, const research::RunConfig& config,
                             const config::Config& loaded);

// Errors: kNotFound; kDamaged with all faults.
Result<research::ResourceFile> ReadResources(const std::string& path, const std::string& mount);

// The commands in research_run.cc and research_view.cc. All return the exit code.
// Errors: those of research::Run; kUsage, kNotFound.
Result<int> StartResearch(const ResearchCall& call);
Result<int> ResumeResearch(const ResearchCall& call);
// Shows what such a run would take; it asks no model and creates no run.
Result<int> PlanResearch(const ResearchCall& call);
// These do not change a run, except report --rewrite. Errors: kNotFound, kDamaged, kUsage.
Result<int> ShowResearchStatus(const ResearchCall& call);
Result<int> ShowResearchTree(const ResearchCall& call);
// Errors: also kLocked: an active run writes its report itself.
Result<int> ShowResearchReport(const ResearchCall& call);
Result<int> ShowResearchPrompts(const ResearchCall& call);
// Gives a run an order about a node. Errors: those of research::SteerRun, kUsage.
Result<int> SteerResearch(const ResearchCall& call, research::SteerKind kind);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_
