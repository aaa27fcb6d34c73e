#include "cli/wiring/model_flags.h"

#include "base/text/text.h"
#include "cli/wiring/first_use.h"
#include "cli/wiring/quantity_flags.h"

namespace dossier::cli {
namespace {

// K=V, V as JSON where it is JSON, else as text.
Result<JsonObject> ParseParams(const std::vector<std::string>& params) {
  JsonObject out;
  for (const std::string& param : params) {
    const auto equals = param.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorCode::kUsage, "--param {}: write it as NAME=VALUE", param);
    }
    const std::string value = param.substr(equals + 1);
    auto json = ParseJson(value);
    out[param.substr(0, equals)] = json ? std::move(*json) : Json(value);
  }
  return out;
}

}  // namespace

Result<app::ModelSettings> SettingsOf(const ModelFlags& flags) {
  app::ModelSettings settings = flags;
  DOSSIER_ASSIGN_OR_RETURN(settings.sent, ParseParams(flags.params));
  DOSSIER_ASSIGN_OR_RETURN(settings.deadline, ReadTimeFlag("--timeout", flags.timeout));
  DOSSIER_ASSIGN_OR_RETURN(settings.idle_limit, ReadTimeFlag("--idle-timeout", flags.idle_timeout));
  return settings;
}

Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global) {
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(config, &flags));
  flags.offline = global.offline;
  flags.first_use = OfferFirstUse(global);
  return flags;
}

Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const app::ModelSettings settings, SettingsOf(flags));
  return app::OpenModel(settings, say, cancel);
}

}  // namespace dossier::cli
