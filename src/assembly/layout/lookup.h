// Finds layouts and templates: in the user's folders first, then among the built-in files.
//
//   auto asset = FindAsset("prompts/", "recursion/ready.md", folders);
//   if (*asset) Use((*asset)->text, (*asset)->path);
//
// Thread-safety: pure functions; files are only read.

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
  std::string path;  // for messages; a built-in file is "builtin:layouts/x.yaml"
  std::string text;
  enum class From { kFolder, kBuiltIn } from = From::kBuiltIn;
};

// Reads a file that a user wrote for a prompt; returns nullopt if there is no file of this name.
// Errors: kConfig as "PATH:LINE:COL: reason" if the path exists but is not a readable UTF-8 file: a
// folder, a pipe, a dangling link, invalid bytes, a byte order mark.
Result<std::optional<std::string>> ReadAssetFile(const std::string& path, std::uint64_t max_bytes);

// Finds `prefix` + `name` in the first folder that has it, else among the built-in files; nullopt
// if it is nowhere. Errors: kConfig for a name that would leave the folder; those of ReadAssetFile:
// an unreadable file is not skipped in favour of the next folder.
Result<std::optional<Asset>> FindAsset(std::string_view prefix, std::string_view name,
                                       const AssetFolders& folders);

// Lists every name under `prefix` that ends in one of `endings`, in the folders and built in:
// sorted, without duplicates, `prefix` removed. Symbolic links to folders are not followed. Entries
// that are not files are listed too, so that `prompts check` reports them.
std::vector<std::string> ListAssets(std::string_view prefix,
                                    const std::vector<std::string_view>& endings,
                                    const AssetFolders& folders);

// Loads the templates that `layout` names into it, and checks everything that depends on them.
// Errors: kConfig, at the section that names a missing template.
Status LoadTemplates(const AssetFolders& folders, Layout* layout);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_LOOKUP_H_
