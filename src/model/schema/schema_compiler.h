// A schema made ready: keywords checked, references resolved, patterns compiled. Shared by
// json_schema.cc and the keywords' checks, and by nobody else.
//
// Thread-safety: plain data; immutable once made.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_COMPILER_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_COMPILER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::model {

// A regular expression of a schema, found anywhere in a text (ECMA-262 as far as PCRE2 agrees).
// Immutable; matching uses memory of its own.
class SchemaPattern {
 public:
  enum class Found { kYes, kNo, kTooCostly };

  // Errors: kConfig with PCRE2's words and the offset.
  static Result<std::shared_ptr<const SchemaPattern>> Compile(std::string_view pattern);
  virtual ~SchemaPattern() = default;
  virtual Found Find(std::string_view text) const = 0;
};

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
