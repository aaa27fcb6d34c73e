// The flags of every command that uses a model, and the functions that open it.
//
//   DOSSIER_ASSIGN_OR_RETURN(OpenedModel model, OpenModel(flags, say, cancel));

#ifndef DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
#define DOSSIER_CLI_WIRING_MODEL_FLAGS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/open_model.h"
#include "base/cancel.h"
#include "base/result.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/global_flags.h"
#include "model/local/local_pull.h"
#include "model/local/local_runtime.h"

namespace dossier::cli {

using app::ConnectOptionsFor;
using app::Environment;
using app::LoadModelData;
using app::ModelData;
using app::OpenedModel;

// The settings, and the texts of flags that are parsed before anything is opened.
struct ModelFlags : app::ModelSettings {
  std::vector<std::string> params;  // K=V
  std::string timeout = "300s", idle_timeout = "60s";
};

// Parses the texts. Errors: kUsage with the flag.
Result<app::ModelSettings> SettingsOf(const ModelFlags& flags);

// Returns `flags` with unset ones from the configuration: flag > DOSSIER_ variable > files. Errors:
// as app::ApplyConfig.
Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global);

// `say` receives progress lines for stderr. Errors: as app::OpenModel; kUsage for a bad flag.
Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel);

// Applies app/open_model.h to the flags of a command, the same way for `chat` and `conversations
// compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model,
//                            OpenChatModel(flags, config, global, say, cancel));
//
// Thread-safety: as OpenModel.

using app::LimitsOf;

// With -v `say` reports the model and the reason. Errors: as SettingsOf and app::OpenChatModel.
Result<driver::BoundModel> OpenChatModel(const ModelFlags& flags, const config::Config& config,
                                         const GlobalFlags& global,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel);

// Lets a person choose a first model when there is none yet: a server on this machine, else the
// local model.
//
//   settings.first_use = OfferFirstUse(flags);
//
// Thread-safety: none needed.

// Empty if nobody can be asked and nothing may be fetched; the error then says what to type. It
// asks on the terminal; with -y it does not ask and the answer is yes.
decltype(app::ModelSettings::first_use) OfferFirstUse(const GlobalFlags& flags);

// Downloads a model for a person: shows progress, and sets up the local model.
//
//   PullView view(Terminal::Detect(), err);
//   options.progress = [&view](const model::PullProgress& progress) { view.Show(progress); };
//   ... view.End();
//
// Thread-safety: none needed; PullProgress comes from one thread.

// Shows download progress: one line updated on a terminal, a line every tenth in a pipe.
class PullView {
 public:
  PullView(const Terminal& terminal, std::ostream& err) : terminal_(terminal), err_(err) {}
  void Show(const model::PullProgress& progress);
  void End();  // ends the line

 private:
  const Terminal terminal_;
  std::ostream& err_;
  std::optional<std::chrono::steady_clock::time_point> started_;
  std::uint64_t next_tenth_ = 0;
  bool line_open_ = false;
};

// Prints each line with the program's name in front.
model::Say SayTo(std::ostream& err);

// Downloads the default weights and their runtime, so that the first question needs no network.
// Reports on `out` what exists then. Errors: as PullWeights and EnsureRuntime.
Status PullDefaultModel(const std::string& data_folder, const CancelToken& cancel,
                        std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MODEL_FLAGS_H_
