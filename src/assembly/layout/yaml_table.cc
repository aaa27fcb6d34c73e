#include "assembly/layout/yaml_table.h"

#include "base/yaml/yaml.h"

extern "C" const char dossier_yaml_table[], dossier_yaml_table_end[];  // cmake/YamlTable.cmake

namespace dossier::assembly {

std::optional<std::string_view> FindBuiltInYaml(std::string_view text) {
  std::string_view rest(dossier_yaml_table,
                        static_cast<std::size_t>(dossier_yaml_table_end - dossier_yaml_table));
  while (!rest.empty()) {
    const std::string_view yaml = TakeText(&rest);
    const std::string_view tree = TakeText(&rest);
    if (yaml == text) return tree;
  }
  return std::nullopt;
}

Result<YamlNode> ReadYaml(std::string_view text, std::string_view file,
                          const YamlOptions& options) {
  if (const auto tree = FindBuiltInYaml(text)) return TreeOf(*tree, options.first_line);
  return ParseYaml(text, file, options);
}

}  // namespace dossier::assembly
