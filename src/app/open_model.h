// Chooses the model that flags and configuration name, and opens it.
//
//   ModelSettings settings{.model = "gpt-5-mini"};
//   DOSSIER_RETURN_IF_ERROR(ApplyConfig(config, &settings));
//   DOSSIER_ASSIGN_OR_RETURN(OpenedModel model, OpenModel(settings, say, cancel));
//
// Thread-safety: functions over files, the environment and the network.

#ifndef DOSSIER_APP_OPEN_MODEL_H_
#define DOSSIER_APP_OPEN_MODEL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "chat/context/compact.h"
#include "config/config.h"
#include "driver/bound_model.h"
#include "model/catalog/catalog.h"
#include "model/providers/connect.h"
#include "model/providers/model_list.h"
#include "tokens/files/open.h"

namespace dossier::app {

// What could answer where the local model is meant and its weights are not here.
struct FirstUse {
  std::vector<model::LocalServer> servers;  // of this machine; empty if the local model was named
};
// What a person can do then, the commands as they are typed: "no model is here yet: …".
std::string DescribeFirstUse(const FirstUse& found);

struct ModelSettings {
  // "NAME", "PROVIDER/NAME", or "ADDRESS#NAME" as StoredName writes. Of plain sub-calls; of
  // children.
  std::string model, sub_model, child_model;
  std::vector<std::string> named_models;  // NAME=MODEL: more that code may ask for by NAME
  std::string base_url, key_env, script;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_output;
  JsonObject sent;                     // passed to the provider, above `defaults`
  std::optional<std::int64_t> window;  // of a model whose window the model data do not say
  std::optional<int> concurrency;      // unset: what the model data say of the provider
  std::vector<std::string> prices;     // [NAME=]IN/OUT, US dollars for a million tokens
  Millis deadline{300'000}, idle_limit{60'000};  // of one request
  int retries = 4;
  std::string record, replay;  // files with requests and replies
  // What ApplyConfig adds.
  std::optional<model::UserConfig> config;     // unset: the user's own file alone
  JsonObject defaults;                         // below `sent`
  std::map<std::string, std::string> headers;  // extra_headers
  bool offline = false;                        // nothing leaves this machine
  // A limit of cost is set: a model whose price is unknown is refused before anything is sent.
  bool needs_price = false;
  // kLookedAt: no key is looked for, nothing is started, installed or written.
  enum class Use { kAsked, kLookedAt } use = Use::kAsked;
  // Asked on first use; returns the name of the model to use, which is there by then, or
  // DescribeFirstUse as an error. Unset: the error.
  std::function<Result<std::string>(const FirstUse& found, const CancelToken& cancel)> first_use;
  // kYes: OpenChatModel tells which model it is and why.
  enum class Announce { kNo, kYes } announce = Announce::kNo;
};

// "ADDRESS#NAME" becomes two settings; an address that is given besides counts more.
void SplitAddress(ModelSettings* settings);

// Fills what `settings` leave open from the configuration. Provider access counts for the model
// that the configuration means, not for one that is named with its provider. Errors: kConfig with
// FILE:LINE:COL.
Status ApplyConfig(const config::Config& config, ModelSettings* settings);

struct OpenedModel {
  driver::BoundModel root, sub;
  std::optional<driver::BoundModel> child;          // unset: `sub`
  std::map<std::string, driver::BoundModel> named;  // by the name that code gives
  std::string description, why;
  std::string provider, dialect;  // of the root model: how its requests are written
};

// `say` gets progress lines for a person; what is assumed of an unknown model comes once a model
// and user. Errors: as Catalog::Choose and Connect; kUsage for settings that no model can have.
Result<OpenedModel> OpenModel(const ModelSettings& settings,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel);

// Whether the price of each of them is known. Errors: as of ModelSettings::needs_price, kUsage.
Status CheckPrices(const OpenedModel& opened);

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

// The counter of a command that counts for a model and asks none: by --encoding or by -m.
//
//   DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenCounter({.encoding = "cl100k_base"}));
//   DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice, ChooseWithoutKey("gpt-5-mini"));
//
// A model's counter is opened as model/providers/connect.h opens it for the engine: by the model's
// entry, as the user's config extends it. No key is needed. Thread-safety: functions over files.

struct CounterChoice {
  std::string encoding, model;  // both empty: o200k_base
  const config::Config* config = nullptr;
};

// `note`, if given, becomes a sentence where the model that counts is not the one of that name: a
// provider's default, or one that no file knows.
// Errors: kUsage (both are given; no such encoding, with the nearest), kConfig (no such model, with
// the nearest; the config), as tokens::Open for files.
Result<tokens::Opened> OpenCounter(const CounterChoice& choice, std::string* note = nullptr);

// The folder of counts that are kept by content (tokens/files/count_cache.h); empty for counts that
// are not exact, which cost nothing.
std::string CountsFolder(const tokens::Opened& opened);

// The model `name`, or the one that the config or a key says if it is empty. Without `config` only
// the user's own file counts, and no address of it. Errors: as model::Catalog::Choose.
Result<model::Choice> ChooseWithoutKey(const std::string& name,
                                       const config::Config* config = nullptr);

// A model as a conversation uses it, and how its history is kept short.
//
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model,
//                            OpenChatModel({.model = "local"}, config, say, cancel));
//
// Thread-safety: as OpenModel.

// The name that was asked for, with the address where one was given: "http://pool:8000/v1#qwen3".
// ApplyConfig takes it apart. Empty: no model is named.
std::string AskedName(const ModelSettings& asked);

// What the conversation's file says of a model, so that a later turn finds it again: its AskedName,
// else what was chosen.
std::string StoredName(const ModelSettings& asked, const OpenedModel& opened);

// A model that is open already; `stored` as BoundModel::stored.
driver::BoundModel ChatModelOf(const OpenedModel& opened, std::string stored);

// With `debug` of the configuration `say` is told which model it is, too. Errors: as ApplyConfig
// and OpenModel.
Result<driver::BoundModel> OpenChatModel(ModelSettings settings, const config::Config& config,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel);

chat::CompactionLimits LimitsOf(const config::CompactionSettings& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_OPEN_MODEL_H_
