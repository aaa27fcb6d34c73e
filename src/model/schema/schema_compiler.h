// A schema made ready: keywords checked, references resolved, patterns compiled. Shared by
// json_schema.cc and the keywords' checks, and by nobody else.
//
// Thread-safety: plain data; immutable once made.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_COMPILER_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_COMPILER_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "model/schema/schema_pattern.h"

namespace dossier::model {

enum class Draft { k7, k2020 };

struct CompiledSchema {
  Json json;
  Draft draft = Draft::k2020;
  std::unordered_map<const Json*, const Json*> references;  // value of a `$ref` -> schema
  std::map<std::string, std::shared_ptr<const SchemaPattern>, std::less<>> patterns;
  std::vector<std::string> warnings;
};

// Errors: as JsonSchema::Compile.
Result<std::shared_ptr<const CompiledSchema>> CompileSchema(Json schema);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_SCHEMA_COMPILER_H_
