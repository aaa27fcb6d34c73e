// The Anthropic dialect: /v1/messages, version 2023-06-01.
//
// Requests: the system text is a field; tool results stand in the next user message; neighbours of
// one role are one message; `max_tokens` is always sent. Thinking blocks of this provider go back
// unchanged (Block::provider_data under "anthropic"), those of others do not. `cache_control` comes
// from Block::cache, as far as the entry allows. Replies: `usage.input` counts cached and written
// tokens too.

#include "base/text/text.h"
#include "model/dialects/dialect.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

JsonObject ImageJson(const Block& block) {
  JsonObject source;
  if (block.url.empty()) {
    source = {{"type", "base64"}, {"media_type", block.media_type}, {"data", block.text}};
  } else {
    source = {{"type", "url"}, {"url", block.url}};
  }
  return {{"type", "image"}, {"source", std::move(source)}};
}

// The block as the API takes it; nothing for one that it would refuse: blank text, the thinking of
// another provider.
std::optional<JsonObject> BlockJson(const Block& block) {
  switch (block.type) {
    case Block::Type::kText:
      if (TrimSpace(block.text).empty()) return std::nullopt;
      return JsonObject{{"type", "text"}, {"text", CleanText(block.text)}};
    case Block::Type::kImage:
      return ImageJson(block);
    case Block::Type::kThinking:
      if (const Json* own = Find(block.provider_data, "anthropic"); own && own->is_object()) {
        return own->as_object();
      }
      return std::nullopt;
    case Block::Type::kToolCall: {
      const Json input = block.arguments.is_object() ? block.arguments : Json(JsonObject());
      return JsonObject{{"type", "tool_use"},
                        {"id", CleanCallId(block.call_id)},
                        {"name", block.tool_name},
                        {"input", input}};
    }
    case Block::Type::kToolResult: {
      JsonObject result{{"type", "tool_result"}, {"tool_use_id", CleanCallId(block.call_id)}};
      if (!TrimSpace(block.text).empty()) result["content"] = CleanText(block.text);
      return result;
    }
  }
  return std::nullopt;
}

class AnthropicBody {
 public:
  AnthropicBody(const Request& request, const WireOptions& options)
      : request_(request), options_(options), breakpoints_(options.entry.capability) {}

  WireRequest Run() {
    body_["model"] = request_.model;
    body_["max_tokens"] =
        request_.sampling.max_output.value_or(options_.entry.capability.max_output);
    AddTools();
    JsonArray system;
    for (const Block& block : request_.messages.system) AddBlock(block, system);
    if (!system.empty()) body_["system"] = std::move(system);
    for (const Turn& turn : request_.messages.turns) AddTurn(turn);
    TrimPrefill();
    body_["messages"] = std::move(messages_);
    AddSampling();
    AddSchema();
    for (const auto& [name, value] : request_.sampling.extra) {
      if (name != "messages" && name != "system" && name != "stream") body_[name] = value;
    }
    if (options_.stream == Streaming::kYes) body_["stream"] = true;
    return {ToJson(body_), std::move(warnings_)};
  }

 private:
  void AddTools() {
    JsonArray tools;
    for (const assembly::ToolSpec& tool : request_.messages.tools) {
      tools.push_back(JsonObject{{"name", tool.name},
                                 {"description", CleanText(tool.description)},
                                 {"input_schema", tool.parameters}});
    }
    if (tools.empty()) return;
    body_["tools"] = std::move(tools);
    if (request_.tool_use == Request::ToolUse::kNone) {
      body_["tool_choice"] = JsonObject{{"type", "none"}};
    } else if (request_.tool_use == Request::ToolUse::kRequired) {
      body_["tool_choice"] = JsonObject{{"type", "any"}};
    }
  }

  void AddBlock(const Block& block, JsonArray& list) {
    std::optional<JsonObject> json = BlockJson(block);
    if (!json) return;
    // The API refuses breakpoints on thinking.
    if (block.type != Block::Type::kThinking && breakpoints_.Take(block)) {
      JsonObject control{{"type", "ephemeral"}};
      if (const auto lifetime = breakpoints_.Lifetime(block)) control["ttl"] = *lifetime;
      (*json)["cache_control"] = std::move(control);
    }
    list.push_back(std::move(*json));
  }

  static std::string_view RoleOf(const Turn& turn) {
    if (turn.role == Role::kAssistant) return "assistant";
    return turn.role == Role::kSystem ? "system" : "user";
  }

  void AddTurn(const Turn& turn) {
    JsonArray content;
    for (const Block& block : turn.blocks) AddBlock(block, content);
    if (content.empty()) return;
    const std::string_view role = RoleOf(turn);
    if (!messages_.empty() && FindString(messages_.back(), "role") == role) {
      JsonArray& last = messages_.back().as_object()["content"].as_array();
      last.insert(last.end(), content.begin(), content.end());
      return;
    }
    messages_.push_back(JsonObject{{"role", role}, {"content", std::move(content)}});
  }

  // A reply to be continued may not end with white space.
  void TrimPrefill() {
    if (messages_.empty() || FindString(messages_.back(), "role") != "assistant") return;
    JsonObject& block = messages_.back().as_object()["content"].as_array().back().as_object();
    if (block["type"] != "text") return;
    const std::string_view text = block["text"].as_string();
    block["text"] = std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  }

  void AddSampling() {
    const Sampling& sampling = request_.sampling;
    SamplingWriter add{request_, options_.entry, body_, warnings_};
    if (sampling.temperature) add("temperature", *sampling.temperature);
    if (sampling.top_p) add("top_p", *sampling.top_p);
    if (sampling.seed) warnings_.push_back(LeftOut(request_, "seed"));  // the API has none
    JsonArray stops;
    for (const std::string& stop : sampling.stop) {
      if (TrimSpace(stop).empty()) {
        warnings_.push_back(LeftOut(request_, "a stop sequence of white space"));
      } else {
        stops.push_back(CleanText(stop));
      }
    }
    add("stop", std::move(stops), "stop_sequences");
  }

  void AddSchema() {
    if (!request_.schema) return;
    if (options_.entry.json_schema) {
      body_["output_config"] =
          JsonObject{{"format", JsonObject{{"type", "json_schema"}, {"schema", *request_.schema}}}};
      return;
    }
    warnings_.push_back(request_.model + " takes no JSON Schema: it is asked for in words");
    JsonObject words{{"type", "text"}, {"text", WordsForSchema(*request_.schema).substr(2)}};
    JsonArray& messages = body_["messages"].as_array();
    for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
      if (FindString(*message, "role") != "user") continue;
      message->as_object()["content"].as_array().push_back(std::move(words));
      return;
    }
    messages.push_back(JsonObject{{"role", "user"}, {"content", JsonArray{std::move(words)}}});
  }

  const Request& request_;
  const WireOptions& options_;
  BreakpointBudget breakpoints_;
  JsonObject body_;
  JsonArray messages_;
  std::vector<std::string> warnings_;
};

WireRequest BuildAnthropicBody(const Request& request, const WireOptions& options) {
  return AnthropicBody(request, options).Run();
}

class AnthropicStream final : public ReplyStream {
 public:
  Result<std::string> Add(std::string_view data) override;

 private:
  // One content block between its start and its stop.
  struct Piece {
    Json start;        // as it was announced
    std::string text;  // of text and thinking, or a tool's arguments
    std::string signature;
  };

  Result<Piece*> PieceAt(const Json& event);
  Result<std::string> Begin(const Json& event);
  Result<std::string> AddDelta(const Json& event);
  void Complete(Reply& reply) override;

  std::vector<Piece> pieces_;
  Json usage_;  // the fields that came so far
};

using assembly::Block;

constexpr std::size_t kMostPieces = 4096;

// Later events repeat what earlier ones said, in part: a field that is absent keeps its value.
void ReadUsage(const Json* usage, Json& known) {
  if (!usage || !usage->is_object()) return;
  if (!known.is_object()) known = JsonObject();
  for (const auto& [name, value] : usage->as_object()) {
    if (!value.is_null()) known.as_object()[name] = value;
  }
}

// The API counts cached and written tokens beside input_tokens; we count them as parts of it.
void SetUsage(const Json& known, Reply& reply) {
  reply.usage = {};
  reply.usage.cached = TokensOf(known, "cache_read_input_tokens");
  reply.usage.cache_write = TokensOf(known, "cache_creation_input_tokens");
  if (const Json* parts = Find(known, "cache_creation")) {
    reply.usage.cache_write_long = TokensOf(*parts, "ephemeral_1h_input_tokens");
  }
  reply.usage.input =
      TokensOf(known, "input_tokens") + reply.usage.cached + reply.usage.cache_write;
  reply.usage.output = TokensOf(known, "output_tokens");
  reply.usage.estimated = !IsCount(known, "input_tokens", 0) ||
                          !IsCount(known, "output_tokens", 0) || reply.usage.input == 0;
  reply.usage.reasoning = TokensIfSaid(Find(known, "output_tokens_details"), "thinking_tokens");
}

void ReadAnthropicIdentity(const Json& message, Reply& reply) {
  if (const auto model = FindString(message, "model")) reply.resolved_model = *model;
  if (const auto id = FindString(message, "id")) reply.provider_data.as_object()["id"] = *id;
}

void ReadFinish(const Json& holder, Reply& reply) {
  const auto reason = FindString(holder, "stop_reason");
  EndReply(reason.value_or(""), reply);
  if (reply.finish == Finish::kRefused) {
    reply.warnings.emplace_back("the provider's safety rules ended the reply (refusal)");
  }
  if (reason && reply.finish == Finish::kCut) {
    reply.provider_data.as_object()["stop_reason"] = *reason;
  }
}

// Adds one content block, whole, to text, thinking or tool calls, and to the ordered blocks.
void AddBlock(const Json& content, Reply& reply) {
  const std::string_view type = FindString(content, "type").value_or("");
  if (type == "text") {
    const std::string text = TextAt(content, "text");
    reply.text += text;
    reply.blocks.push_back({.text = text});
  } else if (type == "thinking" || type == "redacted_thinking") {
    const std::string text = TextAt(content, "thinking");
    reply.thinking += text;
    Block block{.type = Block::Type::kThinking, .text = text};
    // Cut before its signature it would be refused.
    const bool sealed =
        type != "thinking" || !FindString(content, "signature").value_or("").empty();
    if (sealed) block.provider_data = JsonObject{{"anthropic", content}};
    reply.blocks.push_back(std::move(block));
  } else if (type == "tool_use" && reply.tool_calls.size() < kMostToolCalls) {
    const Json* input = Find(content, "input");
    ToolCall call{.id = TextAt(content, "id"),
                  .name = TextAt(content, "name"),
                  .arguments = input ? *input : Json(JsonObject())};
    reply.blocks.push_back({.type = Block::Type::kToolCall,
                            .call_id = call.id,
                            .tool_name = call.name,
                            .arguments = call.arguments});
    reply.tool_calls.push_back(std::move(call));
  }
}

// Without thinking to return, text and tool calls say it all.
void DropPlainBlocks(Reply& reply) {
  const bool thinking =
      std::any_of(reply.blocks.begin(), reply.blocks.end(),
                  [](const Block& block) { return block.type == Block::Type::kThinking; });
  if (!thinking) reply.blocks.clear();
}

void ReadAnthropicUsage(const Json& value, Reply& reply) {
  Json said;
  ReadUsage(Find(value, "usage"), said);
  if (said.is_object()) SetUsage(said, reply);
}

Result<Reply> ParseAnthropicReply(std::string_view body) {
  if (body.size() > kMaxReplyBytes) return MalformedReply("larger than 64 MiB");
  Reply reply;
  reply.provider_data = JsonObject();
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(body, reply.warnings));
  if (auto reported = FindReportedError(value)) return tl::unexpected(reported->error);
  const Json* content = Find(value, "content");
  if (!content || !content->is_array()) return MalformedReply("it has no content");
  for (const Json& block : content->as_array()) AddBlock(block, reply);
  DropPlainBlocks(reply);
  ReadAnthropicIdentity(value, reply);
  ReadFinish(value, reply);
  reply.usage.estimated = true;
  ReadAnthropicUsage(value, reply);
  return reply;
}

Result<AnthropicStream::Piece*> AnthropicStream::PieceAt(const Json& event) {
  const std::int64_t index = FindInt(event, "index").value_or(-1);
  if (index < 0 || index >= static_cast<std::int64_t>(kMostPieces)) {
    return MalformedReply("a content block with an impossible index");
  }
  if (static_cast<std::size_t>(index) >= pieces_.size()) {
    pieces_.resize(static_cast<std::size_t>(index) + 1);
  }
  return &pieces_[static_cast<std::size_t>(index)];
}

Result<std::string> AnthropicStream::Begin(const Json& event) {
  DOSSIER_ASSIGN_OR_RETURN(Piece* const piece, PieceAt(event));
  const Json* content = Find(event, "content_block");
  if (!content || !content->is_object()) return MalformedReply("a content block without content");
  *piece = {.start = *content};
  Grew();
  // Text and thinking may begin in the announcement.
  const std::string_view type = FindString(*content, "type").value_or("");
  if (type == "text") {
    piece->text = FindString(*content, "text").value_or("");
    reply_.text += piece->text;
    return piece->text;
  }
  if (type == "thinking") {
    piece->text = FindString(*content, "thinking").value_or("");
    piece->signature = FindString(*content, "signature").value_or("");
    reply_.thinking += piece->text;
  }
  return std::string();
}

Result<std::string> AnthropicStream::AddDelta(const Json& event) {
  DOSSIER_ASSIGN_OR_RETURN(Piece* const piece, PieceAt(event));
  const Json* delta = Find(event, "delta");
  if (!delta || !delta->is_object()) return MalformedReply("a delta that is no object");
  const auto field = [&](std::string_view name) { return TextAt(*delta, name); };
  const std::string_view type = FindString(*delta, "type").value_or("");
  if (type == "text_delta") {
    std::string text = field("text");
    if (!text.empty()) Grew();
    piece->text += text;
    reply_.text += text;
    return text;
  }
  if (type == "thinking_delta") {
    const std::string text = field("thinking");
    piece->text += text;
    reply_.thinking += text;
  } else if (type == "signature_delta") {
    piece->signature += field("signature");
  } else if (type == "input_json_delta") {
    piece->text += field("partial_json");
  }
  return std::string();
}

Result<std::string> AnthropicStream::Add(std::string_view data) {
  if (!reply_.provider_data.is_object()) {
    reply_.provider_data = JsonObject();
    reply_.usage.estimated = true;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json event, ParseLenient(data, reply_.warnings, &half_));
  if (!event.is_object()) return MalformedReply("an event that is no object");
  if (auto reported = FindReportedError(event)) {
    retry_ = reported->retry;
    return tl::unexpected(reported->error);
  }
  const std::string_view type = FindString(event, "type").value_or("");
  if (type == "content_block_start") return Begin(event);
  if (type == "content_block_delta") return AddDelta(event);
  if (type == "message_start") {
    if (const Json* message = Find(event, "message")) {
      ReadAnthropicIdentity(*message, reply_);
      ReadUsage(Find(*message, "usage"), usage_);
      SetUsage(usage_, reply_);
    }
  } else if (type == "message_delta") {
    if (const Json* usage = Find(event, "usage")) {
      ReadUsage(usage, usage_);
      SetUsage(usage_, reply_);
    }
    const Json* delta = Find(event, "delta");
    if (delta && FindString(*delta, "stop_reason")) {
      ReadFinish(*delta, reply_);
      finished_ = true;
    }
  }
  return std::string();
}

// Builds the blocks from their pieces, in order; text and thinking are there already.
void AnthropicStream::Complete(Reply& reply) {
  Reply whole;
  for (Piece& piece : pieces_) {
    if (!piece.start.is_object()) continue;
    JsonObject& content = piece.start.as_object();
    const std::string type = TextAt(piece.start, "type");
    if (type == "text") content["text"] = piece.text;
    if (type == "thinking") {
      content["thinking"] = piece.text;
      content["signature"] = piece.signature;
    }
    if (type == "tool_use" && !piece.text.empty()) {
      const std::string name = TextAt(piece.start, "name");
      content["input"] = ParseArguments(piece.text, name, reply.warnings);
    }
    AddBlock(piece.start, whole);
  }
  DropPlainBlocks(whole);
  reply.tool_calls = std::move(whole.tool_calls);
  reply.blocks = std::move(whole.blocks);
}

}  // namespace

const WireDialect kAnthropicDialect{
    .name = "anthropic",
    .version = "/v1",
    .target = [](const Request&, Streaming) { return std::string("/messages"); },
    .headers =
        [](std::string_view key) {
          std::vector<std::string> headers = {"anthropic-version: 2023-06-01"};
          if (!key.empty()) headers.push_back(fmt::format("x-api-key: {}", key));
          return headers;
        },
    .list_query = "?limit=1000",
    .build = BuildAnthropicBody,
    .parse = ParseAnthropicReply,
    .read_usage = ReadAnthropicUsage,
    .stream = []() -> std::unique_ptr<ReplyStream> { return std::make_unique<AnthropicStream>(); }};

}  // namespace dossier::model
