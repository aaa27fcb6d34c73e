// Where the commands look for layouts and templates: app/load_config.h with the trust of a
// person.
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::AssetFolders folders,
//                            AssetFoldersFor("mine", flags, err));
//
// Thread-safety: as there.

#ifndef DOSSIER_CLI_WIRING_ASSET_FOLDERS_H_
#define DOSSIER_CLI_WIRING_ASSET_FOLDERS_H_

#include <ostream>
#include <string>

#include "app/load_config.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

using app::AllAssetFolders;
using app::NamedAssetFolder;

// Errors: also kRefused for layouts or prompts of a project that is not trusted.
inline Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir,
                                                      const GlobalFlags& flags, std::ostream& err) {
  return app::AssetFoldersFor(layouts_dir, DecideBy(flags, err));
}

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_ASSET_FOLDERS_H_
