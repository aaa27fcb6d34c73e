// The built-in files of layouts/, prompts/, data/ and workers/python/, compiled into the program.
//
//   std::optional<std::string_view> text = BuiltInAsset("layouts/recursion.small.yaml");
//
// Thread-safety: read-only data.

#ifndef DOSSIER_BASE_ASSETS_H_
#define DOSSIER_BASE_ASSETS_H_

#include <optional>
#include <string_view>
#include <vector>

namespace dossier {

std::optional<std::string_view> BuiltInAsset(std::string_view path);
// All paths that start with `prefix`, sorted.
std::vector<std::string_view> BuiltInAssets(std::string_view prefix);

}  // namespace dossier

#endif  // DOSSIER_BASE_ASSETS_H_
