#include "cli/wiring/model_flags.h"

#include <iostream>

#include "base/files/locations.h"
#include "base/text/text.h"
#include "cli/wiring/model_pull.h"
#include "cli/wiring/sandbox_flags.h"

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

Result<driver::BoundModel> OpenChatModel(const ModelFlags& flags, const config::Config& config,
                                         const GlobalFlags& global,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(app::ModelSettings settings, SettingsOf(flags));
  settings.offline = global.offline;
  settings.first_use = OfferFirstUse(global);
  if (global.verbose > 0) settings.announce = app::ModelSettings::Announce::kYes;
  return app::OpenChatModel(std::move(settings), config, say, cancel);
}

namespace {

Result<std::string> Offer(const GlobalFlags& flags, const app::FirstUse& found,
                          const CancelToken& cancel) {
  // Not the stream of messages: a progress line has no place in a log file.
  std::ostream& err = std::cerr;
  for (const model::LocalServer& server : found.servers) {
    if (server.models.empty()) continue;
    const std::string name = server.provider + "/" + server.models[0];
    DOSSIER_ASSIGN_OR_RETURN(
        const bool use, Confirm(flags,
                                fmt::format("No key is set. A server answers at {}: ask its {}?",
                                            server.base_url, server.models[0]),
                                "-m " + ShellQuote(name), err, DefaultAnswer::kYes));
    if (use) {
      err << fmt::format("`dossier config set model {}` asks it from now on, unasked\n",
                         ShellQuote(name));
      return name;
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(const bool fetch,
                           Confirm(flags, "Fetch the local model, 1.1 GB?", "`dossier models pull`",
                                   err, DefaultAnswer::kYes));
  if (!fetch) return MakeError(ErrorCode::kNotFound, "{}", app::DescribeFirstUse(found));
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_RETURN_IF_ERROR(PullDefaultModel(data, cancel, err, err));
  return std::string("local");
}

}  // namespace

decltype(app::ModelSettings::first_use) OfferFirstUse(const GlobalFlags& flags) {
  if (flags.offline || (!flags.yes && !MayAsk(flags))) return {};
  return [flags](const app::FirstUse& found, const CancelToken& cancel) {
    return Offer(flags, found, cancel);
  };
}

}  // namespace dossier::cli
