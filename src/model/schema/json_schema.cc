#include "model/schema/json_schema.h"

#include "base/text/text.h"
#include "model/schema/schema_keywords.h"

namespace dossier::model {
namespace {

constexpr int kMostDepth = 200;                // nesting of schemas, including references
constexpr std::size_t kMostSteps = 1'000'000;  // schemas applied; alternatives can multiply

}  // namespace

void SchemaRun::Fail(std::string reason) {
  if (!full()) violations.push_back({pointer_, std::move(reason)});
}

SchemaPattern::Found SchemaRun::Finds(std::string_view pattern, std::string_view text) const {
  return compiled.patterns.find(pattern)->second->Find(text);
}

void SchemaRun::CheckBelow(const Json& schema, const Json& value, std::string_view step) {
  const std::size_t size = pointer_.size();
  pointer_ += '/';
  pointer_ += ReplaceAll(ReplaceAll(step, "~", "~0"), "/", "~1");
  Check(schema, value);
  pointer_.resize(size);
}

bool SchemaRun::Matches(const Json& schema, const Json& value) {
  const std::size_t most = most_;
  const std::size_t before = violations.size();
  most_ = before + 1;
  Check(schema, value);
  const bool valid = violations.size() == before;
  violations.resize(before);
  most_ = most;
  return valid;
}

void SchemaRun::Check(const Json& schema, const Json& value) {
  if (full()) return;
  if (schema.is_bool()) {
    if (!schema.get_bool()) Fail("may not be there");
    return;
  }
  if (++steps_ > kMostSteps) return Fail("was not checked to its end: the schema costs too much");
  if (depth_ >= kMostDepth) {
    return Fail(
        fmt::format("was not checked: the schema is nested more than {} levels, or refers to "
                    "itself without end",
                    kMostDepth));
  }
  ++depth_;
  CheckObject(schema.get_object(), value);
  --depth_;
}

void SchemaRun::CheckObject(const JsonObject& schema, const Json& value) {
  const Json* reference = Find(schema, "$ref");
  if (reference) {
    Check(*compiled.references.at(reference), value);
    if (compiled.draft == Draft::k7) return;  // draft 7 ignores the siblings of `$ref`
  }
  for (const auto& member : schema) {
    if (full()) return;
    const SchemaKeyword* keyword = FindKeyword(member.key(), compiled.draft);
    if (keyword && keyword->check) keyword->check(*this, member.value(), schema, value);
  }
}

Result<JsonSchema> JsonSchema::Compile(Json schema) {
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<const CompiledSchema> compiled,
                           CompileSchema(std::move(schema)));
  return JsonSchema(std::move(compiled));
}

std::vector<SchemaViolation> JsonSchema::Check(const Json& value, std::size_t most) const {
  SchemaRun run(*compiled_, most);
  run.Check(compiled_->json, value);
  return std::move(run.violations);
}

const std::vector<std::string>& JsonSchema::warnings() const { return compiled_->warnings; }
const Json& JsonSchema::json() const { return compiled_->json; }

}  // namespace dossier::model
