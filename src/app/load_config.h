// The configuration that a library goes by, which has no flags and nobody to ask: the user's own,
// and a project's where the caller names the project.
//
//   DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadOwnConfig());
//   DOSSIER_ASSIGN_OR_RETURN(const config::Config project, LoadProjectConfig("/src/it", decide));
//
// Thread-safety: reads the environment and a file; must not run beside setenv.

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

// No file of a project is read. Errors: kConfig with FILE:LINE:COL, or if there is no home;
// kRefused for a file that others may write.
Result<config::Config> LoadOwnConfig();

// All layers, seen from `folder`; `decide` is asked about files that can run code or redirect data.
// Errors: as config::LoadConfig; kNotFound (the folder).
Result<config::Config> LoadProjectConfig(const std::string& folder, const config::Decide& decide);

// A decision about a project's file that asks nobody: what a person approved before counts.
// Errors: kRefused, saying how it is approved; kDamaged (the list of approvals).
Status UseIfApproved(const config::Question& question);

// What `dossier.yml` and `agentnet.edn` of a repository say about agents and the header.
// `folder`: anywhere in the repository. `decide` says whether the repository's file may be used.
// Errors: kConfig, and what `decide` returns.
Result<sources::AgentsConfig> LoadAgents(const config::Config& config, const std::string& folder,
                                         const config::Decide& decide);

// Where layouts and templates are looked for.
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::AssetFolders folders,
//                            AssetFoldersFor("mine", decide));
//
// A project's `.dossier` needs trust, as its configuration does; what a caller, a variable or the
// user's own folder names is the user's. In this order: the folder given, $DOSSIER_LAYOUTS_DIR,
// .dossier of the current folder, the user's configuration folder; then what is built in. Each
// holds layouts/ and prompts/. Thread-safety: reads the environment and the file system.

// `layouts_dir` may be empty. `decide` says whether layouts or prompts of the project may be used;
// its error is returned. Errors: kNotFound if a folder that was named is not there.
Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir,
                                               const config::Decide& decide);

// The same folders for those who only look at what is there.
Result<assembly::AssetFolders> AllAssetFolders(const std::string& layouts_dir);

// Without the project's: what a library uses that does not know in whose folder it runs.
Result<assembly::AssetFolders> UserAssetFolders(const std::string& layouts_dir);

// The folder of layouts/ and prompts/ that `name` means: itself, or the one whose layouts/ it is.
// Errors: kNotFound, with `flag` in front of the name, if it is not there or holds neither.
Result<std::string> NamedAssetFolder(std::string_view flag, const std::string& name);

}  // namespace dossier::app

#endif  // DOSSIER_APP_LOAD_CONFIG_H_
