#include "server/operations.h"

#include <algorithm>

#include "base/text/text.h"
#include "model/schema/json_schema.h"
#include "server/operation_list.h"
#include "server/owners.h"

namespace dossier::server {
namespace {

constexpr std::string_view kReads = R"({"readOnlyHint":true,"openWorldHint":false})";
constexpr std::string_view kAsks = R"({"readOnlyHint":true,"openWorldHint":true})";
constexpr std::string_view kWrites =
    R"({"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false})";

// A model pays for every word of this table in each of its sessions.
constexpr Operation kOperations[] = {
    {"open",
     "Free: load files, a folder, or text as a context of any size; nothing enters your window. "
     "Returns its id and what it is.",
     R"({"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}},"text":{"type":"string"},"name":{"type":"string"}},"additionalProperties":false})",
     kReads, OpenContextOperation},
    {"describe", "Free: format, size, fields, sections of a context; without id, lists contexts.",
     R"({"type":"object","properties":{"context":{"type":"string"}},"additionalProperties":false})",
     kReads, DescribeOperation},
    {"search", "Free: ranked search, or all matches of a regex (RE2). Hits carry places for read.",
     R"({"type":"object","properties":{"context":{"type":"string"},"query":{"type":"string"},"regex":{"type":"boolean"},"k":{"type":"integer","minimum":1,"maximum":100,"default":10}},"required":["context","query"],"additionalProperties":false})",
     kReads, SearchOperation},
    {"read",
     "Free: text at a place: 'a.txt:12-30' lines, 'b.csv#record=17-20' records, "
     "'a.txt@0-5000' characters.",
     R"({"type":"object","properties":{"context":{"type":"string"},"at":{"type":"string"},"max_chars":{"type":"integer","minimum":1,"maximum":100000,"default":20000}},"required":["context","at"],"additionalProperties":false})",
     kReads, ReadOperation},
    {"run",
     "Free: sandboxed Python over a context: records, doc, context, sql(query). No network, no "
     "files. Names persist in a session. Print what you need.",
     R"({"type":"object","properties":{"context":{"type":"string"},"code":{"type":"string"},"session":{"type":"string"}},"required":["context","code"],"additionalProperties":false})",
     kReads, RunOperation},
    {"ask",
     "Paid: a model answers a question over the whole context, with citations. If still running, "
     "call again with its run id.",
     R"({"type":"object","properties":{"context":{"type":"string"},"question":{"type":"string"},"run":{"type":"string"},"schema":{"type":"object"},"images":{"type":"object","description":"name: path"},"max_usd":{"type":"number"},"max_calls":{"type":"integer","minimum":1,"maximum":1000000000},"wait_s":{"type":"integer","minimum":0,"maximum":3600,"default":45}},"additionalProperties":false})",
     kAsks, AskOperation},
    {"estimate", "Free: calls, tokens and money an ask would need.",
     R"({"type":"object","properties":{"context":{"type":"string"},"question":{"type":"string"}},"required":["context","question"],"additionalProperties":false})",
     kReads, EstimateOperation},
    {"pack",
     "Free: the parts of a folder or context that matter for a task, within an exact token budget.",
     R"({"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}},"context":{"type":"string"},"task":{"type":"string"},"budget":{"type":"integer","minimum":100,"maximum":1000000000,"default":8000}},"additionalProperties":false})",
     kReads, PackOperation},
    {"remember", "Free: store a fact for later sessions.",
     R"({"type":"object","properties":{"text":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"ref":{"type":"string"}},"required":["text"],"additionalProperties":false})",
     kWrites, RememberOperation},
    {"recall", "Free: ranked search of stored facts.",
     R"({"type":"object","properties":{"query":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"k":{"type":"integer","minimum":1,"maximum":50,"default":8}},"required":["query"],"additionalProperties":false})",
     kReads, RecallOperation},
};

// Fills in the schema's defaults for absent arguments.
void FillDefaults(const Json& schema, JsonObject* arguments) {
  for (const auto& [name, about] : schema.at("properties").get_object()) {
    const Json* value = Find(about, "default");
    if (value && !arguments->contains(name)) (*arguments)[name] = *value;
  }
}

// Turns whole numbers such as 500.0, which a schema allows, into integers. Each integer of the
// table has a minimum and a maximum, so that it fits.
void MakeWhole(const Json& schema, JsonObject* arguments) {
  for (const auto& [name, about] : schema.at("properties").get_object()) {
    Json* value = arguments->if_contains(name);
    if (!value || TextAt(about, "type") != "integer" || !value->is_double()) continue;
    *value = static_cast<std::int64_t>(value->get_double());
  }
}

// Treats contexts and runs of other callers as absent.
Status CheckOwned(const JsonObject& arguments, const ApiCaller& caller) {
  if (!caller.owners) return {};
  for (const std::string_view what : {"context", "run"}) {
    const std::string id = TextAt(Json(arguments), what);
    if (id.empty() || caller.owners->Owns(caller.id, id)) continue;
    return MakeError(ErrorCode::kNotFound, "there is no {} {} of this key", what, id);
  }
  return {};
}

}  // namespace

std::span<const Operation> Operations() { return kOperations; }

const Operation* FindOperation(std::string_view name) {
  const auto* found = std::ranges::find(kOperations, name, &Operation::name);
  return found == std::end(kOperations) ? nullptr : found;
}

std::string PlainText(const Output& output) {
  std::string text;
  for (const TextPart& part : output.parts) text += part.text;
  return text;
}

Result<Output> Perform(const Operation& operation, Workspace& workspace, const Json& arguments,
                       const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(Json schema, ParseJson(operation.schema));
  DOSSIER_ASSIGN_OR_RETURN(const auto compiled, model::JsonSchema::Compile(schema));
  const Json given = arguments.is_null() ? Json(JsonObject()) : arguments;
  std::vector<std::string> wrong;
  for (const model::SchemaViolation& violation : compiled.Check(given)) {
    wrong.push_back(fmt::format("{} {}", violation.pointer.empty() ? "/" : violation.pointer,
                                violation.reason));
  }
  if (!wrong.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, about] : schema.at("properties").get_object()) names.emplace_back(name);
    return MakeError(ErrorCode::kInvalidArgument, "{}: {}; it takes {}", operation.name,
                     Join(wrong, "; "), Join(names, ", "));
  }
  JsonObject filled = given.get_object();
  FillDefaults(schema, &filled);
  MakeWhole(schema, &filled);
  DOSSIER_RETURN_IF_ERROR(CheckOwned(filled, scope.caller));
  return operation.run(workspace, filled, scope);
}

}  // namespace dossier::server
