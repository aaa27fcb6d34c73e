#include "assembly/tally.h"

namespace dossier::assembly {

std::int64_t CountTurn(const Turn& turn, const tokens::Counter& counter) {
  // The common turn has one text; its copy is saved.
  const bool single = turn.blocks.size() == 1;
  std::int64_t tokens =
      counter.CountText(single ? std::string_view(turn.blocks[0].text) : turn.Text()).tokens;
  for (const Block& block : turn.blocks) {
    if (block.type == Block::Type::kText) continue;
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
    tokens += counter.CountText(ToJson(JsonObject{{"name", tool.name},
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
  for (const Turn& turn : messages.turns) tally.used += CountTurn(turn, counter);
  tally.framing = capability.tokens_per_request + capability.tokens_per_message * count;
  return tally;
}

}  // namespace dossier::assembly
