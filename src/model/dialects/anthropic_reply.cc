#include "model/dialects/anthropic_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

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
  if (reply.finish == Finish::kFilter) {
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

}  // namespace

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
  DOSSIER_ASSIGN_OR_RETURN(const Json event, ParseLenient(data, reply_.warnings));
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

}  // namespace dossier::model
