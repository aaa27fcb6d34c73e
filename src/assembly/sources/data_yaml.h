// Data as YAML, for sections with `render: yaml`.
//
//   RenderYaml({{"Task", "Do it"}, {"tags", {"a", "b"}}})   // "Task: Do it\ntags:\n  - a\n  - b\n"
//
// Block style, keys in their order, nothing left out. Every reader of YAML 1.1 or 1.2 gets the same
// data back: what could be read as another type is quoted. Thread-safety: pure function.

#ifndef DOSSIER_ASSEMBLY_SOURCES_DATA_YAML_H_
#define DOSSIER_ASSEMBLY_SOURCES_DATA_YAML_H_

#include <string>

#include "base/json/json.h"

namespace dossier::assembly {

std::string RenderYaml(const Json& data);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_SOURCES_DATA_YAML_H_
