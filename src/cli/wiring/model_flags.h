// The flags that every command with a model has, and what they open.
//
//   DOSSIER_ASSIGN_OR_RETURN(OpenedModel model, OpenModel(flags, say, cancel));

#ifndef DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
#define DOSSIER_CLI_WIRING_MODEL_FLAGS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/open_model.h"
#include "base/cancel.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

using app::ConnectOptionsFor;
using app::Environment;
using app::LoadModelData;
using app::ModelData;
using app::OpenedModel;

// The settings, and the texts of flags that are read before anything is opened.
struct ModelFlags : app::ModelSettings {
  std::vector<std::string> params;  // K=V
  std::string timeout = "300s", idle_timeout = "60s";
};

// The texts read. Errors: kUsage with the flag.
Result<app::ModelSettings> SettingsOf(const ModelFlags& flags);

// `flags` with what they leave open taken from the configuration: flag > DOSSIER_ variable > files.
// Errors: as app::ApplyConfig.
Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global);

// `say` gets progress lines for stderr. Errors: as app::OpenModel; kUsage for a bad flag.
Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
