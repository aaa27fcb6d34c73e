#include "assembly/fit/tally.h"

namespace dossier::assembly {

namespace {

std::int64_t CountJoined(std::span<const Block> blocks, const tokens::Counter& counter) {
  const Block* only = nullptr;  // the first; most messages have no other
  std::unique_ptr<tokens::Running> running;
  const auto append = [&](const Block& block) {
    if (block.measured) {
      running->AppendMeasured(block.text, *block.measured);
    } else {
      running->Append(block.text);
    }
  };
  for (const Block& block : blocks) {
    if (!IsJoined(block)) continue;
    if (!only) {
      only = &block;
      continue;
    }
    if (!running) {
      running = counter.Start();
      append(*only);
    }
    running->Append("\n\n");
    append(block);
  }
  if (running) return running->Total().tokens;
  if (!only) return 0;
  return only->measured ? only->measured->tokens : counter.CountText(only->text).tokens;
}

}  // namespace

std::int64_t CountBlocks(std::span<const Block> blocks, const tokens::Counter& counter,
                         std::int64_t image_tokens) {
  std::int64_t tokens = CountJoined(blocks, counter);
  for (const Block& block : blocks) {
    if (block.type == Block::Type::kText) continue;
    if (block.type == Block::Type::kImage) {
      tokens += image_tokens;
      continue;
    }
    if (block.type == Block::Type::kThinking) tokens += counter.CountText(block.text).tokens;
    tokens += counter.CountText(block.tool_name).tokens;
    if (block.type == Block::Type::kToolCall) {
      tokens += counter.CountText(dossier::ToJson(block.arguments)).tokens;
    }
  }
  return tokens;
}

std::int64_t CountTools(const std::vector<ToolSpec>& tools, const tokens::Counter& counter) {
  std::int64_t tokens = 0;
  for (const ToolSpec& tool : tools) {
    tokens += counter
                  .CountText(dossier::ToJson(JsonObject{{"name", tool.name},
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
  const std::int64_t image = capability.image_tokens.value_or(0);
  if (!messages.system.empty()) {
    tally.used += CountBlocks(messages.system, counter, image);
    ++count;
  }
  tally.used += CountTools(messages.tools, counter);
  for (const Turn& turn : messages.turns) tally.used += CountBlocks(turn.blocks, counter, image);
  tally.framing = capability.tokens_per_request + capability.tokens_per_message * count;
  return tally;
}

}  // namespace dossier::assembly
