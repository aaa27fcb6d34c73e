#include "model/client/client.h"

namespace dossier::model {

std::string_view PurposeName(Purpose purpose) {
  switch (purpose) {
    case Purpose::kRoot:
      return "root";
    case Purpose::kDirect:
      return "direct";
    case Purpose::kSubcall:
      return "subcall";
    case Purpose::kMap:
      return "map";
    case Purpose::kExtract:
      return "extract";
    case Purpose::kRepair:
      return "repair";
    case Purpose::kCompact:
      return "compact";
    case Purpose::kClassify:
      return "classify";
    case Purpose::kRead:
      return "read";
    case Purpose::kTest:
      return "test";
  }
  return "unknown";
}

assembly::Turn AssistantTurn(const Reply& reply) {
  using assembly::Block;
  assembly::Turn turn{.role = assembly::Role::kAssistant, .blocks = reply.blocks};
  if (!turn.blocks.empty()) return turn;
  if (!reply.text.empty()) turn.blocks.push_back({.text = reply.text});
  for (const ToolCall& call : reply.tool_calls) {
    turn.blocks.push_back({.type = Block::Type::kToolCall,
                           .call_id = call.id,
                           .tool_name = call.name,
                           .arguments = call.arguments,
                           .provider_data = call.provider_data});
  }
  return turn;
}

std::string_view FinishName(Finish finish) {
  switch (finish) {
    case Finish::kStop:
      return "stop";
    case Finish::kLength:
      return "length";
    case Finish::kToolCalls:
      return "tool_calls";
    case Finish::kFilter:
      return "filter";
    case Finish::kCut:
      return "cut";
    case Finish::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace dossier::model
