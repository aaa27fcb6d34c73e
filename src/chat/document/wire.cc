#include "chat/document/wire.h"

#include <algorithm>

namespace dossier::chat {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

Role RoleOf(std::string_view name, std::vector<std::string>* warnings) {
  for (const Role role : {Role::kSystem, Role::kUser, Role::kAssistant, Role::kTool}) {
    if (assembly::RoleName(role) == name) return role;
  }
  if (name == "developer") return Role::kSystem;
  if (name == "function") return Role::kTool;
  warnings->push_back(fmt::format("a message of role '{}' is sent as role user", name));
  return Role::kUser;
}

// Splits "data:image/png;base64,AAAA" into its parts; any other URL is kept.
Block ImageBlock(std::string_view url) {
  Block block{.type = Block::Type::kImage};
  const std::size_t comma = url.find(',');
  const std::string_view head = url.substr(0, comma);
  if (!url.starts_with("data:") || comma == url.npos || !head.ends_with(";base64")) {
    block.url = url;
    return block;
  }
  block.media_type = head.substr(5, head.size() - 5 - 7);
  block.text = url.substr(comma + 1);
  return block;
}

Block PartBlock(const Json& part, std::vector<std::string>* warnings) {
  if (const auto text = FindString(part, "text")) return {.text = std::string(*text)};
  if (const Json* image = Find(part, "image_url")) {
    if (const auto url = FindString(*image, "url")) return ImageBlock(*url);
  }
  const std::string type(FindString(part, "type").value_or("unknown"));
  warnings->push_back(
      fmt::format("a part of type '{}' cannot be sent; it stays in the file", type));
  return {.text = fmt::format("[part of type {}, not sent]", type)};
}

void AddContent(const Json& message, Turn* turn, std::vector<std::string>* warnings) {
  const Json* content = Find(message, "content");
  if (!content || content->is_null()) return;
  if (content->is_array()) {
    for (const Json& part : content->get_array()) turn->blocks.push_back(PartBlock(part, warnings));
    return;
  }
  turn->blocks.push_back(
      {.text = content->is_string() ? std::string(content->get_string()) : ToJson(*content)});
}

void AddToolCalls(const Json& message, Turn* turn) {
  const Json* calls = Find(message, "tool_calls");
  if (!calls || !calls->is_array()) return;
  for (const Json& call : calls->get_array()) {
    Block block{.type = Block::Type::kToolCall};
    block.call_id = FindString(call, "id").value_or("");
    if (const Json* function = Find(call, "function")) {
      block.tool_name = FindString(*function, "name").value_or("");
      const auto arguments = FindString(*function, "arguments");
      auto parsed = ReadValue(arguments.value_or("{}"));
      block.arguments = parsed ? std::move(*parsed) : Json(std::string(arguments.value_or("")));
    }
    turn->blocks.push_back(std::move(block));
  }
}

}  // namespace

Turn ToTurn(const StoredMessage& message, std::vector<std::string>* warnings) {
  Turn turn{.role = RoleOf(message.role, warnings), .blocks = {}};
  if (turn.role == Role::kTool) {
    Block result{.type = Block::Type::kToolResult, .text = message.Text()};
    result.call_id = FindString(message.json, "tool_call_id").value_or("");
    result.tool_name = FindString(message.json, "name").value_or("");
    turn.blocks.push_back(std::move(result));
    return turn;
  }
  AddContent(message.json, &turn, warnings);
  if (turn.role == Role::kAssistant) AddToolCalls(message.json, &turn);
  // An empty message must stay, or the roles would no longer alternate.
  if (turn.blocks.empty()) turn.blocks.push_back({});
  return turn;
}

std::vector<Block> ImagesOf(const StoredMessage& message) {
  std::vector<std::string> ignored;
  std::vector<Block> images;
  for (Block& block : ToTurn(message, &ignored).blocks) {
    if (block.type == Block::Type::kImage) images.push_back(std::move(block));
  }
  return images;
}

std::vector<Turn> ToTurns(std::span<const StoredMessage> messages,
                          std::vector<std::string>* warnings) {
  std::vector<Turn> turns;
  for (const StoredMessage& message : messages) turns.push_back(ToTurn(message, warnings));
  return turns;
}

JsonObject ToMessage(const Turn& turn) {
  JsonObject message{{"role", assembly::RoleName(turn.role)}, {"content", nullptr}};
  JsonArray calls;
  std::string text;
  bool has_text = false;
  for (const Block& block : turn.blocks) {
    if (block.type == Block::Type::kToolCall) {
      calls.push_back(JsonObject{{"id", block.call_id},
                                 {"type", "function"},
                                 {"function", JsonObject{{"name", block.tool_name},
                                                         {"arguments", ToJson(block.arguments)}}}});
    } else if (block.type == Block::Type::kText || block.type == Block::Type::kToolResult) {
      if (has_text) text += "\n\n";
      text += block.text;
      has_text = true;
      if (block.type == Block::Type::kToolResult) message["tool_call_id"] = block.call_id;
    }
  }
  if (has_text) message["content"] = text;
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  return message;
}

}  // namespace dossier::chat
