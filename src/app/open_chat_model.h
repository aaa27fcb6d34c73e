// A model as a conversation uses it, and how its history is kept short.
//
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model,
//                            OpenChatModel({.model = "local"}, config, say, cancel));
//
// Thread-safety: as OpenModel.

#ifndef DOSSIER_APP_OPEN_CHAT_MODEL_H_
#define DOSSIER_APP_OPEN_CHAT_MODEL_H_

#include <functional>
#include <string>
#include <string_view>

#include "app/open_model.h"
#include "chat/context/compact.h"
#include "driver/bound_model.h"

namespace dossier::app {

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

chat::CompactionLimits LimitsOf(const config::Compaction& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_OPEN_CHAT_MODEL_H_
