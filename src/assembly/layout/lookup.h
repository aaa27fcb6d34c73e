// Where layouts and templates come from: folders of the user before the built-in files.
//
//   auto asset = FindAsset("prompts/", "recursion/ready.md", folders);
//   if (*asset) Use((*asset)->text, (*asset)->path);
//
// Thread-safety: pure functions over files that are only read.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_LOOKUP_H_
#define DOSSIER_ASSEMBLY_LAYOUT_LOOKUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"

namespace dossier::assembly {

struct Asset {
  std::string path;  // for messages; a built-in one is "builtin:layouts/x.yaml"
  std::string text;
  enum class From { kFolder, kBuiltIn } from = From::kBuiltIn;
};

// The text of a file that a person wrote for a prompt; nullopt if nothing has this name.
// Errors: kConfig as "PATH:LINE:COL: reason" for what is there but is no readable UTF-8 file: a
// folder, a pipe, a link that leads nowhere, other bytes, a byte order mark.
Result<std::optional<std::string>> ReadAssetFile(const std::string& path, std::uint64_t max_bytes);

// `prefix` + `name` in the first folder that has it, else built-in; nullopt if nowhere.
// Errors: kConfig for a name that would leave the folder; those of ReadAssetFile: what cannot be
// read is not passed over for the next folder.
Result<std::optional<Asset>> FindAsset(std::string_view prefix, std::string_view name,
                                       const AssetFolders& folders);

// Every name under `prefix` that ends in one of `endings`, of folders and built-in, sorted, once
// each, `prefix` removed. Symbolic links to folders are not followed. What has such a name but is
// no file is listed too, so that `prompts check` tells of it.
std::vector<std::string> ListAssets(std::string_view prefix,
                                    const std::vector<std::string_view>& endings,
                                    const AssetFolders& folders);

// Loads the templates that `layout` names into it, and checks what depends on them.
// Errors: kConfig, at the section that names an absent template.
Status LoadTemplates(const AssetFolders& folders, Layout* layout);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_LOOKUP_H_
