// app/open_model.h with the flags of a command: the same for `chat` and `conversations
// compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model,
//                            OpenChatModel(flags, config, global, say, cancel));
//
// Thread-safety: as OpenModel.

#ifndef DOSSIER_CLI_WIRING_OPEN_CHAT_MODEL_H_
#define DOSSIER_CLI_WIRING_OPEN_CHAT_MODEL_H_

#include <functional>
#include <string_view>

#include "app/open_model.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

using app::LimitsOf;

// With -v `say` is told which model it is and why. Errors: as SettingsOf and app::OpenChatModel.
Result<driver::BoundModel> OpenChatModel(const ModelFlags& flags, const config::Config& config,
                                         const GlobalFlags& global,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_OPEN_CHAT_MODEL_H_
