// A model as a conversation uses it, and how its history is kept short: from flags and
// configuration, the same for `chat` and `conversations compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const chat::ChatModel model,
//                            OpenChatModel(flags, config, global, say, cancel));
//
// Thread-safety: as OpenModel.

#ifndef DOSSIER_CLI_WIRING_OPEN_CHAT_MODEL_H_
#define DOSSIER_CLI_WIRING_OPEN_CHAT_MODEL_H_

#include <functional>
#include <string_view>

#include "chat/context/compact.h"
#include "chat/turn/chat_model.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

// Errors: as WithConfig and OpenModel.
Result<chat::ChatModel> OpenChatModel(ModelFlags flags, const config::Config& config,
                                      const GlobalFlags& global,
                                      const std::function<void(std::string_view)>& say,
                                      const CancelToken& cancel);

chat::CompactionLimits LimitsOf(const config::Compaction& config);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_OPEN_CHAT_MODEL_H_
