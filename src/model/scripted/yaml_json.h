// YAML nodes as JSON values, for files that may be written either way. Only for .cc files: yaml-cpp
// stays out of the module's headers.
//
//   Json arguments = YamlToJson(node["arguments"]);
//
// Plain scalars become null, booleans and numbers by YAML's core schema; quoted ones stay text.
// Throws YAML::Exception for nodes deeper than 64. Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_SCRIPTED_YAML_JSON_H_
#define DOSSIER_MODEL_SCRIPTED_YAML_JSON_H_

#include <yaml-cpp/yaml.h>

#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::model {

Json YamlToJson(const YAML::Node& node, int depth = 0);
YAML::Node JsonToYaml(const Json& value);

// kConfig with "FILE:LINE:COL: reason".
tl::unexpected<Error> YamlError(std::string_view file, const YAML::Mark& mark,
                                std::string_view reason);

// Text that is YAML or JSON. Errors: as YamlError.
Result<YAML::Node> ParseYaml(std::string_view text, std::string_view file);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCRIPTED_YAML_JSON_H_
