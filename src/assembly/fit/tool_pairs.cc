#include "assembly/fit/tool_pairs.h"

#include <set>

#include "base/text/text.h"

namespace dossier::assembly {
namespace {

using Type = Block::Type;

bool Has(const Turn& turn, Type type) {
  return std::any_of(turn.blocks.begin(), turn.blocks.end(),
                     [&](const Block& block) { return block.type == type; });
}

class Pairing {
 public:
  Pairing(std::string_view section, std::vector<Repair>* repairs)
      : section_(section), repairs_(repairs) {}

  std::vector<Turn> Run(const std::vector<Turn>& turns) {
    for (std::size_t i = 0; i < turns.size();) {
      std::size_t end = i + 1;
      while (end < turns.size() && Has(turns[end], Type::kToolResult)) ++end;
      if (Has(turns[i], Type::kToolResult)) {
        AddResults(turns, i, i + 1, {});
        ++i;
        continue;
      }
      const std::set<std::string> answered = AddCalls(turns, i, end);
      AddResults(turns, i + 1, end, answered);
      i = end;
    }
    return std::move(out_);
  }

 private:
  void Report(std::size_t turn, std::string text) {
    repairs_->push_back({"R-4", fmt::format("{}[{}]", section_, turn), std::move(text)});
  }

  // Turn `i` as it may stand; gives the ids of the calls that turns i + 1 to `end` answer.
  std::set<std::string> AddCalls(const std::vector<Turn>& turns, std::size_t i, std::size_t end) {
    std::set<std::string> results, answered;
    for (std::size_t next = i + 1; next < end; ++next) {
      for (const Block& block : turns[next].blocks) {
        if (block.type == Type::kToolResult) results.insert(block.call_id);
      }
    }
    Turn turn{turns[i].role, {}};
    for (const Block& block : turns[i].blocks) {
      const bool call = block.type == Type::kToolCall;
      const bool kept = call && turn.role == Role::kAssistant && results.contains(block.call_id) &&
                        answered.insert(block.call_id).second;
      if (!call || kept) {
        turn.blocks.push_back(block);
        continue;
      }
      turn.blocks.push_back({.text = fmt::format("Called {} without a result: {}", block.tool_name,
                                                 ToJson(block.arguments)),
                             .section = block.section});
      Report(i, fmt::format("the call {} has no result: it is told as text", block.call_id));
    }
    out_.push_back(std::move(turn));
    return answered;
  }

  // The results of turns `begin` to `end`: those of `open` calls as they are, others as text
  // behind.
  void AddResults(const std::vector<Turn>& turns, std::size_t begin, std::size_t end,
                  std::set<std::string> open) {
    std::vector<Block> strays;
    for (std::size_t i = begin; i < end; ++i) {
      Turn turn{turns[i].role, {}};
      for (const Block& block : turns[i].blocks) {
        const bool result = block.type == Type::kToolResult;
        if (result && open.erase(block.call_id) == 0) {
          strays.push_back({.text = "Result of an earlier tool call:\n\n> " +
                                    ReplaceAll(block.text, "\n", "\n> "),
                            .section = block.section});
          Report(i, fmt::format("the result {} has no call before it: it is told as text",
                                block.call_id));
        } else if (!result && turn.role == Role::kTool) {
          strays.push_back(block);
        } else {
          turn.blocks.push_back(block);
        }
      }
      if (!turn.blocks.empty()) out_.push_back(std::move(turn));
    }
    if (!strays.empty()) out_.push_back({Role::kUser, std::move(strays)});
  }

  std::string_view section_;
  std::vector<Repair>* repairs_;
  std::vector<Turn> out_;
};

}  // namespace

std::vector<Turn> PairTools(const std::vector<Turn>& turns, std::string_view section,
                            std::vector<Repair>* repairs) {
  return Pairing(section, repairs).Run(turns);
}

}  // namespace dossier::assembly
