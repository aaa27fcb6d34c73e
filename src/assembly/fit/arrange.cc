#include "assembly/fit/arrange.h"

#include <set>
#include <string_view>
#include <vector>

#include "assembly/fit/part.h"
#include "base/text/text.h"

namespace dossier::assembly {
namespace {

// Keeps tool calls and their results together, because providers refuse either one alone.
//
//   std::vector<Turn> turns = PairTools(history, "history", &repairs);
//
// Thread-safety: pure function.

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

  // Adds turn `i` in an allowed form; returns the ids of calls that turns i + 1 to `end` answer.
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

  // Adds the results of turns `begin` to `end`: those of `open` calls unchanged, others as text
  // after them.
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

// Returns `turns` in which every call has its result in the turns right after it, and every result
// its call before it. A call without a result and a result without a call become text, each
// reported as R-4. Results keep their order and number; only those apart from their call become
// text. `section` is named in `repairs`.
std::vector<Turn> PairTools(const std::vector<Turn>& turns, std::string_view section,
                            std::vector<Repair>* repairs) {
  return Pairing(section, repairs).Run(turns);
}

// Constants, so that the same repair gives the same bytes.
constexpr std::string_view kContinue = "Continue.";
constexpr std::string_view kUnderstood = "Understood.";

bool HasCall(const Turn& turn) {
  return std::any_of(turn.blocks.begin(), turn.blocks.end(),
                     [](const Block& block) { return block.type == Block::Type::kToolCall; });
}

Turn Filler(Role role, std::string_view text) {
  return {role, {{.text = std::string(text), .section = "repair"}}};
}

std::string Quoted(const Turn& turn) {
  return "Earlier reply of the assistant:\n\n> " + ReplaceAll(turn.Text(), "\n", "\n> ");
}

class Arranger {
 public:
  Arranger(std::span<const Part> parts, const Capability& capability)
      : parts_(parts), capability_(capability) {
    out_.turns.resize(parts.size(), -1);
  }

  Arranged Run(std::string_view lead) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].present()) AddPart(i);
    }
    RepairStart(lead);
    MoveSystemText();
    RepairMiddle();
    RepairEnd();
    return std::move(out_);
  }

 private:
  std::vector<Turn>& turns() { return out_.messages.turns; }

  void Report(std::string_view rule, std::string where, std::string text) {
    out_.repairs.push_back({std::string(rule), std::move(where), std::move(text)});
  }

  // Volatile and request parts form one turn together.
  static Zone Group(const Part& part) {
    return part.rule->zone == Zone::kVolatile ? Zone::kRequest : part.rule->zone;
  }

  void AddPart(std::size_t index) {
    const Part& part = parts_[index];
    if (!part.blocks.empty()) {
      AddBlocks(index);
      return;
    }
    AddTools(part);
    if (!part.fitted.turns.empty()) {
      AddTurns(index);
      return;
    }
    if (part.fitted.text.empty()) return;
    Block block{
        .text = part.fitted.text, .section = part.rule->name, .measured = part.fitted.measured};
    if (part.rule->role == Role::kSystem) {
      out_.messages.system.push_back(std::move(block));
      return;
    }
    Turn turn{.role = part.rule->role};
    turn.blocks.push_back(std::move(block));  // a list in braces would copy its text
    AddToGroup(std::move(turn), index);
  }

  void AddTools(const Part& part) {
    if (part.tools.empty()) return;
    auto& tools = out_.messages.tools;
    tools.insert(tools.end(), part.tools.begin(), part.tools.end());
    std::stable_sort(tools.begin(), tools.end(),
                     [](const ToolSpec& a, const ToolSpec& b) { return a.name < b.name; });
  }

  // Typed parts are passed on unchanged.
  void AddBlocks(std::size_t index) {
    const Part& part = parts_[index];
    if (part.rule->role != Role::kSystem) {
      AddToGroup({part.rule->role, part.blocks}, index);
      return;
    }
    auto& system = out_.messages.system;
    system.insert(system.end(), part.blocks.begin(), part.blocks.end());
  }

  void AddToGroup(Turn turn, std::size_t index) {
    const Part& part = parts_[index];
    const bool same_group = has_text_ && group_ == Group(part);
    Append(std::move(turn), index, same_group, 0);
    has_text_ = true;
    group_ = Group(part);
  }

  void AddTurns(std::size_t index) {
    const std::string& name = parts_[index].rule->name;
    std::vector<Turn> added = PairTools(parts_[index].fitted.turns, name, &out_.repairs);
    for (std::size_t i = 0; i < added.size(); ++i) {
      Turn& turn = added[i];
      const bool results = turn.role == Role::kTool;
      if (turn.role == Role::kSystem && !MayStandLate(turn)) {
        turn = {Role::kUser,
                {{.text = fmt::format("<system>\n{}\n</system>", turn.Text()), .section = name}}};
        Report("R-2", Where(index, i), "a system message inside the turns became user text");
      }
      if (results && capability_.tool_results == Capability::ToolResults::kUserTurn) {
        turn.role = Role::kUser;
      }
      // All results of one message are answered together.
      const bool belongs = results && !turns().empty() && EndsWithResult(turns().back());
      Append(std::move(turn), index, belongs, i);
    }
    has_text_ = false;
  }

  bool MayStandLate(const Turn& turn) {
    using LateSystem = Capability::LateSystem;
    if (capability_.late_system == LateSystem::kYes) return true;
    return capability_.late_system == LateSystem::kAfterUser && !turns().empty() &&
           turns().back().role == Role::kUser && !EndsWithResult(turns().back()) &&
           !turn.blocks.empty();
  }

  static bool EndsWithResult(const Turn& turn) {
    return !turn.blocks.empty() && turn.blocks.back().type == Block::Type::kToolResult;
  }

  std::string Where(std::size_t index, std::size_t turn) const {
    return fmt::format("{}[{}]", parts_[index].rule->name, turn);
  }

  // Adds to the last turn if the roles are equal and the texts belong together or must be merged.
  void Append(Turn turn, std::size_t index, bool belongs, std::size_t number) {
    const bool same = !turns().empty() && turns().back().role == turn.role;
    const bool forced = capability_.merge_same_role && turn.role != Role::kTool;
    if (same && (belongs || forced)) {
      if (!belongs) {
        Report("R-2", Where(index, number),
               fmt::format("joined to the {} message before it", RoleName(turn.role)));
      }
      auto& blocks = turns().back().blocks;
      blocks.insert(blocks.end(), std::make_move_iterator(turn.blocks.begin()),
                    std::make_move_iterator(turn.blocks.end()));
    } else {
      turns().push_back(std::move(turn));
    }
    if (out_.turns[index] < 0) out_.turns[index] = static_cast<int>(turns().size()) - 1;
  }

  void InsertTurn(std::size_t at, Turn turn) {
    turns().insert(turns().begin() + static_cast<std::ptrdiff_t>(at), std::move(turn));
    for (int& place : out_.turns) {
      if (place >= static_cast<int>(at)) ++place;
    }
  }

  // leading text of the assistant is never dropped.
  void RepairStart(std::string_view lead) {
    if (capability_.assistant_first || turns().empty()) return;
    if (turns().front().role == Role::kUser) return;
    if (!lead.empty()) {
      InsertTurn(0, {Role::kUser, {{.text = std::string(lead), .section = "lead"}}});
      Report("R-3", "turns[0]", "the lead message stands before the assistant's first one");
    } else if (turns().front().role == Role::kTool || HasCall(turns().front())) {
      InsertTurn(0, Filler(Role::kUser, kContinue));
      Report("R-3", "turns[0]", "a filler stands before the first tool call");
    } else {
      QuoteFirst();
    }
  }

  void QuoteFirst() {
    Block quote{.text = Quoted(turns().front()), .section = "repair"};
    turns().erase(turns().begin());
    for (int& place : out_.turns) place = std::max(place - 1, std::min(place, 0));
    if (turns().empty() || turns().front().role != Role::kUser) {
      InsertTurn(0, {Role::kUser, {}});
    }
    auto& blocks = turns().front().blocks;
    blocks.insert(blocks.begin(), std::move(quote));
    Report("R-3", "turns[0]", "the assistant's first message is quoted in the user's");
  }

  // For a model without a system role: puts it at the start of the first user message.
  void MoveSystemText() {
    if (capability_.system_role != "none" || out_.messages.system.empty()) return;
    Block block{.text = fmt::format("<system>\n{}\n</system>", out_.messages.SystemText()),
                .section = out_.messages.system.front().section};
    out_.messages.system.clear();
    std::size_t first = 0;
    while (first < turns().size() && turns()[first].role != Role::kUser) ++first;
    if (first == turns().size()) InsertTurn(first = 0, {Role::kUser, {}});
    auto& blocks = turns()[first].blocks;
    blocks.insert(blocks.begin(), std::move(block));
    Report("R-2", fmt::format("turns[{}]", first), "the system text opens the user's message");
  }

  void RepairMiddle() {
    if (capability_.user_after_tool) return;
    for (std::size_t i = 1; i < turns().size(); ++i) {
      if (turns()[i - 1].role != Role::kTool || turns()[i].role != Role::kUser) continue;
      InsertTurn(i, Filler(Role::kAssistant, kUnderstood));
      Report("R-5", fmt::format("turns[{}]", i), "a filler stands between tool and user");
    }
  }

  void RepairEnd() {
    if (turns().empty() || turns().back().role != Role::kAssistant || capability_.prefill) return;
    turns().push_back(Filler(Role::kUser, kContinue));
    Report("R-5", fmt::format("turns[{}]", turns().size() - 1),
           "a filler stands behind the assistant's last message");
  }

  std::span<const Part> parts_;
  const Capability& capability_;
  Arranged out_;
  bool has_text_ = false;  // the last turn may take another section of `group_`
  Zone group_ = Zone::kStable;
};

}  // namespace

Arranged Arrange(std::span<const Part> parts, const Capability& capability, std::string_view lead) {
  return Arranger(parts, capability).Run(lead);
}

}  // namespace dossier::assembly
