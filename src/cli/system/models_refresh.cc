// models refresh: asks the providers which models they have.

#include "base/clock.h"
#include "base/files/locations.h"
#include "base/json/json.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "cli/system/models_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "model/catalog/keys.h"
#include "model/providers/model_list.h"

namespace dossier::cli {
namespace {

using model::Catalog;
using model::Provider;

constexpr Millis kAnswerLimit{20'000};

struct RefreshArguments {
  std::string provider;
  bool json = false;
};

class Refreshing {
 public:
  Refreshing(const RefreshArguments& arguments, Context& context)
      : arguments_(arguments), context_(context) {}

  Result<int> Run() {
    DOSSIER_ASSIGN_OR_RETURN(config_, model::LoadUserConfig());
    // Ignores earlier lists: a damaged one is rewritten.
    DOSSIER_ASSIGN_OR_RETURN(catalog_, Catalog::Load(config_.data_files));
    DOSSIER_ASSIGN_OR_RETURN(data_folder_, DataFolder());
    if (!arguments_.provider.empty()) {
      const Provider* provider = catalog_.FindProvider(arguments_.provider);
      if (!provider || provider->base_url.empty()) {
        return MakeError(ErrorCode::kConfig, "there is no provider {} with a list of models",
                         arguments_.provider);
      }
      DOSSIER_RETURN_IF_ERROR(Ask(*provider));
    } else {
      AskAll();
    }
    if (list_.empty() && !failure_) {
      return MakeError(ErrorCode::kAuth,
                       "nobody to ask: no key is set and no server answers on this machine; "
                       "`dossier keys set PROVIDER` stores a key");
    }
    if (arguments_.json) {
      context_.out << ToJson(JsonObject{{"schema", "dossier.models-refresh/1"},
                                        {"providers", std::move(list_)}})
                   << "\n";
      context_.failure = FailureForm::kText;
    }
    if (failure_) return tl::unexpected(*failure_);
    return 0;
  }

 private:
  // Asks all reachable providers; a failure is reported and does not delay the others.
  void AskAll() {
    for (const Provider& provider : catalog_.providers()) {
      if (provider.base_url.empty() || !IsHere(provider)) continue;
      const Status asked = Ask(provider);
      if (asked) continue;
      if (failure_) PrintError(context_.err, *failure_);
      failure_ = asked.error();
    }
  }

  // Accepts a provider with a key, or a server that runs on this machine.
  bool IsHere(const Provider& provider) const {
    for (const auto places : {model::KeyPlaces::kVariables, model::KeyPlaces::kFiles}) {
      if (model::KeyPlace(provider, places, Environment, config_)) return true;
    }
    for (const model::LocalServer& server : Servers()) {
      if (server.provider == provider.name && !server.needs_key) return true;
    }
    return false;
  }

  const std::vector<model::LocalServer>& Servers() const {
    if (!servers_) {
      servers_ = model::ProbeLocalServers(model::UsualPlaces(catalog_, Environment));
    }
    return *servers_;
  }

  Status Ask(const Provider& wanted) {
    // Reaches it as `ask -m PROVIDER/…` would: address variables and key apply.
    DOSSIER_ASSIGN_OR_RETURN(
        const model::Choice choice,
        catalog_.Choose({.name = wanted.name + "/any", .config = config_}, Environment));
    const Provider& provider = choice.provider;
    const auto url = ParseUrl(provider.base_url);
    if (context_.flags.offline && !(url && url->is_loopback())) {
      return MakeError(ErrorCode::kNetwork, "--offline: {} is at {}", provider.name,
                       provider.base_url);
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<model::ListedModel> models,
                             FetchModelList(provider, choice.key, kAnswerLimit, context_.cancel));
    const auto today = FormatTime(SystemClock()->WallNow()).substr(0, 10);
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t added,
                             KeepModelList(data_folder_, provider, models, catalog_, today));
    list_.push_back(JsonObject{{"provider", provider.name},
                               {"base_url", provider.base_url},
                               {"models", models.size()},
                               {"added", added}});
    if (!arguments_.json) {
      context_.out << fmt::format("{:<12} {} models, {} that the model data do not have\n",
                                  provider.name, models.size(), added);
    }
    return {};
  }

  const RefreshArguments& arguments_;
  Context& context_;
  model::UserConfig config_;
  Catalog catalog_;
  std::string data_folder_;
  mutable std::optional<std::vector<model::LocalServer>> servers_;
  JsonArray list_;
  std::optional<Error> failure_;  // of the last provider that failed
};

Result<int> RefreshModels(const RefreshArguments& arguments, Context& context) {
  return Refreshing(arguments, context).Run();
}

void DeclareRefresh(Flags& flags, RefreshArguments& to) {
  flags.Add("--provider", &to.provider, "only of this provider");
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Command RefreshModelsCommand() {
  return {
      .name = "refresh",
      .summary = "ask the providers whose key is here, and servers of this machine, what they have",
      .binding = Bind(DeclareRefresh, RefreshModels)};
}

}  // namespace dossier::cli
