#include "cli/asset_folders.h"

#include "base/file.h"
#include "cli/model_flags.h"

namespace dossier::cli {
namespace {

// People name the folder that holds layouts/, or that one itself.
std::string WithoutLayouts(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (folder == "layouts") return ".";
  if (folder.ends_with("/layouts")) folder.resize(folder.size() - 8);
  return folder.empty() ? "/" : folder;
}

}  // namespace

Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir) {
  assembly::AssetFolders folders;
  if (!layouts_dir.empty()) {
    if (!Exists(layouts_dir)) {
      return MakeError(ErrorCode::kNotFound, "--layouts-dir {}: there is no such folder",
                       layouts_dir);
    }
    folders.overrides.push_back(WithoutLayouts(layouts_dir));
  }
  if (const auto named = Environment("DOSSIER_LAYOUTS_DIR")) {
    if (!Exists(*named)) {
      return MakeError(ErrorCode::kNotFound, "DOSSIER_LAYOUTS_DIR {}: there is no such folder",
                       *named);
    }
    folders.overrides.push_back(WithoutLayouts(*named));
  }
  if (Exists(".dossier")) folders.overrides.emplace_back(".dossier");
  if (auto config = ConfigFolder()) folders.overrides.push_back(*config);
  return folders;
}

}  // namespace dossier::cli
