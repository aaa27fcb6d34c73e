// Loads the configuration for a library, which has no flags and nobody to ask: the user's own, and
// a project's if the caller names the project.
//
//   DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadOwnConfig());
//   DOSSIER_ASSIGN_OR_RETURN(const config::Config project, LoadProjectConfig("/src/it", decide));
//
// Thread-safety: reads the environment and a file; must not run concurrently with setenv.

#ifndef DOSSIER_APP_LOAD_CONFIG_H_
#define DOSSIER_APP_LOAD_CONFIG_H_

#include <string>
#include <string_view>

#include "assembly/layout/layout.h"
#include "base/result.h"
#include "config/config.h"
#include "config/load.h"
#include "sources/header/agents_config.h"

namespace dossier::app {

// Reads no project's file. Errors: kConfig with FILE:LINE:COL, or if there is no home; kRefused for
// a file that others may write.
Result<config::Config> LoadOwnConfig();

// Loads all layers as seen from `folder`; `decide` is asked about files that can run code or
// redirect data. Errors: as config::LoadConfig; kNotFound (the folder).
Result<config::Config> LoadProjectConfig(const std::string& folder, const config::Decide& decide);

// Decides about a project's file without asking: it is used if a person approved it before. Errors:
// kRefused, with how to approve it; kDamaged (the list of approvals).
Status UseIfApproved(const config::Question& question);

// Reads what `dossier.yml` and `agentnet.edn` of a repository say about agents and the header.
// `folder` is any path inside the repository. `decide` says whether the repository's file may be
// used. Errors: kConfig, and those of `decide`.
Result<sources::AgentsConfig> LoadAgents(const config::Config& config, const std::string& folder,
                                         const config::Decide& decide);

// Folders in which layouts and templates are searched.
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::AssetFolders folders,
//                            AssetFoldersFor("mine", decide));
//
// A project's `.dossier` needs trust, like its configuration; folders named by a caller, a variable
// or the user's own folder are the user's. Search order: the given folder, $DOSSIER_LAYOUTS_DIR,
// .dossier of the current folder, the user's configuration folder; then the built-in files. Each
// has layouts/ and prompts/. Thread-safety: reads the environment and the file system.

// `layouts_dir` may be empty. `decide` says whether layouts or prompts of the project may be used;
// its error is returned. Errors: kNotFound if a named folder does not exist.
Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir,
                                               const config::Decide& decide);

// Returns the same folders for callers that only list what exists.
Result<assembly::AssetFolders> AllAssetFolders(const std::string& layouts_dir);

// Leaves out the project's: for a library, which does not know in whose folder it runs.
Result<assembly::AssetFolders> UserAssetFolders(const std::string& layouts_dir);

// Returns the folder of layouts/ and prompts/ that `name` means: itself, or its parent if it is
// layouts/. Errors: kNotFound, with `flag` before the name, if it is missing or has neither.
Result<std::string> NamedAssetFolder(std::string_view flag, const std::string& name);

}  // namespace dossier::app

#endif  // DOSSIER_APP_LOAD_CONFIG_H_
