#include "research/call/reply_forms.h"

#include "assembly/layout/yaml_table.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "research/files/replies.h"

namespace dossier::research {
namespace {

constexpr std::string_view kFile = "data/research_replies.yaml";

tl::unexpected<Error> Refuse(std::string reason) {
  return tl::unexpected(Error{ErrorCode::kInvalidArgument, std::move(reason)});
}

// Checks that all prefixes occur, and that the first one, which is a name, has a value.
Status CheckKeywords(const CallSite& site, std::string_view payload) {
  const std::vector<std::string_view> prefixes = KeywordsOf(site.keywords);
  const auto values = ReadKeywords(payload, prefixes);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    if (!values[i]) return Refuse(fmt::format("no line begins with \"{}:\"", prefixes[i]));
  }
  if (values[0]->empty()) return Refuse(fmt::format("nothing stands behind \"{}:\"", prefixes[0]));
  return {};
}

Status CheckText(const CallSite& site, std::string_view payload) {
  switch (site.reply) {
    case PayloadForm::kKeywords:
      return CheckKeywords(site, payload);
    case PayloadForm::kPython: {
      DOSSIER_ASSIGN_OR_RETURN(const PlanAndScript script, ReadPython(payload));
      if (script.plan.empty()) return Refuse("there is no plan before the script");
      return {};
    }
    case PayloadForm::kPythonOrDone:
      if (SaysDone(payload)) return {};
      return ReadPython(payload).map([](const PlanAndScript&) {});
    case PayloadForm::kLatex:
      return ReadLatex(payload).map([](const std::string&) {});
    case PayloadForm::kLatexOrDone:
      if (SaysDone(payload)) return {};
      return ReadLatex(payload).map([](const std::string&) {});
    default:
      return {};  // text; artefacts are parsed by the code that runs them
  }
}

}  // namespace

Result<ReplySchemas> ReplySchemas::Load() {
  ReplySchemas out;
  const auto text = BuiltInAsset(kFile);
  if (!text) return MakeError(ErrorCode::kInternal, "{} is not built in", kFile);
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode nodes, assembly::ReadYaml(*text, kFile));
  const Json all = ToJsonValue(nodes);
  for (const auto& [name, schema] : all.get_object()) {
    DOSSIER_ASSIGN_OR_RETURN(model::JsonSchema compiled, model::JsonSchema::Compile(schema));
    out.schemas_.emplace(std::string(name), std::move(compiled));
  }
  return out;
}

const model::JsonSchema* ReplySchemas::Of(const CallSite& site) const {
  const auto found = schemas_.find(site.schema);
  return found == schemas_.end() ? nullptr : &found->second;
}

Result<Payload> ReplySchemas::ReadObject(const CallSite& site, std::string_view payload) const {
  const bool thought = site.reply == PayloadForm::kThoughtJson;
  DOSSIER_ASSIGN_OR_RETURN(JsonReply reply,
                           thought ? ReadThoughtAndJson(payload) : ReadJsonReply(payload));
  std::string wrong;
  for (const model::SchemaViolation& violation : Of(site)->Check(reply.value)) {
    wrong +=
        fmt::format("{}{}: {}", wrong.empty() ? "" : "; ",
                    violation.pointer.empty() ? "the object" : violation.pointer, violation.reason);
  }
  if (!wrong.empty()) return Refuse("the JSON has not the fields that are asked for: " + wrong);
  return Payload{.text = ToJson(reply.value), .warnings = std::move(reply.warnings)};
}

Result<Payload> ReplySchemas::Read(const CallSite& site, std::string_view payload) const {
  if (Of(site)) return ReadObject(site, payload);
  DOSSIER_RETURN_IF_ERROR(CheckText(site, payload));
  return Payload{.text = std::string(payload)};
}

}  // namespace dossier::research
