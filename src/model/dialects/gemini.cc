// The Gemini dialect: generateContent, and its stream as server-sent events.
//
// Requests: the system text is systemInstruction; roles are user and model; the results of one
// turn's calls are one user message, by the functions' names. Signatures of thoughts go back with
// their part (Block::provider_data under "gemini"). `--param` values that are no field of the
// request become fields of generationConfig. Replies: a prompt that the safety rules block is an
// error that names the reason; a reply that they end keeps what came of it, with Finish::kFilter.

#include <map>

#include "base/text/text.h"
#include "model/client/http_failure.h"
#include "model/dialects/dialect.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

// Fields of the request itself; every other --param is one of generationConfig.
constexpr std::string_view kTopFields[] = {"tools", "toolConfig", "safetySettings", "cachedContent",
                                           "labels"};

class GeminiBody {
 public:
  GeminiBody(const Request& request, const WireOptions& options)
      : request_(request), options_(options) {}

  WireRequest Run() {
    JsonArray system;
    for (const Block& block : request_.messages.system) AddPart(block, system);
    if (!system.empty()) {
      body_["systemInstruction"] = JsonObject{{"parts", std::move(system)}};
    }
    for (const Turn& turn : request_.messages.turns) AddTurn(turn);
    body_["contents"] = std::move(contents_);
    AddTools();
    AddSampling();
    AddSchema();
    AddExtra();
    if (!config_.empty()) body_["generationConfig"] = std::move(config_);
    return {ToJson(body_), std::move(warnings_)};
  }

 private:
  static const Json* Own(const Block& block) { return Find(block.provider_data, "gemini"); }

  // Results name the function, and its id only if the provider gave one.
  JsonObject FunctionResult(const Block& block) const {
    const auto call = calls_.find(block.call_id);
    const std::string& name =
        !block.tool_name.empty() || call == calls_.end() ? block.tool_name : call->second.name;
    JsonObject result{{"name", name.empty() ? block.call_id : name},
                      {"response", JsonObject{{"result", CleanText(block.text)}}}};
    if (call != calls_.end() && call->second.has_id) result["id"] = block.call_id;
    return result;
  }

  JsonObject FunctionCall(const Block& block) {
    const Json* own = Own(block);
    const bool has_id = own && FindBool(*own, "id") == true;
    calls_[block.call_id] = {block.tool_name, has_id};
    JsonObject call{{"name", block.tool_name},
                    {"args", block.arguments.is_object() ? block.arguments : Json(JsonObject())}};
    if (has_id) call["id"] = block.call_id;
    return call;
  }

  void AddPart(const Block& block, JsonArray& parts) {
    JsonObject part;
    switch (block.type) {
      case Block::Type::kThinking:
        return;  // summaries are not taken back
      case Block::Type::kText:
        if (block.text.empty()) return;
        part["text"] = CleanText(block.text);
        break;
      case Block::Type::kImage:
        if (block.url.empty()) {
          part["inlineData"] = JsonObject{{"mimeType", block.media_type}, {"data", block.text}};
        } else {
          part["fileData"] = JsonObject{{"fileUri", block.url}};
        }
        break;
      case Block::Type::kToolCall:
        part["functionCall"] = FunctionCall(block);
        break;
      case Block::Type::kToolResult:
        part["functionResponse"] = FunctionResult(block);
        break;
    }
    if (const Json* own = Own(block)) {
      if (const auto signature = FindString(*own, "thoughtSignature")) {
        part["thoughtSignature"] = *signature;
      }
    }
    parts.push_back(std::move(part));
  }

  // Results of calls stand alone in their message: the API pairs them with the calls before it.
  void AddTurn(const Turn& turn) {
    JsonArray results, rest;
    for (const Block& block : turn.blocks) {
      AddPart(block, block.type == Block::Type::kToolResult ? results : rest);
    }
    const std::string_view role = turn.role == Role::kAssistant ? "model" : "user";
    for (JsonArray* parts : {&results, &rest}) {
      if (parts->empty()) continue;
      contents_.push_back(JsonObject{{"role", role}, {"parts", std::move(*parts)}});
    }
  }

  void AddTools() {
    JsonArray functions;
    for (const assembly::ToolSpec& tool : request_.messages.tools) {
      functions.push_back(JsonObject{{"name", tool.name},
                                     {"description", CleanText(tool.description)},
                                     {"parametersJsonSchema", tool.parameters}});
    }
    if (functions.empty()) return;
    body_["tools"] = JsonArray{JsonObject{{"functionDeclarations", std::move(functions)}}};
    if (request_.tool_use != Request::ToolUse::kAllowed) {
      const bool required = request_.tool_use == Request::ToolUse::kRequired;
      body_["toolConfig"] =
          JsonObject{{"functionCallingConfig", JsonObject{{"mode", required ? "ANY" : "NONE"}}}};
    }
  }

  void AddSampling() {
    const Sampling& sampling = request_.sampling;
    SamplingWriter add{request_, options_.entry, config_, warnings_};
    if (sampling.temperature) add("temperature", *sampling.temperature);
    if (sampling.top_p) add("top_p", *sampling.top_p, "topP");
    if (sampling.max_output) config_["maxOutputTokens"] = *sampling.max_output;
    if (sampling.seed) add("seed", static_cast<std::int64_t>(*sampling.seed & 0x7fffffff));
    add("stop", StopList(sampling.stop), "stopSequences");
  }

  void AddSchema() {
    if (!request_.schema) return;
    if (options_.entry.json_schema) {
      config_["responseMimeType"] = "application/json";
      config_["responseJsonSchema"] = *request_.schema;
      return;
    }
    warnings_.push_back(request_.model + " takes no JSON Schema: it is asked for in words");
    JsonObject words{{"text", WordsForSchema(*request_.schema).substr(2)}};
    body_["contents"].as_array().push_back(
        JsonObject{{"role", "user"}, {"parts", JsonArray{std::move(words)}}});
  }

  void AddExtra() {
    for (const auto& [name, value] : request_.sampling.extra) {
      if (name == "contents" || name == "systemInstruction") continue;
      const bool top = std::find(std::begin(kTopFields), std::end(kTopFields),
                                 std::string_view(name)) != std::end(kTopFields);
      if (top) {
        body_[name] = value;
      } else if (name == "generationConfig" && value.is_object()) {
        for (const auto& [key, inner] : value.as_object()) config_[key] = inner;
      } else {
        config_[name] = value;
      }
    }
  }

  struct Call {
    std::string name;
    bool has_id = false;
  };

  const Request& request_;
  const WireOptions& options_;
  std::map<std::string, Call> calls_;  // by id, of the turns so far
  JsonObject body_, config_;
  JsonArray contents_;
  std::vector<std::string> warnings_;
};

WireRequest BuildGeminiBody(const Request& request, const WireOptions& options) {
  return GeminiBody(request, options).Run();
}

class GeminiStream final : public ReplyStream {
 public:
  Result<std::string> Add(std::string_view data) override;

 private:
  void Complete(Reply& reply) override;
};

using assembly::Block;

// " (HARM_CATEGORY_HARASSMENT: HIGH)": the categories that blocked, or are at least likely.
std::string Ratings(const Json& holder) {
  const Json* ratings = Find(holder, "safetyRatings");
  if (!ratings || !ratings->is_array()) return {};
  std::vector<std::string> named;
  for (const Json& rating : ratings->as_array()) {
    const std::string_view probability = FindString(rating, "probability").value_or("");
    const bool likely = probability == "HIGH" || probability == "MEDIUM";
    if (named.size() == 8 || (FindBool(rating, "blocked") != true && !likely)) continue;
    const std::string_view category = FindString(rating, "category").value_or("?");
    named.push_back(fmt::format("{}: {}", Excerpt(category, ""), Excerpt(probability, "")));
  }
  return named.empty() ? "" : " (" + Join(named, ", ") + ")";
}

// A prompt that the safety rules refuse has no candidates.
std::optional<Error> FindBlock(const Json& value) {
  const Json* feedback = Find(value, "promptFeedback");
  if (!feedback) return std::nullopt;
  const auto reason = FindString(*feedback, "blockReason");
  if (!reason) return std::nullopt;
  return Error{ErrorCode::kFailed,
               fmt::format("gemini blocked the prompt by its safety rules: {}{}",
                           Excerpt(*reason, ""), Ratings(*feedback))};
}

void ReadGeminiIdentity(const Json& value, Reply& reply) {
  if (const auto model = FindString(value, "modelVersion")) reply.resolved_model = *model;
  if (const auto id = FindString(value, "responseId")) {
    reply.provider_data.as_object()["id"] = *id;
  }
}

Json Signed(const Json& part, JsonObject own = {}) {
  if (const auto signature = FindString(part, "thoughtSignature")) {
    own["thoughtSignature"] = *signature;
  }
  return own.empty() ? Json() : Json(JsonObject{{"gemini", std::move(own)}});
}

void AddCall(const Json& part, const Json& function, Reply& reply) {
  if (reply.tool_calls.size() == kMostToolCalls) return;
  const Json* arguments = Find(function, "args");
  const auto id = FindString(function, "id");
  ToolCall call{.name = TextAt(function, "name"),
                .arguments = arguments && arguments->is_object() ? *arguments : JsonObject()};
  // Older models give none: the place will do, as results come in the same order.
  call.id = id ? std::string(*id) : fmt::format("call_{}", reply.tool_calls.size());
  call.provider_data = Signed(part, id ? JsonObject{{"id", true}} : JsonObject());
  reply.blocks.push_back({.type = Block::Type::kToolCall,
                          .call_id = call.id,
                          .tool_name = call.name,
                          .arguments = call.arguments,
                          .provider_data = call.provider_data});
  reply.tool_calls.push_back(std::move(call));
}

// Adds one part; gives the text of the answer that it holds.
std::string AddPart(const Json& part, Reply& reply) {
  if (const Json* function = Find(part, "functionCall")) {
    AddCall(part, *function, reply);
    return {};
  }
  const std::string text = TextAt(part, "text");
  if (FindBool(part, "thought") == true) {
    reply.thinking += text;
    return {};
  }
  reply.text += text;
  Json own = Signed(part);
  const bool joins = own.is_null() && !reply.blocks.empty() &&
                     reply.blocks.back().type == Block::Type::kText &&
                     reply.blocks.back().provider_data.is_null();
  if (joins) {
    reply.blocks.back().text += text;
  } else if (!text.empty() || !own.is_null()) {
    reply.blocks.push_back({.text = text, .provider_data = std::move(own)});
  }
  return text;
}

// The answer's text that `candidate` adds.
std::string ReadCandidate(const Json& candidate, Reply& reply) {
  std::string text;
  if (const Json* content = Find(candidate, "content")) {
    if (const Json* parts = Find(*content, "parts"); parts && parts->is_array()) {
      for (const Json& part : parts->as_array()) text += AddPart(part, reply);
    }
  }
  if (const auto reason = FindString(candidate, "finishReason")) {
    EndReply(*reason, reply);
    reply.provider_data.as_object()["finish_reason"] = *reason;
    if (reply.finish == Finish::kFilter) {
      reply.warnings.push_back(fmt::format("gemini's safety rules ended the reply: {}{}",
                                           Excerpt(*reason, ""), Ratings(candidate)));
    }
  }
  return text;
}

const Json* FirstCandidate(const Json& value) {
  const Json* candidates = Find(value, "candidates");
  if (!candidates || !candidates->is_array()) return nullptr;
  for (const Json& candidate : candidates->as_array()) {
    if (candidate.is_object() && FindInt(candidate, "index").value_or(0) == 0) return &candidate;
  }
  return nullptr;
}

void Finalise(Reply& reply) {
  if (reply.finish == Finish::kStop && !reply.tool_calls.empty()) {
    reply.finish = Finish::kToolCalls;
  }
  const bool returned =
      std::any_of(reply.blocks.begin(), reply.blocks.end(),
                  [](const Block& block) { return !block.provider_data.is_null(); });
  if (!returned) reply.blocks.clear();
}

void ReadGeminiUsage(const Json& value, Reply& reply) {
  const Json* usage = Find(value, "usageMetadata");
  const auto is_none_or_count = [usage](std::string_view name) {
    return !Find(*usage, name) || IsCount(*usage, name, 0);
  };
  if (!usage || !IsCount(*usage, "promptTokenCount", 1) ||
      !is_none_or_count("candidatesTokenCount") || !is_none_or_count("thoughtsTokenCount")) {
    return;
  }
  // The API counts thoughts beside the candidates and leaves the field out where there are none.
  const std::int64_t thoughts = TokensOf(*usage, "thoughtsTokenCount");
  reply.usage = {
      .input = TokensOf(*usage, "promptTokenCount") + TokensOf(*usage, "toolUsePromptTokenCount"),
      .output = TokensOf(*usage, "candidatesTokenCount") + thoughts,
      .cached = TokensOf(*usage, "cachedContentTokenCount"),
      .reasoning = thoughts};
  reply.usage.cached = std::min(reply.usage.cached, reply.usage.input);
}

Result<Reply> ParseGeminiReply(std::string_view body) {
  if (body.size() > kMaxReplyBytes) return MalformedReply("larger than 64 MiB");
  Reply reply;
  reply.provider_data = JsonObject();
  reply.usage.estimated = true;
  reply.finish = Finish::kOther;
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(body, reply.warnings));
  if (auto reported = FindReportedError(value)) return tl::unexpected(reported->error);
  if (auto blocked = FindBlock(value)) return tl::unexpected(*blocked);
  const Json* candidate = FirstCandidate(value);
  if (!candidate) return MalformedReply("it has no candidates");
  ReadCandidate(*candidate, reply);
  ReadGeminiIdentity(value, reply);
  ReadGeminiUsage(value, reply);
  Finalise(reply);
  return reply;
}

Result<std::string> GeminiStream::Add(std::string_view data) {
  if (!reply_.provider_data.is_object()) {
    reply_.provider_data = JsonObject();
    reply_.usage.estimated = true;
    reply_.finish = Finish::kOther;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(data, reply_.warnings, &half_));
  if (!value.is_object()) return MalformedReply("an event that is no object");
  if (auto reported = FindReportedError(value)) {
    ReadGeminiUsage(value, reply_);
    retry_ = reported->retry;
    return tl::unexpected(reported->error);
  }
  if (auto blocked = FindBlock(value)) {
    ReadGeminiUsage(value, reply_);
    return tl::unexpected(*blocked);
  }
  ReadGeminiIdentity(value, reply_);
  const Json* candidate = FirstCandidate(value);
  const auto size = [this] {
    return reply_.text.size() + reply_.thinking.size() + reply_.tool_calls.size();
  };
  const std::size_t before = size();
  std::string text = candidate ? ReadCandidate(*candidate, reply_) : "";
  if (size() > before) Grew();
  ReadGeminiUsage(value, reply_);
  if (!candidate) return std::string();
  if (FindString(*candidate, "finishReason")) finished_ = true;
  return text;
}

void GeminiStream::Complete(Reply& reply) { Finalise(reply); }

// One segment of a path: model names may hold slashes and worse.
std::string EscapeSegment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

const WireDialect kGeminiDialect{
    .name = "gemini",
    .version = "/v1beta",
    .target =
        [](const Request& request, Streaming stream) {
          return fmt::format(
              "/models/{}:{}", EscapeSegment(request.model),
              stream == Streaming::kYes ? "streamGenerateContent?alt=sse" : "generateContent");
        },
    .headers =
        [](std::string_view key) {
          std::vector<std::string> headers;
          if (!key.empty()) headers.push_back(fmt::format("x-goog-api-key: {}", key));
          return headers;
        },
    .list_query = "?pageSize=1000",
    .build = BuildGeminiBody,
    .parse = ParseGeminiReply,
    .read_usage = ReadGeminiUsage,
    .stream = []() -> std::unique_ptr<ReplyStream> { return std::make_unique<GeminiStream>(); }};

}  // namespace dossier::model
