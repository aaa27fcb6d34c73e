#include "app/model_endpoint.h"

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "model/local/local_server.h"
#include "model/scripted/serve_script.h"

namespace dossier::app {
namespace {

std::string Bearer(const std::string& key) { return "Authorization: Bearer " + key; }

Status ServeTheScript(const std::string& path, ModelEndpoint* endpoint) {
  DOSSIER_ASSIGN_OR_RETURN(auto script, model::Script::Load(path));
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  endpoint->script = Sha256Hex(text);
  DOSSIER_ASSIGN_OR_RETURN(endpoint->server, model::ServeScript(std::move(script), {}));
  endpoint->base_url = fmt::format("http://127.0.0.1:{}/v1", endpoint->server->port());
  return {};
}

Status FindTheLocalServer(ModelEndpoint* endpoint) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const auto server = model::FindLocalServer(data);
  if (!server) return MakeError(ErrorCode::kUnavailable, "the local server has ended");
  endpoint->base_url = fmt::format("http://127.0.0.1:{}/v1", server->port);
  endpoint->headers.push_back(Bearer(server->key));
  if (const auto weights = model::DefaultWeights(); weights.name == server->model) {
    endpoint->weights = weights.sha256;
  }
  return {};
}

}  // namespace

Result<ModelEndpoint> OpenEndpoint(const ModelSettings& settings,
                                   const std::function<void(std::string_view)>& say,
                                   const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(settings, say, cancel));
  ModelEndpoint endpoint{.bound = std::move(opened.root)};
  if (opened.provider == "scripted") {
    DOSSIER_RETURN_IF_ERROR(ServeTheScript(settings.script, &endpoint));
    return endpoint;
  }
  if (opened.provider == "local") {
    DOSSIER_RETURN_IF_ERROR(FindTheLocalServer(&endpoint));
    return endpoint;
  }
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data,
                           settings.config ? LoadModelData(*settings.config) : LoadModelData());
  const bool by_address = !settings.base_url.empty();
  const std::string& name = endpoint.bound.name;
  DOSSIER_ASSIGN_OR_RETURN(
      const model::Choice choice,
      data.catalog.Choose({.name = by_address ? name : opened.provider + "/" + name,
                           .base_url = settings.base_url,
                           .key_env = settings.key_env,
                           .config = data.config},
                          Environment));
  if (!choice.provider.speaks_openai()) {
    return MakeError(ErrorCode::kUnavailable,
                     "{} does not speak as OpenAI does; name a server that does, by --base-url",
                     choice.provider.name);
  }
  endpoint.base_url = endpoint.address = choice.provider.base_url;
  if (!choice.key.empty()) endpoint.headers.push_back(Bearer(choice.key));
  for (const auto& [header, value] : settings.headers) {
    endpoint.headers.push_back(header + ": " + value);
  }
  return endpoint;
}

}  // namespace dossier::app
