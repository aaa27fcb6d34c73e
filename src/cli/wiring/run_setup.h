// Makes the parts of a run other than its model from flags and trust: layouts and their section
// makers, the agents of a repository, context commands.
//
//   options.makers = SectionMakersFor({.flags = flags, .cancel = cancel, .err = err, .now = {}});
//   DOSSIER_ASSIGN_OR_RETURN(const sources::AgentsConfig agents, LoadAgents(flags, err));
//   DOSSIER_ASSIGN_OR_RETURN(const auto folders, AssetFoldersFor("mine", flags, err));
//   ContextFlags flags;  AddContextFlags(*command, &flags);
//   DOSSIER_ASSIGN_OR_RETURN(PreparedContext context, PrepareContext(flags, config));
//
// Thread-safety: as app/section_makers.h and app/load_config.h.

#ifndef DOSSIER_CLI_WIRING_RUN_SETUP_H_
#define DOSSIER_CLI_WIRING_RUN_SETUP_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "app/context_setup.h"
#include "app/load_config.h"
#include "base/cancel.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"
#include "config/config.h"
#include "driver/caller.h"
#include "sources/header/agents_config.h"

namespace dossier::cli {

struct SectionMakerSetting {
  GlobalFlags flags;
  CancelToken cancel;
  std::ostream& err;  // for warnings; must outlive the makers
  std::string now;    // RFC 3339; "": use the time of each call
};

driver::SectionMakers SectionMakersFor(const SectionMakerSetting& setting);

// Reads what `dossier.yml` and `agentnet.edn` say about agents and the header, in all layers, with
// trust (as LoadConfig). Errors: kConfig, kRefused.
Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, std::ostream& err);
// Returns the tasks merged by recorded runs, for the header of the current folder's repository.
sources::DoneTasks DoneTasksOf(const sources::AgentsConfig& config);
// Does the same for a configuration that is already loaded.
Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, const config::Config& config,
                                         std::ostream& err);

using app::AllAssetFolders;
using app::NamedAssetFolder;

// Errors: also kRefused for layouts or prompts of an untrusted project.
inline Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir,
                                                      const GlobalFlags& flags, std::ostream& err) {
  return app::AssetFoldersFor(layouts_dir, DecideBy(flags, err));
}
// Returns both. Errors: as AssetFoldersFor.
Result<driver::LayoutSources> LayoutSourcesFor(const GlobalFlags& flags, const CancelToken& cancel,
                                               std::ostream& err);

using app::PreparedContext;

struct ContextFlags {
  std::vector<std::string> exec, variables;
  std::int64_t jobs = 16;
  std::string timeout = "120";  // seconds, or "500ms"
};

// Errors: as app::PrepareContext; kUsage (a flag).
Result<PreparedContext> PrepareContext(const ContextFlags& flags, const config::Config& config);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_RUN_SETUP_H_
