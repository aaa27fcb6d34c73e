// Chooses and opens the model that flags and configuration name.
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

// The alternatives if the local model is chosen but its weights are missing.
struct FirstUse {
  std::vector<model::LocalServer> servers;  // on this machine; empty if the local model was named
};
// Returns what a person can do then, with commands as typed: "no model is here yet: …".
std::string DescribeFirstUse(const FirstUse& found);

struct ModelSettings {
  // Each is "NAME", "PROVIDER/NAME", or "ADDRESS#NAME" as written by StoredName. sub_model is for
  // plain sub-calls, child_model for children.
  std::string model, sub_model, child_model;
  std::vector<std::string> named_models;  // NAME=MODEL: more models that code may ask for by NAME
  std::string base_url, key_env, script;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_output;
  JsonObject sent;                               // passed to the provider, overrides `defaults`
  std::optional<std::int64_t> window;            // of a model missing from the model data
  std::optional<int> concurrency;                // unset: the provider's, from the model data
  std::vector<std::string> prices;               // [NAME=]IN/OUT, US dollars per million tokens
  Millis deadline{300'000}, idle_limit{60'000};  // per request
  int retries = 4;
  std::string record, replay;  // files with requests and replies
  // Set by ApplyConfig.
  std::optional<model::UserConfig> config;     // unset: only the user's own file
  JsonObject defaults;                         // overridden by `sent`
  std::map<std::string, std::string> headers;  // extra_headers
  bool offline = false;                        // nothing may leave this machine
  // True if a cost limit is set: a model with an unknown price is refused before anything is sent.
  bool needs_price = false;
  // kLookedAt: no key is searched, nothing is started, installed or written.
  enum class Use { kAsked, kLookedAt } use = Use::kAsked;
  // Asked on first use. Returns the name of the model to use, which must then exist, or
  // DescribeFirstUse as an error. Unset: that error.
  std::function<Result<std::string>(const FirstUse& found, const CancelToken& cancel)> first_use;
  // kYes: OpenChatModel reports which model it uses and why.
  enum class Announce { kNo, kYes } announce = Announce::kNo;
};

// Splits "ADDRESS#NAME" into two settings; a separately given address takes precedence.
void SplitAddress(ModelSettings* settings);

// Fills unset `settings` from the configuration. Configured provider access applies to the model
// that the configuration means, not to one named with its provider. Errors: kConfig with
// FILE:LINE:COL.
Status ApplyConfig(const config::Config& config, ModelSettings* settings);

struct OpenedModel {
  driver::BoundModel root, sub;
  std::optional<driver::BoundModel> child;          // unset: `sub`
  std::map<std::string, driver::BoundModel> named;  // by the name that code uses
  std::string description, why;
  std::string provider, dialect;  // of the root model: its request format
};

// `say` gets progress lines for a person, and once per model and user what is assumed about an
// unknown model. Errors: as Catalog::Choose and Connect; kUsage for unsupported settings.
Result<OpenedModel> OpenModel(const ModelSettings& settings,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel);

// Checks that the price of each model is known. Errors: as ModelSettings::needs_price, kUsage.
Status CheckPrices(const OpenedModel& opened);

std::optional<std::string> Environment(std::string_view name);

// The model data as extended by the configuration, and what the configuration says about models.
struct ModelData {
  model::UserConfig config;
  model::Catalog catalog;
};
// Reads only the user's own file, or all layers. Errors: kConfig with FILE:LINE:COL; kRefused (a
// config that others may write).
Result<ModelData> LoadModelData();
Result<ModelData> LoadModelData(model::UserConfig config);
// Returns the options that every connection takes from config and catalog.
model::ConnectOptions ConnectOptionsFor(const ModelData& data, const model::Choice& choice);

// Opens the token counter of a command that asks no model: by --encoding or by -m.
//
//   DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenCounter({.encoding = "cl100k_base"}));
//   DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice, ChooseWithoutKey("gpt-5-mini"));
//
// A model's counter is opened as model/providers/connect.h does for the engine: by the model's
// entry, as extended by the user's config. No key is needed. Thread-safety: functions over files.

struct CounterChoice {
  std::string encoding, model;  // both empty: o200k_base
  const config::Config* config = nullptr;
};

// `note`, if given, gets a sentence if the model that counts is not the one of that name: a
// provider's default, or an unknown one. Errors: kUsage (both are given; no such encoding, with the
// nearest), kConfig (no such model, with the nearest; the config), as tokens::Open for files.
Result<tokens::Opened> OpenCounter(const CounterChoice& choice, std::string* note = nullptr);

// Returns the folder of counts cached by content (tokens/files/count_cache.h); empty for counts
// that are not exact, which are cheap.
std::string CountsFolder(const tokens::Opened& opened);

// Returns the model `name`, or if empty the one of the config or a key. Without `config`, reads
// only the user's own file and ignores its address. Errors: as model::Catalog::Choose.
Result<model::Choice> ChooseWithoutKey(const std::string& name,
                                       const config::Config* config = nullptr);

// A model for a conversation, with the settings that keep its history short.
//
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model,
//                            OpenChatModel({.model = "local"}, config, say, cancel));
//
// Thread-safety: as OpenModel.

// Returns the requested name, with the address if one was given: "http://pool:8000/v1#qwen3".
// ApplyConfig splits it. Empty: no model is named.
std::string AskedName(const ModelSettings& asked);

// Returns the model's name for the conversation's file, so that a later turn finds it again: its
// AskedName, else what was chosen.
std::string StoredName(const ModelSettings& asked, const OpenedModel& opened);

// Wraps a model that is already open; `stored` as BoundModel::stored.
driver::BoundModel ChatModelOf(const OpenedModel& opened, std::string stored);

// With `debug` in the configuration, `say` also gets which model it is. Errors: as ApplyConfig and
// OpenModel.
Result<driver::BoundModel> OpenChatModel(ModelSettings settings, const config::Config& config,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel);

chat::CompactionLimits LimitsOf(const config::CompactionSettings& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_OPEN_MODEL_H_
