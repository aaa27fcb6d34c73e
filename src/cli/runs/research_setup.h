// From flags, files and the environment to what a staged run takes from outside.
//
//   DOSSIER_ASSIGN_OR_RETURN(const research::RunConfig config, ReadRunConfig(arguments));
//   order.open_model = RoleOpener(call, config, loaded);
//
// Thread-safety: none needed, but for RoleOpener's function, which may be called from any thread.

#ifndef DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_
#define DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_

#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/runs/research_command.h"
#include "cli/wiring/global_flags.h"
#include "config/config.h"
#include "research/resources/resources.h"
#include "research/run.h"
#include "research/setup/config.h"

namespace dossier::cli {

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

// "NAME=value" of this process.
std::vector<std::string> ProcessEnvironment();
std::string AbsolutePath(const std::string& path);

// Errors: kNotFound, kDamaged with all faults.
Result<research::ResourceFile> ReadResources(const std::string& path, const std::string& mount);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_SETUP_H_
