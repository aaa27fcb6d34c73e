#include "assembly/tally.h"

namespace dossier::assembly {

std::int64_t CountTurn(const Turn& turn, const tokens::Counter& counter,
                       std::int64_t image_tokens) {
  // The common turn has one text; its copy is saved.
  const bool single = turn.blocks.size() == 1 && turn.blocks[0].type != Block::Type::kImage;
  std::int64_t tokens =
      counter.CountText(single ? std::string_view(turn.blocks[0].text) : turn.Text()).tokens;
  for (const Block& block : turn.blocks) {
    if (block.type == Block::Type::kText) continue;
    if (block.type == Block::Type::kImage) {
      tokens += image_tokens;
      continue;
    }
    tokens += counter.CountText(block.tool_name).tokens;
    if (block.type == Block::Type::kToolCall) {
      tokens += counter.CountText(ToJson(block.arguments)).tokens;
    }
  }
  return tokens;
}

std::int64_t CountTools(const std::vector<ToolSpec>& tools, const tokens::Counter& counter) {
  std::int64_t tokens = 0;
  for (const ToolSpec& tool : tools) {
    tokens += counter
                  .CountText(ToJson(JsonObject{{"name", tool.name},
                                               {"description", tool.description},
                                               {"parameters", tool.parameters}}))
                  .tokens;
  }
  return tokens;
}

Tally CountRequest(const Messages& messages, const Capability& capability,
                   const tokens::Counter& counter) {
  Tally tally;
  std::int64_t count = static_cast<std::int64_t>(messages.turns.size());
  if (!messages.system.empty()) {
    tally.used += counter.CountText(messages.SystemText()).tokens;
    ++count;
  }
  tally.used += CountTools(messages.tools, counter);
  const std::int64_t image = capability.image_tokens.value_or(0);
  for (const Turn& turn : messages.turns) tally.used += CountTurn(turn, counter, image);
  tally.framing = capability.tokens_per_request + capability.tokens_per_message * count;
  return tally;
}

}  // namespace dossier::assembly
