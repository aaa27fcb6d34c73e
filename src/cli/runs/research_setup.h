// From flags, files and the environment to what a staged run takes from outside.
//
//   DOSSIER_ASSIGN_OR_RETURN(const research::RunConfig config, ReadRunConfig(arguments));
//   order.open_model = RoleOpener(call, config, loaded);
//
// Thread-safety: none needed, but for RoleOpener's function, which may be called from any thread.

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
  // Of run; some of them of resume and probe, too.
  std::string idea, config, name, resources, backend, image, stages = "1-4", until, memory;
  std::string review_bias;
  std::int64_t attempt = 0;
  std::optional<std::int64_t> workers, seed;
  LimitFlags limits;
  std::vector<std::string> degraded, models, settings;
  bool no_memory = false, dry_run = false;
  bool skip_plots = false, skip_citations = false, skip_writeup = false, skip_review = false;
  ModelFlags connection;  // how models are reached; which they are, `models` and `config` say
  // Of the others.
  std::string run;  // folder, or the beginning of one or of an id; "": the latest
  bool watch = false, retry_failed = false, rewrite = false;
  int stage = 0;  // of tree; 0: all
  std::string format;
  std::string file;  // of resources
  int phase = 0;     // of resources show
  std::string node, show;
  std::string text;   // of hint and name
  bool undo = false;  // of pin, prune, hint and name
  bool json = false;
};

struct ResearchCall {
  const ResearchArguments& arguments;
  const GlobalFlags& flags;
  const CancelToken& cancel;
  std::ostream& out;
  std::ostream& err;
};

// --config, then --set, then the flags that stand for keys. Errors: kConfig, kUsage, kNotFound.
Result<research::RunConfig> ReadRunConfig(const ResearchArguments& arguments);
// The configuration of a run folder, with what a resume changes. Errors: as ReadRunConfig.
Result<research::RunConfig> ReadStoredConfig(const std::string& folder,
                                             const ResearchArguments& arguments);

// Opens the model of a role, each model once, so that roles share it. `loaded` is copied.
driver::OpenModel RoleOpener(const ResearchCall& call, const research::RunConfig& config,
                             const config::Config& loaded);

// Errors: kNotFound, kDamaged with all faults.
Result<research::ResourceFile> ReadResources(const std::string& path, const std::string& mount);

// The commands of research_run.cc and research_view.cc. All return the exit code.
// Errors: those of research::Run; kUsage, kNotFound.
Result<int> StartResearch(const ResearchCall& call);
Result<int> ResumeResearch(const ResearchCall& call);
// What such a run would take; nothing is asked, no run is made.
Result<int> PlanResearch(const ResearchCall& call);
// Nothing of a run changes, but for report --rewrite. Errors: kNotFound, kDamaged, kUsage.
Result<int> ShowResearchStatus(const ResearchCall& call);
Result<int> ShowResearchTree(const ResearchCall& call);
// Errors: also kLocked: a run that works writes its report itself.
Result<int> ShowResearchReport(const ResearchCall& call);
Result<int> ShowResearchPrompts(const ResearchCall& call);
// An order about a node. Errors: those of research::SteerRun, kUsage.
Result<int> SteerResearch(const ResearchCall& call, research::SteerKind kind);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_
