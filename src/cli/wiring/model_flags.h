// The flags that every command with a model has, and what they open.
//
//   DOSSIER_ASSIGN_OR_RETURN(OpenedModel model, OpenModel(flags, say, cancel));

#ifndef DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
#define DOSSIER_CLI_WIRING_MODEL_FLAGS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "base/cancel.h"
#include "cli/wiring/global_flags.h"
#include "model/providers/connect.h"

namespace dossier::cli {

struct ModelFlags {
  std::string model, sub_model;
  std::string base_url, key_env, script;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_output;
  std::vector<std::string> params;     // K=V
  std::optional<std::int64_t> window;  // of a model whose window the model data do not say
  std::optional<int> concurrency;      // unset: what the model data say of the provider
  std::vector<std::string> prices;     // [NAME=]IN/OUT
  std::string timeout = "300s", idle_timeout = "60s";
  int retries = 4;
  std::string record, replay;  // files (MOD-25)
  // Not flags: what WithConfig adds.
  std::optional<model::UserConfig> config;     // unset: the user's own file alone
  JsonObject defaults;                         // params below --param
  std::map<std::string, std::string> headers;  // extra_headers
  bool offline = false;                        // --offline
  // A limit of cost is set: a model whose price is unknown is refused before anything is sent.
  bool needs_price = false;
  // kLookedAt (--dry-run): no key is looked for, nothing is started, installed or written.
  enum class Use { kAsked, kLookedAt } use = Use::kAsked;
};

// `flags` with what they leave open taken from the configuration: flag > DOSSIER_ variable > files.
// Provider access counts for the model that the configuration means, not for one that a flag names
// with its provider. Errors: kConfig with FILE:LINE:COL.
Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global);

struct OpenedModel {
  ask::BoundModel root, sub;
  model::Sampling sampling;
  Millis deadline{300'000}, idle_limit{60'000};  // of one request
  std::string description, why;
  std::string provider, dialect;  // of the root model: how its requests are written
};

// `say` gets progress lines for stderr. Errors: as Catalog::Choose and Connect; kUsage for a bad
// flag.
Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel);

std::optional<std::string> Environment(std::string_view name);

// The model data as the configuration extends it, and what that says about models.
struct ModelData {
  model::UserConfig config;
  model::Catalog catalog;
};
// From the user's own file alone, or from all layers.
// Errors: kConfig with FILE:LINE:COL; kRefused (a config that others may write).
Result<ModelData> LoadModelData();
Result<ModelData> LoadModelData(model::UserConfig config);
// What every connection takes from config and catalog.
model::ConnectOptions ConnectOptionsFor(const ModelData& data, const model::Choice& choice);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
