// The parsed trees of the built-in YAML files, made at build time.
//
//   if (auto tree = FindBuiltInYaml(text)) return TreeOf(*tree, /*first_line=*/0);
//
// yaml-cpp takes about 2,000 instructions per byte of text: reading data/models.yaml alone was half
// of the command's work before its first request. cmake/YamlTable.cmake makes the table with
// src/assembly/table/main.cc from every built-in .yaml file and the front matter of every template.
// The key is the text itself, so an unchanged copy in a user's folder is found too, and a changed
// one never is. Thread-safety: read-only data.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_YAML_TABLE_H_
#define DOSSIER_ASSEMBLY_LAYOUT_YAML_TABLE_H_

#include <optional>
#include <string_view>

#include "base/yaml/yaml.h"

namespace dossier::assembly {

// Returns the tree of exactly this text, for TreeOf.
std::optional<std::string_view> FindBuiltInYaml(std::string_view text);

// As ParseYaml, but a text that is built into the program was parsed at build time, which is about
// a hundred times cheaper.
Result<YamlNode> ReadYaml(std::string_view text, std::string_view file,
                          const YamlOptions& options = {});

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_YAML_TABLE_H_
