// Builds replies in the format of OpenAI's chat completions.
//
//   const ReplyHead head{.id = "chatcmpl-…", .model = "dossier", .created = 1'795'000'000};
//   ToJson(CompletionJson(head, answered));
//   stream.Push(ChunkText(head, {{"role", "assistant"}}));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SERVER_HTTP_OPENAI_REPLY_H_
#define DOSSIER_SERVER_HTTP_OPENAI_REPLY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/net/http_listener.h"
#include "base/result.h"
#include "server/http/answers.h"
#include "server/key_ring.h"

namespace dossier::server {

struct ReplyHead {
  std::string id, model;
  std::int64_t created = 0;  // seconds since 1970
};

JsonObject UsageJson(const Answered& answered);
JsonObject CompletionJson(const ReplyHead& head, const Answered& answered);
// One event of a stream: "data: {…}\n\n".
std::string DataText(JsonObject value);
// A part of the answer; more parts follow.
std::string ChunkText(const ReplyHead& head, JsonObject delta);
// The last part, with finish_reason and the field `dossier`.
std::string EndChunkText(const ReplyHead& head, const Answered& answered);
// The event after the last part, if the client asked for usage.
std::string UsageChunkText(const ReplyHead& head, const Answered& answered);
inline constexpr std::string_view kDoneText = "data: [DONE]\n\n";

// The HTTP status of an error, and the object that OpenAI's clients read.
int HttpStatusOf(ErrorCode code);
// Headers that tell clients whether to repeat the request: by default they retry on 429 and 5xx,
// and would pay again.
HttpHeaders AgainHeaders(ErrorCode code);
// The form of `error` that a client gets: only an admin sees details of the server's own files.
Error ErrorFor(const ServerKey& key, const Error& error);
// The inverse of ErrorName; kFailed for an unknown name.
ErrorCode NamedError(std::string_view name);
JsonObject ErrorJson(const Error& error);
JsonObject ErrorJson(std::string_view message, std::string_view type, Json param, Json code);
// Splits a message of openai_request.h into the leading path and the rest.
struct ParamMessage {
  std::string param, message;
};
ParamMessage SplitParam(const Error& error);

// The same answer for /v1/responses.
struct ResponseHead {
  std::string id, model, previous;
  std::int64_t created = 0;
  Json metadata, instructions;
};
JsonObject ResponseJson(const ResponseHead& head, std::string_view status, const Answered* answered,
                        const Error* error);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_OPENAI_REPLY_H_
