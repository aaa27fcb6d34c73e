// What is sent back in the form of OpenAI's chat completions.
//
//   const ReplyHead head{.id = "chatcmpl-…", .model = "dossier", .created = 1'795'000'000};
//   ToJson(CompletionJson(head, answered));
//   stream.Push(ChunkText(head, {{"role", "assistant"}}, nullptr));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SERVER_HTTP_OPENAI_REPLY_H_
#define DOSSIER_SERVER_HTTP_OPENAI_REPLY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"
#include "server/http/answers.h"

namespace dossier::server {

struct ReplyHead {
  std::string id, model;
  std::int64_t created = 0;  // seconds since 1970
};

JsonObject UsageJson(const Answered& answered);
JsonObject CompletionJson(const ReplyHead& head, const Answered& answered);
// One event of a stream, "data: {…}\n\n"; `finish` null: more follows.
std::string ChunkText(const ReplyHead& head, JsonObject delta, Json finish);
// The event behind the last one, where usage is asked for.
std::string UsageChunkText(const ReplyHead& head, const Answered& answered);
inline constexpr std::string_view kDoneText = "data: [DONE]\n\n";

// The HTTP status of an error, and the object that OpenAI's clients read.
int HttpStatusOf(ErrorCode code);
JsonObject ErrorJson(const Error& error);
JsonObject ErrorJson(std::string_view message, std::string_view type, Json param, Json code);
// The path in front of a message of openai_request.h, and the message without it.
struct ParamMessage {
  std::string param, message;
};
ParamMessage SplitParam(const Error& error);

// The same answer as events of /v1/responses. `number` counts them on.
struct ResponseHead {
  std::string id, model, previous;
  std::int64_t created = 0;
  Json metadata, instructions;
};
JsonObject ResponseJson(const ResponseHead& head, std::string_view status, const Answered* answered,
                        const Error* error);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_OPENAI_REPLY_H_
