// The lines of a recording (model/scripted/recording.h). Only for .cc files of this module.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_SCRIPTED_RECORDING_JSON_H_
#define DOSSIER_MODEL_SCRIPTED_RECORDING_JSON_H_

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "model/client/client.h"

namespace dossier::model {

inline constexpr std::string_view kRecordingSchema = "dossier.recording/1";

// What decides about a reply: without secrets, seed and the ids of data fences.
Json RequestToJson(const Request& request, std::string_view key);
Json ReplyToJson(const Reply& reply, std::string_view key);
Json FailureToJson(const Error& error, const Failure& failure, std::string_view key);

// Fields that are absent or wrong stay at their defaults.
Reply ReplyFromJson(const Json& json);
struct RecordedFailure {
  Error error;
  Failure failure;
};
RecordedFailure FailureFromJson(const Json& json);

// "messages.turns[1].blocks[0].text, character 17: recorded "…a…", asked "…b…""; empty if equal.
std::string FirstDifference(const Json& recorded, const Json& asked);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCRIPTED_RECORDING_JSON_H_
