// dossier-yaml-table OUTPUT: writes the built-in YAML and its trees at build time (yaml_table.h).

#include <cstdio>

#include "assembly/layout/front_matter.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {
namespace {

void AppendText(std::string_view text, std::string* table) {
  AppendNumber(text.size(), table);
  *table += text;
}

Status AddYaml(std::string_view yaml, std::string_view path, std::string* table) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(yaml, path));
  std::string tree;
  AppendTree(root, &tree);
  AppendText(yaml, table);
  AppendText(tree, table);
  return {};
}

Status Make(const char* output) {
  std::string table;
  for (const std::string_view path : BuiltInAssets("")) {
    const std::string_view text = *BuiltInAsset(path);
    if (path.ends_with(".yaml")) DOSSIER_RETURN_IF_ERROR(AddYaml(text, path, &table));
    if (!path.ends_with(".md")) continue;
    DOSSIER_ASSIGN_OR_RETURN(const FrontMatter front, SplitFrontMatter(text, path));
    if (front.yaml.empty()) continue;
    DOSSIER_RETURN_IF_ERROR(AddYaml(front.yaml, path, &table));
  }
  return WriteFileAtomic(output, table);
}

}  // namespace
}  // namespace dossier::assembly

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dossier-yaml-table OUTPUT\n");
    return 2;
  }
  const dossier::Status made = dossier::assembly::Make(argv[1]);
  if (made) return 0;
  std::fprintf(stderr, "dossier-yaml-table: %s\n", made.error().message.c_str());
  return dossier::ExitCode(made.error().code);
}
