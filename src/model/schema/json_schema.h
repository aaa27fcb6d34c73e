// Checks values, such as models' replies, against a JSON Schema.
//
//   DOSSIER_ASSIGN_OR_RETURN(const JsonSchema schema, JsonSchema::Compile(std::move(json)));
//   for (const SchemaViolation& violation : schema.Check(reply)) {
//     Say("{}: {}", violation.pointer, violation.reason);     // "/items/2/price: is -1, less than
//     0"
//   }
//
// Supports drafts 7 and 2020-12 (https://json-schema.org/specification), selected by `$schema`; the
// default is 2020-12. `$ref` must stay within the document. `format` and `content…` are
// annotations. `unevaluatedItems`, `unevaluatedProperties` and `$dynamicRef` are not applied;
// warnings() names them.
//
// Both a schema and a value may be hostile: depth, steps and regular expressions are limited.
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
  std::string pointer;  // JSON Pointer into the value; "" is the whole value
  std::string reason;   // "is \"x\", which is no integer"
};

struct CompiledSchema;  // schema_keywords.h

class JsonSchema {
 public:
  // The most violations that a repair round reports to a model.
  static constexpr std::size_t kMostViolations = 20;

  // Errors: kConfig, "schema, at /properties/n/minimum: …": a keyword with an invalid value, an
  // invalid regular expression, a `$ref` to nothing or outside the document.
  static Result<JsonSchema> Compile(Json schema);

  // Returns violations in schema order; empty if `value` is valid.
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
