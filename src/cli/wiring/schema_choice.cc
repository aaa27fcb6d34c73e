#include "cli/wiring/schema_choice.h"

#include <filesystem>

#include "base/net/url.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

Result<model::SchemaSource> SourceFor(const config::Config& config, const GlobalFlags& global) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  model::SchemaSource source{.folders = {here, here + "/.dossier", here + "/.cllm"},
                             .cache_folder = config.user.cache + "/schemas"};
  DOSSIER_ASSIGN_OR_RETURN(source.rules, model::SchemaRulesOf(Environment));
  if (global.offline) source.rules.network = model::SchemaRules::Network::kOffline;
  return source;
}

}  // namespace

void AddSchemaFlags(Flags flags, std::string help, SchemaFlags* to) {
  flags.Add("--json-schema", &to->text, std::move(help));
  flags.Add("--json-schema-file", &to->file, "the same, from a file or address").Kind(kPath);
}

Result<std::optional<model::FoundSchema>> ChooseSchema(const SchemaFlags& flags,
                                                       const config::Config& config,
                                                       const GlobalFlags& global,
                                                       const CancelToken& cancel) {
  if (flags.text) return model::SchemaOfText(*flags.text, "--json-schema");
  std::string place = flags.file;
  if (place.empty() && config.json_schema) {
    DOSSIER_ASSIGN_OR_RETURN(model::JsonSchema schema,
                             model::JsonSchema::Compile(*config.json_schema));
    std::vector<std::string> warnings = schema.warnings();
    return model::FoundSchema{.schema = std::move(schema),
                              .origin = config.OriginOf("json_schema").ToText(),
                              .warnings = std::move(warnings)};
  }
  if (place.empty()) place = config.json_schema_file;
  if (place.empty()) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(model::SchemaSource source, SourceFor(config, global));
  if (IsWebAddress(place)) {
    DOSSIER_ASSIGN_OR_RETURN(source.fetch, model::FetchByHttp());
  }
  return source.Find(place, cancel);
}

}  // namespace dossier::cli
