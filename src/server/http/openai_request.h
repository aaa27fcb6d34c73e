// Reads a request in the format of OpenAI's chat completions or responses.
//
//   DOSSIER_ASSIGN_OR_RETURN(ChatRequest request, ReadChatRequest(body, {.move_above = 16'384}));
//   request.documents[0].name;       // "message-3.txt"
//   request.question;                // of the engine, if it is asked
//
// Long parts and files become documents; the message keeps one line that names them. The decision
// depends only on length, never on words, and is counted. Images stay in their messages, for a
// model that is called directly; the engine's question names them. Errors: kInvalidArgument; the
// message begins with the JSON path of the fault and ": ". Thread-safety: pure functions; `count`
// and `file` are called on the caller's thread.

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

// One document of a request: its text, or its path.
struct RequestDocument {
  std::string name;
  std::string text;
  std::string path;  // instead of a text: a file of this machine
  // The name to show for an upload, which the server keeps at `path`. No file has that name.
  std::string shown;
};

struct ChatRequest {
  std::string model;
  assembly::Messages messages;  // without the parts that became documents
  std::vector<RequestDocument> documents;
  // JSON paths of the messages' images, in order: "messages[0].content[1].image_url.url".
  std::vector<std::string> image_paths;
  std::vector<std::string> contexts;  // ids
  std::string question;               // for the engine
  bool streamed = false, usage_streamed = false;
  model::Sampling sampling;
  std::optional<Json> schema;
  bool strict = false;  // a reply that does not fit `schema` is an error
  model::Request::ToolUse tool_use = model::Request::ToolUse::kAllowed;
  Json metadata;
  // From the field `dossier`.
  std::optional<ask::Mode> mode;
  std::optional<std::int64_t> max_calls;
  std::optional<double> max_usd, max_time_s;
  std::optional<int> max_depth;
  bool detached = false, reasoning_streamed = false;
  std::vector<std::string> ignored;  // fields that had no effect
};

// Limits and callbacks that ReadChatRequest gets from its caller.
struct RequestReading {
  std::int64_t move_above = 16'384;  // tokens; longer parts of a message become documents
  std::function<std::int64_t(std::string_view text)> count;
  // Returns the file with this id. Errors: kNotFound, kRefused.
  std::function<Result<RequestDocument>(std::string_view id)> file;
  // Checks that the client may name this context. Errors: kRefused.
  std::function<Status(std::string_view id)> context;
  // Checks and resolves a path that the client names. Errors: kRefused.
  std::function<Result<std::string>(std::string_view path)> path;
};

Result<ChatRequest> ReadChatRequest(const Json& body, const RequestReading& reading);

// Returns true if a limit of money, calls or seconds is valid. A larger value might overflow the
// type that counts it.
inline bool IsLimit(double value) { return value > 0 && value <= 1e9; }
inline constexpr std::string_view kNoLimit = "must be above 0 and at most 1,000,000,000";

// Makes `request.question` from its messages: how to answer, what was said before, and what the
// user said last. Earlier turns become a document.
Status MakeQuestion(ChatRequest& request);
// The line that replaces a moved part: the name of the document, and its length.
std::string MovedLine(std::string_view name, std::string_view text);

// Converts a request of /v1/responses to one of chat completions. `earlier`: the messages of the
// response that it continues.
Result<Json> ChatOfResponses(const Json& body, const JsonArray& earlier);

// The name of an image of the request for code, counted from 0: "image_1".
std::string ImageName(std::size_t index);
// The texts of the turns, with each image as "[image_1]".
std::vector<std::string> TextsOf(const assembly::Messages& messages);

// The first and the last 1,000 characters of a text, cut at lines if possible; all of a short text.
std::string EndsOf(std::string_view text);

// Decodes base64 (with or without padding, also in a data URL); unset if it is invalid.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_OPENAI_REQUEST_H_
