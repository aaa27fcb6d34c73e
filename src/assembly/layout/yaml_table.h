// The trees of the YAML that is part of the program, parsed when it was built.
//
//   if (auto tree = FindBuiltInYaml(text)) return TreeOf(*tree, /*first_line=*/0);
//
// yaml-cpp takes some 2,000 instructions for a byte of text: reading data/models.yaml alone was
// half of what the command did before its first request. cmake/YamlTable.cmake makes the table with
// src/assembly/table/main.cc from every built-in .yaml file and the front matter of every template.
// It is looked up by the text itself, so a copy in a folder of the user is found, too, and a
// changed one never is. Thread-safety: read-only data.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_YAML_TABLE_H_
#define DOSSIER_ASSEMBLY_LAYOUT_YAML_TABLE_H_

#include <optional>
#include <string_view>

#include "base/yaml/yaml.h"

namespace dossier::assembly {

// The tree of exactly this text, for TreeOf.
std::optional<std::string_view> FindBuiltInYaml(std::string_view text);

// As ParseYaml. A text that is part of the program was parsed when the program was built, and costs
// a hundredth.
Result<YamlNode> ReadYaml(std::string_view text, std::string_view file,
                          const YamlOptions& options = {});

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_YAML_TABLE_H_
