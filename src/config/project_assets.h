// Layouts and prompts that a project brings along in `.dossier/`: what a model is told, and by that
// a power that needs trust as its configuration does.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto assets, ReadProjectAssets(".dossier"));
//   if (assets) Ask({assets->file, assets->names});
//
// Thread-safety: functions over the file system.

#ifndef DOSSIER_CONFIG_PROJECT_ASSETS_H_
#define DOSSIER_CONFIG_PROJECT_ASSETS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config_file.h"

namespace dossier::config {

struct ProjectAssets {
  // As one file for whoever approves it: `bytes` are all files with their names, `real_path` is the
  // folder's.
  ConfigFile file;
  std::vector<std::string> names;  // "layouts/ask.yaml", sorted
};

// Nothing, if `folder` holds neither layouts nor prompts. Errors: kConfig for a link or anything
// else but a regular file, or more than 4 MiB of files; kRefused for files of another user or such
// as others may write, and for a folder that is a link to elsewhere.
Result<std::optional<ProjectAssets>> ReadProjectAssets(const std::string& folder);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_PROJECT_ASSETS_H_
