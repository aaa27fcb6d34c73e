// The table of schema keywords: the value that each takes, and its check.
//
// A new keyword is a row here; both the compiler and the check use it. Thread-safety: constant
// data.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_KEYWORDS_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_KEYWORDS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "model/schema/json_schema.h"

namespace dossier::model {

// A compiled schema: keywords checked, references resolved, patterns compiled. Only json_schema.cc
// and the keywords' checks use it.
//
// Thread-safety: plain data; immutable once made.

// A regular expression of a schema, searched anywhere in a text (ECMA-262 as far as PCRE2 agrees).
// Immutable; each match uses its own memory.
class SchemaPattern {
 public:
  enum class Found { kYes, kNo, kTooCostly };

  // Errors: kConfig with PCRE2's message and the offset.
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

// The required form of a keyword's value.
enum class SchemaShape {
  kAny,
  kList,  // any values
  kNumber,
  kPositive,  // a number above 0
  kCount,     // a whole number from 0
  kBoolean,
  kString,
  kPattern,    // a regular expression
  kReference,  // for `$ref`
  kTypes,      // a type name, or a list of them
  kNames,      // a list of strings
  kNamesMap,   // a map of lists of strings
  kSchema,
  kSchemaOrList,
  kSchemaList,  // not empty
  kSchemaMap,
  kPatternMap,        // a map from patterns to schemas
  kSchemaOrNamesMap,  // `dependencies` of draft 7
  kIgnored,           // a keyword that is not applied, with a warning
};

// One validation of a value.
class SchemaRun {
 public:
  SchemaRun(const CompiledSchema& schema, std::size_t most) : compiled(schema), most_(most) {}

  void Check(const Json& schema, const Json& value);
  // The same for a nested value: `step` is a member's name or an index.
  void CheckBelow(const Json& schema, const Json& value, std::string_view step);
  // Returns true if `value` is valid; records no violations.
  bool Matches(const Json& schema, const Json& value);
  void Fail(std::string reason);
  SchemaPattern::Found Finds(std::string_view pattern, std::string_view text) const;
  bool full() const { return violations.size() >= most_; }

  const CompiledSchema& compiled;
  std::vector<SchemaViolation> violations;

 private:
  void CheckObject(const JsonObject& schema, const Json& value);

  std::size_t most_;
  std::string pointer_;
  int depth_ = 0;
  std::size_t steps_ = 0;
};

struct SchemaKeyword {
  std::string_view name;
  SchemaShape shape;
  // `word` is the keyword's value in `schema`. Null: checked by another keyword, or not at all.
  void (*check)(SchemaRun& run, const Json& word, const JsonObject& schema, const Json& value);
  enum class In { kBoth, k7, k2020 } drafts = In::kBoth;
};

// Returns nullptr if this draft has no such keyword.
const SchemaKeyword* FindKeyword(std::string_view name, Draft draft);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_SCHEMA_KEYWORDS_H_
