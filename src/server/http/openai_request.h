// A request in the form of OpenAI's chat completions or responses, read into what we do with it.
//
//   DOSSIER_ASSIGN_OR_RETURN(ChatRequest request, ReadChatRequest(body, {.move_above = 16'384}));
//   request.documents[0].name;       // "message-3.txt"
//   request.question;                // of the engine, if it is asked
//
// Long parts and files become documents; what stays of them in the message is one line that names
// them. Nothing is judged by its words: what is long is moved, and that is counted. Images stay in
// their messages, for a model that is called as it is; the engine's question names them.
// Errors: kInvalidArgument, its message beginning with the JSON path of what is wrong and ": ".
// Thread-safety: pure functions; `count` and `file` are called by the caller's thread.

#ifndef DOSSIER_SERVER_HTTP_OPENAI_REQUEST_H_
#define DOSSIER_SERVER_HTTP_OPENAI_REQUEST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "assembly/layout/messages.h"
#include "base/json/json.h"
#include "base/result.h"
#include "model/client/client.h"

namespace dossier::server {

// One document of a request: its text, or a place that the caller knows.
struct RequestDocument {
  std::string name;
  std::string text;
  std::string path;  // instead of a text: a file of this machine
  // Of an upload, which the server keeps at `path`: by what it is known. No file has that name.
  std::string shown;
};

struct ChatRequest {
  std::string model;
  assembly::Messages messages;  // without what was moved
  std::vector<RequestDocument> documents;
  // Where the images of the messages stand, in their order: "messages[0].content[1].image_url.url".
  std::vector<std::string> image_paths;
  std::vector<std::string> contexts;  // ids
  std::string question;               // for the engine
  bool streamed = false, usage_streamed = false;
  model::Sampling sampling;
  std::optional<Json> schema;
  bool strict = false;  // a reply that does not fit `schema` is no answer
  model::Request::ToolUse tool_use = model::Request::ToolUse::kAllowed;
  Json metadata;
  // Of `dossier`.
  std::optional<ask::Mode> mode;
  std::optional<std::int64_t> max_calls;
  std::optional<double> max_usd, max_time_s;
  std::optional<int> max_depth;
  bool detached = false, reasoning_streamed = false;
  std::vector<std::string> ignored;  // fields that were passed over
};

// What reading needs from outside.
struct RequestReading {
  std::int64_t move_above = 16'384;  // tokens of a part of a message
  std::function<std::int64_t(std::string_view text)> count;
  // The file that an id means; errors: kNotFound, kRefused.
  std::function<Result<RequestDocument>(std::string_view id)> file;
  // Whether a client may name this context; errors: kRefused.
  std::function<Status(std::string_view id)> context;
  // The path that a client may name; errors: kRefused.
  std::function<Result<std::string>(std::string_view path)> path;
};

Result<ChatRequest> ReadChatRequest(const Json& body, const RequestReading& reading);

// Whether a sum of money, a number of calls or of seconds can limit a run: above it, what it is
// counted in might not hold it.
inline bool IsLimit(double value) { return value > 0 && value <= 1e9; }
inline constexpr std::string_view kNoLimit = "must be above 0 and at most 1,000,000,000";

// Makes `request.question` of its messages: how to answer, what was said before, and what the user
// said last. Earlier turns become a document.
Status MakeQuestion(ChatRequest& request);
// What stays of a part that was moved: the name of the document, and how long it is.
std::string MovedLine(std::string_view name, std::string_view text);

// A request of /v1/responses as one of chat completions; `earlier`: the messages that it goes on
// from.
Result<Json> ChatOfResponses(const Json& body, const JsonArray& earlier);

// What code calls the images of a request, in their order from 0: "image_1".
std::string ImageName(std::size_t index);
// The texts of the turns, in which each image stands as "[image_1]".
std::vector<std::string> TextsOf(const assembly::Messages& messages);

// The first and the last 1,000 characters of a text, cut at lines where that is possible; all of a
// short one.
std::string EndsOf(std::string_view text);

// The bytes of base64 (with or without padding, as a data URL too); unset if it is none.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_OPENAI_REQUEST_H_
