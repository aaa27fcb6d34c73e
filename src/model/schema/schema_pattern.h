// A regular expression of a schema, found anywhere in a text (ECMA-262 as far as PCRE2 agrees).
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pattern, SchemaPattern::Compile("^[a-z]+$"));
//   pattern->Find("abc");     // kFound
//
// Thread-safety: immutable; matching uses memory of its own.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_PATTERN_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_PATTERN_H_

#include <memory>
#include <string_view>

#include "base/result.h"

namespace dossier::model {

class SchemaPattern {
 public:
  enum class Found { kYes, kNo, kTooCostly };

  // Errors: kConfig with PCRE2's words and the offset.
  static Result<std::shared_ptr<const SchemaPattern>> Compile(std::string_view pattern);
  virtual ~SchemaPattern() = default;
  virtual Found Find(std::string_view text) const = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_SCHEMA_PATTERN_H_
