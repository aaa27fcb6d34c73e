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

// app/open_model.h with the flags of a command: the same for `chat` and `conversations
// compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model,
//                            OpenChatModel(flags, config, global, say, cancel));
//
// Thread-safety: as OpenModel.

using app::LimitsOf;

// With -v `say` is told which model it is and why. Errors: as SettingsOf and app::OpenChatModel.
Result<driver::BoundModel> OpenChatModel(const ModelFlags& flags, const config::Config& config,
                                         const GlobalFlags& global,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel);

// What a person is asked where no model is there yet: a server of this machine, else the local
// model.
//
//   settings.first_use = OfferFirstUse(flags);
//
// Thread-safety: none needed.

// Empty where nobody can be asked and nothing may be fetched: then the error says what to type. It
// asks on the terminal; with -y nothing is asked and the answer is yes.
decltype(app::ModelSettings::first_use) OfferFirstUse(const GlobalFlags& flags);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
