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

namespace {

void AddKnown(const std::optional<std::int64_t>& part, std::optional<std::int64_t>* sum) {
  if (part && *sum) {
    **sum += *part;
  } else {
    sum->reset();
  }
}

void AddTokens(const Usage& more, Usage* sum) {
  sum->input += more.input;
  sum->output += more.output;
  sum->cached += more.cached;
  sum->cache_write += more.cache_write;
  sum->cache_write_long += more.cache_write_long;
  sum->estimated |= more.estimated;
  AddKnown(more.reasoning, &sum->reasoning);
  AddKnown(more.cost_nano_usd, &sum->cost_nano_usd);
}

}  // namespace

void UsageSum::Add(const Usage& usage) {
  ++calls;
  AddTokens(usage, &total);
}

void UsageSum::Add(const UsageSum& more) {
  calls += more.calls;
  AddTokens(more.total, &total);
}

}  // namespace dossier::model
