#include "server/http/openai_reply.h"

#include <cctype>
#include <utility>

#include "driver/caller.h"

namespace dossier::server {
namespace {

// Derived from the exit codes of the program (docs/formats/json.md), so there is one table.
struct StatusRow {
  int exit, status;
  std::string_view type;
};
// The client must raise an exceeded limit; 5xx and 429 would be retried, and paid for again.
constexpr StatusRow kStatuses[] = {
    {2, 400, "invalid_request_error"}, {3, 400, "invalid_request_error"},
    {9, 400, "invalid_request_error"}, {4, 404, "invalid_request_error"},
    {6, 429, "rate_limit_error"},      {11, 422, "invalid_request_error"},
    {12, 403, "permission_error"},     {7, 504, "timeout_error"},
    {5, 502, "upstream_error"},        {8, 502, "upstream_error"},
    {10, 402, "limit_error"},          {16, 409, "invalid_request_error"}};

// Failures of the server for which the program uses the exit code of a user's fault.
constexpr StatusRow kDiskFailed{4, 500, "server_error"}, kMissingHere{12, 503, "server_error"};

const StatusRow* RowOf(ErrorCode code) {
  if (code == ErrorCode::kIo) return &kDiskFailed;
  if (code == ErrorCode::kUnavailable) return &kMissingHere;
  const int exit = ExitCode(code);
  for (const StatusRow& row : kStatuses) {
    if (row.exit == exit) return &row;
  }
  return nullptr;
}

JsonObject MessageJson(const Answered& answered) {
  JsonObject message{{"role", "assistant"}, {"content", answered.text}, {"refusal", nullptr}};
  if (answered.tool_calls.empty()) return message;
  if (answered.text.empty()) message["content"] = nullptr;
  message["tool_calls"] = answered.tool_calls;
  return message;
}

JsonArray ChoiceJson(JsonObject delta, Json finish) {
  return {JsonObject{{"index", 0},
                     {"delta", std::move(delta)},
                     {"logprobs", nullptr},
                     {"finish_reason", std::move(finish)}}};
}

JsonObject ChunkJson(const ReplyHead& head, JsonArray choices) {
  return {{"id", head.id},
          {"object", "chat.completion.chunk"},
          {"created", head.created},
          {"model", head.model},
          {"choices", std::move(choices)}};
}

}  // namespace

JsonObject UsageJson(const Answered& answered) {
  JsonObject usage{{"prompt_tokens", answered.input},
                   {"completion_tokens", answered.output},
                   {"total_tokens", answered.input + answered.output},
                   {"prompt_tokens_details", JsonObject{{"cached_tokens", answered.cached}}}};
  if (answered.reasoning) {
    usage["completion_tokens_details"] = JsonObject{{"reasoning_tokens", *answered.reasoning}};
  }
  return usage;
}

JsonObject CompletionJson(const ReplyHead& head, const Answered& answered) {
  return {{"id", head.id},
          {"object", "chat.completion"},
          {"created", head.created},
          {"model", head.model},
          {"choices", JsonArray{JsonObject{{"index", 0},
                                           {"message", MessageJson(answered)},
                                           {"logprobs", nullptr},
                                           {"finish_reason", answered.finish}}}},
          {"usage", UsageJson(answered)},
          {"dossier", answered.dossier}};
}

std::string DataText(JsonObject value) { return "data: " + ToJson(std::move(value)) + "\n\n"; }

std::string ChunkText(const ReplyHead& head, JsonObject delta) {
  return DataText(ChunkJson(head, ChoiceJson(std::move(delta), nullptr)));
}

std::string EndChunkText(const ReplyHead& head, const Answered& answered) {
  JsonObject chunk = ChunkJson(head, ChoiceJson({}, Json(answered.finish)));
  chunk["dossier"] = answered.dossier;
  return DataText(std::move(chunk));
}

std::string UsageChunkText(const ReplyHead& head, const Answered& answered) {
  JsonObject chunk = ChunkJson(head, {});
  chunk["usage"] = UsageJson(answered);
  return DataText(std::move(chunk));
}

int HttpStatusOf(ErrorCode code) {
  const StatusRow* row = RowOf(code);
  return row ? row->status : 500;
}

HttpHeaders AgainHeaders(ErrorCode code) {
  if (code == ErrorCode::kRateLimited) return {{"Retry-After", "5"}};
  // A retry on another server, or after freeing disk space, may succeed.
  const bool here = code == ErrorCode::kIo || code == ErrorCode::kUnavailable;
  if (HttpStatusOf(code) < 500 || here || driver::MayPass(code)) return {};
  return {{"X-Should-Retry", "false"}};  // OpenAI's clients heed it
}

Error ErrorFor(const ServerKey& key, const Error& error) {
  if (error.code != ErrorCode::kIo || key.Has(Scope::kAdmin)) return error;
  return {error.code, "the server cannot read or write its own files"};
}

ErrorCode NamedError(std::string_view name) {
  for (int i = 0; i < static_cast<int>(ErrorCode::kFailed); ++i) {
    if (ErrorName(static_cast<ErrorCode>(i)) == name) return static_cast<ErrorCode>(i);
  }
  return ErrorCode::kFailed;
}

JsonObject ErrorJson(std::string_view message, std::string_view type, Json param, Json code) {
  return {{"error", JsonObject{{"message", message},
                               {"type", type},
                               {"param", std::move(param)},
                               {"code", std::move(code)}}}};
}

JsonObject ErrorJson(const Error& error) {
  const StatusRow* row = RowOf(error.code);
  const Json code = error.code == ErrorCode::kTooLong ? Json("context_length_exceeded")
                                                      : Json(ErrorName(error.code));
  return ErrorJson(error.message, row ? row->type : "server_error", nullptr, code);
}

ParamMessage SplitParam(const Error& error) {
  const std::size_t colon = error.message.find(": ");
  if (error.code != ErrorCode::kInvalidArgument || colon == std::string::npos) {
    return {"", error.message};
  }
  const std::string param = error.message.substr(0, colon);
  const bool path = param.find(' ') == std::string::npos;
  return path ? ParamMessage{param, error.message} : ParamMessage{"", error.message};
}

JsonObject ResponseJson(const ResponseHead& head, std::string_view status, const Answered* answered,
                        const Error* error) {
  JsonObject out{{"id", head.id},
                 {"object", "response"},
                 {"created_at", head.created},
                 {"status", status},
                 {"model", head.model},
                 {"output", JsonArray()},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"instructions", head.instructions},
                 {"metadata", head.metadata.is_null() ? Json(JsonObject()) : head.metadata},
                 {"previous_response_id", head.previous.empty() ? Json() : Json(head.previous)},
                 {"parallel_tool_calls", false},
                 {"tool_choice", "none"},
                 {"tools", JsonArray()},
                 {"usage", nullptr}};
  if (error) {
    out["error"] = JsonObject{{"code", ErrorName(error->code)}, {"message", error->message}};
  }
  if (!answered) return out;
  out["output"] =
      JsonArray{JsonObject{{"type", "message"},
                           {"id", "msg_" + head.id.substr(head.id.find('_') + 1)},
                           {"status", "completed"},
                           {"role", "assistant"},
                           {"content", JsonArray{JsonObject{{"type", "output_text"},
                                                            {"text", answered->text},
                                                            {"annotations", JsonArray()}}}}}};
  out["usage"] = JsonObject{
      {"input_tokens", answered->input},
      {"input_tokens_details", JsonObject{{"cached_tokens", answered->cached}}},
      {"output_tokens", answered->output},
      {"output_tokens_details", JsonObject{{"reasoning_tokens", answered->reasoning.value_or(0)}}},
      {"total_tokens", answered->input + answered->output}};
  if (answered->finish == "length") {
    out["incomplete_details"] = JsonObject{{"reason", "max_output_tokens"}};
  }
  out["dossier"] = answered->dossier;
  return out;
}

}  // namespace dossier::server
