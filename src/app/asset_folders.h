// Where layouts and templates are looked for.
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::AssetFolders folders,
//                            AssetFoldersFor("mine", decide));
//
// A project's `.dossier` needs trust, as its configuration does; what a caller, a variable or the
// user's own folder names is the user's. In this order: the folder given, $DOSSIER_LAYOUTS_DIR,
// .dossier of the current folder, the user's configuration folder; then what is built in. Each
// holds layouts/ and prompts/. Thread-safety: reads the environment and the file system.

#ifndef DOSSIER_APP_ASSET_FOLDERS_H_
#define DOSSIER_APP_ASSET_FOLDERS_H_

#include <string>
#include <string_view>

#include "assembly/layout/layout.h"
#include "base/result.h"
#include "config/load.h"

namespace dossier::app {

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

#endif  // DOSSIER_APP_ASSET_FOLDERS_H_
