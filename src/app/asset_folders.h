// Where the commands look for layouts and templates (section 4.2 of the assembly spec).
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::AssetFolders folders, AssetFoldersFor("mine", flags,
//   err));
//
// A project's `.dossier` needs trust, as its configuration does; what a flag, a variable or the
// user's own folder names is the user's. In this order: --layouts-dir, $DOSSIER_LAYOUTS_DIR,
// .dossier of the current folder, the user's configuration folder; then what is built in. Each
// holds layouts/ and prompts/. Thread-safety: reads the environment and the file system.

#ifndef DOSSIER_CLI_WIRING_ASSET_FOLDERS_H_
#define DOSSIER_CLI_WIRING_ASSET_FOLDERS_H_

#include <ostream>
#include <string>
#include <string_view>

#include "assembly/layout/layout.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// `layouts_dir` may be empty. Errors: kNotFound if a folder that was named is not there; kRefused
// for layouts or prompts of a project that is not trusted.
Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir,
                                               const GlobalFlags& flags, std::ostream& err);

// The same folders for commands that only look at what is there.
Result<assembly::AssetFolders> AllAssetFolders(const std::string& layouts_dir);

// The folder of layouts/ and prompts/ that `name` means: itself, or the one whose layouts/ it is.
// Errors: kNotFound, with `flag` in front of the name, if it is not there or holds neither.
Result<std::string> NamedAssetFolder(std::string_view flag, const std::string& name);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_ASSET_FOLDERS_H_
