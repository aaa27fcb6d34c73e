// Does a value have the shape that a JSON Schema asks for? For replies of models.
//
//   DOSSIER_ASSIGN_OR_RETURN(const JsonSchema schema, JsonSchema::Compile(std::move(json)));
//   for (const SchemaViolation& violation : schema.Check(reply)) {
//     Say("{}: {}", violation.pointer, violation.reason);     // "/items/2/price: is -1, less than
//     0"
//   }
//
// Drafts 7 and 2020-12 (https://json-schema.org/specification), chosen by `$schema`, the latter if
// nothing is said. `$ref` reaches anywhere within the document, never outside of it. `format` and
// `content…` are annotations. `unevaluatedItems`, `unevaluatedProperties` and `$dynamicRef` are not
// applied; warnings() names them.
//
// A schema and a value may both be hostile: depth, steps and regular expressions are limited.
// Thread-safety: immutable; Check may be called from many threads.

#ifndef DOSSIER_MODEL_SCHEMA_JSON_SCHEMA_H_
#define DOSSIER_MODEL_SCHEMA_JSON_SCHEMA_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::model {

struct SchemaViolation {
  std::string pointer;  // JSON Pointer into the value; "" is the whole
  std::string reason;   // "is \"x\", which is no integer"
};

struct CompiledSchema;  // schema_keywords.h

class JsonSchema {
 public:
  // What a repair round tells a model.
  static constexpr std::size_t kMostViolations = 20;

  // Errors: kConfig, "schema, at /properties/n/minimum: …": a keyword with a value that it cannot
  // have, a pattern that is no regular expression, a `$ref` that leads nowhere or out of the
  // document.
  static Result<JsonSchema> Compile(Json schema);

  // In the order of the schema; empty if `value` is valid.
  std::vector<SchemaViolation> Check(const Json& value, std::size_t most = kMostViolations) const;

  const std::vector<std::string>& warnings() const;
  const Json& json() const;  // as given

 private:
  explicit JsonSchema(std::shared_ptr<const CompiledSchema> compiled)
      : compiled_(std::move(compiled)) {}

  std::shared_ptr<const CompiledSchema> compiled_;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_JSON_SCHEMA_H_
