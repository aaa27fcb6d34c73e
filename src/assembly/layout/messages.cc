#include "assembly/layout/messages.h"

#include <algorithm>
#include <iterator>

namespace dossier::assembly {
namespace {

std::string JoinTexts(const std::vector<Block>& blocks) {
  std::size_t size = 0;
  for (const Block& block : blocks) size += block.text.size() + 2;
  std::string out;
  out.reserve(size);
  for (const Block& block : blocks) {
    if (!IsJoined(block)) continue;
    if (!out.empty()) out += "\n\n";
    out += block.text;
  }
  return out;
}

Json BlockToJson(const Block& block) {
  JsonObject out;
  switch (block.type) {
    case Block::Type::kText:
      out["type"] = "text";
      out["text"] = block.text;
      break;
    case Block::Type::kImage:
      out["type"] = "image";
      if (block.url.empty()) {
        out["media_type"] = block.media_type;
        out["data"] = block.text;
      } else {
        out["url"] = block.url;
      }
      break;
    case Block::Type::kThinking:
      out["type"] = "thinking";
      out["text"] = block.text;
      break;
    case Block::Type::kToolCall:
      out["type"] = "tool_call";
      out["id"] = block.call_id;
      out["name"] = block.tool_name;
      out["arguments"] = block.arguments;
      break;
    case Block::Type::kToolResult:
      out["type"] = "tool_result";
      out["id"] = block.call_id;
      out["name"] = block.tool_name;
      out["text"] = block.text;
      break;
  }
  if (!block.provider_data.is_null()) out["provider_data"] = block.provider_data;
  out["section"] = block.section;
  if (block.cache) {
    out["cache"] = *block.cache;
  } else {
    out["cache"] = nullptr;
  }
  return out;
}

JsonArray BlocksToJson(const std::vector<Block>& blocks) {
  JsonArray out;
  out.reserve(blocks.size());
  for (const Block& block : blocks) out.push_back(BlockToJson(block));
  return out;
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
    case Role::kTool:
      return "tool";
  }
  return "user";
}

bool IsJoined(const Block& block) {
  const bool hidden = block.type == Block::Type::kImage || block.type == Block::Type::kThinking;
  return !block.text.empty() && !hidden;
}

std::string Turn::Text() const { return JoinTexts(blocks); }

std::string_view Turn::TextView(std::string* room) const {
  const auto first = std::ranges::find_if(blocks, IsJoined);
  if (first == blocks.end()) return {};
  if (std::none_of(std::next(first), blocks.end(), IsJoined)) return first->text;
  return *room = Text();
}

std::string Messages::SystemText() const { return JoinTexts(system); }

Json ToCanonicalJson(const Messages& messages) {
  JsonArray tools;
  for (const ToolSpec& tool : messages.tools) {
    tools.push_back(JsonObject{
        {"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}});
  }
  JsonArray turns;
  turns.reserve(messages.turns.size());
  for (const Turn& turn : messages.turns) {
    turns.push_back(
        JsonObject{{"role", RoleName(turn.role)}, {"blocks", BlocksToJson(turn.blocks)}});
  }
  JsonObject out;
  out["schema"] = "dossier.messages/1";
  out["tools"] = std::move(tools);
  out["system"] = BlocksToJson(messages.system);
  out["turns"] = std::move(turns);
  return out;
}

}  // namespace dossier::assembly
