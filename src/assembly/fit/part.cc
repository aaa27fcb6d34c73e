#include "assembly/fit/part.h"

#include <algorithm>
#include <numeric>

namespace dossier::assembly {
namespace {

std::vector<std::size_t> PriorityOrder(std::span<const BudgetDemand> demands) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return demands[a].priority > demands[b].priority;
  });
  return order;
}

// Distributes by weight and returns the rest. Shares are of the room before anything is given.
std::int64_t GiveByWeight(std::int64_t room, std::span<const BudgetDemand> demands,
                          std::vector<Grant>* grants) {
  std::int64_t weights = 0;
  for (const BudgetDemand& demand : demands) weights += demand.weight;
  if (weights == 0) return room;
  std::int64_t left = room;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const auto share =
        static_cast<std::int64_t>(static_cast<__int128>(room) * demands[i].weight / weights);
    Grant& grant = (*grants)[i];
    grant.weight = std::clamp<std::int64_t>(demands[i].wanted - grant.total(), 0, share);
    left -= grant.weight;
  }
  return left;
}

std::int64_t Cascade(std::int64_t room, std::span<const BudgetDemand> demands,
                     std::span<const std::size_t> order, std::vector<Grant>* grants) {
  for (const std::size_t i : order) {
    Grant& grant = (*grants)[i];
    if (grant.dropped) continue;
    const std::int64_t more = std::clamp<std::int64_t>(demands[i].wanted - grant.total(), 0, room);
    grant.cascade += more;
    room -= more;
  }
  return room;
}

}  // namespace

std::vector<std::size_t> CascadeOrder(std::span<const BudgetDemand> demands) {
  std::vector<std::size_t> order = PriorityOrder(demands);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto place = [&](std::size_t i) {
      return demands[i].cascade_place < 0 ? demands.size()
                                          : static_cast<std::size_t>(demands[i].cascade_place);
    };
    return place(a) < place(b);
  });
  return order;
}

std::vector<Grant> ShareOut(std::int64_t room, std::span<const BudgetDemand> demands) {
  std::vector<Grant> grants(demands.size());
  room = std::max<std::int64_t>(room, 0);
  const std::vector<std::size_t> by_priority = PriorityOrder(demands);
  for (const std::size_t i : by_priority) {
    grants[i].floor = std::min({demands[i].floor, demands[i].wanted, room});
    room -= grants[i].floor;
  }
  room = GiveByWeight(room, demands, &grants);
  const std::vector<std::size_t> order = CascadeOrder(demands);
  room = Cascade(room, demands, order, &grants);
  for (auto it = by_priority.rbegin(); it != by_priority.rend(); ++it) {
    Grant& grant = grants[*it];
    if (grant.total() >= demands[*it].least) continue;
    room += grant.total();
    grant = {.dropped = true};
    room = Cascade(room, demands, order, &grants);
  }
  return grants;
}

namespace {

std::int64_t CountJoined(std::span<const Block> blocks, const tokens::Counter& counter) {
  const Block* only = nullptr;  // the first one; most messages have only one
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
