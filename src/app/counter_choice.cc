#include "app/counter_choice.h"

#include <chrono>

#include "app/open_model.h"
#include "base/clock.h"
#include "model/catalog/tokenizer.h"

namespace dossier::app {

Result<tokens::Opened> OpenCounter(const CounterChoice& choice, std::string* note) {
  if (!choice.encoding.empty() && !choice.model.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "give --encoding or --model, not both: a model says how it counts");
  }
  const tokens::DataPaths paths = tokens::DefaultDataPaths();
  if (choice.model.empty()) {
    return tokens::Open(choice.encoding.empty() ? "o200k_base" : choice.encoding, paths);
  }
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice chosen,
                           ChooseWithoutKey(choice.model, choice.config));
  if (note && !chosen.assumed.empty()) {
    *note = chosen.assumed;
  } else if (note && choice.model == chosen.provider.name && !chosen.model.empty()) {
    *note = fmt::format("{} is counted as its model {}", choice.model, chosen.model);
  }
  return model::OpenTokenizer(chosen.entry, paths);
}

std::string CountsFolder(const tokens::Opened& opened) {
  const std::string cache = tokens::DefaultDataPaths().cache;
  return opened.identity.empty() || cache.empty() ? "" : cache + "/counts";
}

Result<model::Choice> ChooseWithoutKey(const std::string& name, const config::Config* config) {
  ModelSettings settings{.model = name};
  if (config) DOSSIER_RETURN_IF_ERROR(ApplyConfig(*config, &settings));
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data,
                           settings.config ? LoadModelData(*settings.config) : LoadModelData());
  model::Wanted wanted{.name = settings.model,
                       .base_url = settings.base_url,
                       .config = data.config,
                       .today = std::chrono::floor<std::chrono::days>(SystemClock()->WallNow())};
  // Without a name the keys that are there say which model is meant, if the configuration does not.
  if (wanted.name.empty()) {
    auto choice = data.catalog.Choose(wanted, Environment);
    if (choice || choice.error().code != ErrorCode::kAuth) return choice;
  }
  wanted.keys = model::Wanted::Keys::kNone;
  return data.catalog.Choose(wanted, Environment);
}

}  // namespace dossier::app
