// Role rules R-1 to R-6: whatever the sections hold, the model gets a sequence that it accepts.

#include <gtest/gtest.h>

#include "assembly/assemble.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

constexpr std::string_view kChat = R"(lead: lead.md
sections:
  - {name: rules, zone: system, text: Rules}
  - {name: metadata, zone: stable, role: assistant, text: Metadata, when: metadata}
  - {name: question, zone: stable, role: user, text: Question, when: question}
  - {name: history, zone: history, source: history}
  - {name: ask, zone: request, source: var, with: {var: ask}, when: ask, optional: true}
)";

Layout Chat() {
  Layout layout = Parse(kChat);
  layout.templates["lead.md"] = {.file = "prompts/lead.md", .body = "Ready."};
  return layout;
}

Result<Assembled> AssembleChat(const Layout& layout, std::vector<Turn> turns,
                               const Capability& model,
                               std::map<std::string, std::string> variables) {
  const std::vector<Section> sections = {{.name = "history", .turns = std::move(turns)}};
  return Assemble(layout, sections, {}, model, *tokens::MakeCharCounter(),
                  Options(std::move(variables)));
}

std::vector<std::string> Rules(const Assembled& prompt) {
  std::vector<std::string> rules;
  for (const Json& repair : Find(prompt.report, "repairs")->get_array()) {
    rules.emplace_back(*FindString(repair, "rule"));
  }
  return rules;
}

Turn Calls(std::vector<std::string> ids) {
  Turn turn{Role::kAssistant, {}};
  for (const std::string& id : ids) {
    turn.blocks.push_back({.type = Block::Type::kToolCall,
                           .call_id = id,
                           .tool_name = "look",
                           .arguments = JsonObject{{"at", id}}});
  }
  return turn;
}

Turn Results(std::vector<std::string> ids) {
  Turn turn{Role::kTool, {}};
  for (const std::string& id : ids) {
    turn.blocks.push_back({.type = Block::Type::kToolResult, .text = "seen " + id, .call_id = id});
  }
  return turn;
}

TEST(RolesTest, TheEngineSequenceStandsAsItIsWhereTheModelAllowsIt) {  // ASM-80, ASM-82
  Capability model = Plain();
  model.assistant_first = true;
  const auto prompt = AssembleChat(Chat(), {Says(Role::kAssistant, "A1")}, model,
                                   {{"metadata", "1"}, {"question", "1"}, {"ask", "Go on"}});
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(
      Transcript(prompt->messages),
      "system: Rules\n---\nassistant: Metadata\n---\nuser: Question\n---\nassistant: A1\n---\n"
      "user: Go on");
  EXPECT_TRUE(Rules(*prompt).empty());
}

TEST(RolesTest, TheLeadStandsBeforeAnAssistantThatComesFirst) {  // ASM-82, ASM-84
  const auto prompt = AssembleChat(Chat(), {}, Plain(), {{"metadata", "1"}, {"ask", "Go"}});
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages),
            "system: Rules\n---\nuser: Ready.\n---\nassistant: Metadata\n---\nuser: Go");
  EXPECT_EQ(Rules(*prompt), (std::vector<std::string>{"R-3"}));
}

TEST(RolesTest, WithoutALeadTheAssistantsTextIsQuotedNeverDropped) {  // ASM-82
  Layout layout = Chat();
  layout.lead.clear();
  const auto prompt =
      AssembleChat(layout, {Says(Role::kAssistant, "One\nTwo")}, Plain(), {{"ask", "Go"}});
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages),
            "system: Rules\n---\nuser: Earlier reply of the assistant:\n\n> One\n> Two\n\nGo");
  EXPECT_EQ(Rules(*prompt), (std::vector<std::string>{"R-3"}));
}

TEST(RolesTest, ALeadThatIsNotLoadedIsAnError) {  // ASM-82
  const Layout layout = Parse(kChat);
  EXPECT_THAT(AssembleChat(layout, {}, Plain(), {{"ask", "Go"}}),
              FailsWith(ErrorCode::kConfig, "lead template lead.md not found"));
}

TEST(RolesTest, NeighboursOfOneRoleAreJoinedOnlyWhereTheModelNeedsIt) {  // ASM-86, ASM-84
  Capability model = Plain();
  const std::map<std::string, std::string> variables = {{"question", "1"}, {"ask", "Go"}};
  const auto joined = AssembleChat(Chat(), {}, model, variables);
  ASSERT_THAT(joined, Succeeds());
  EXPECT_EQ(Transcript(joined->messages), "system: Rules\n---\nuser: Question\n\nGo");
  EXPECT_EQ(joined->messages.turns[0].blocks.size(), 2u);
  EXPECT_EQ(Rules(*joined), (std::vector<std::string>{"R-2"}));

  model.merge_same_role = false;
  const auto apart = AssembleChat(Chat(), {}, model, variables);
  EXPECT_EQ(Transcript(apart->messages), "system: Rules\n---\nuser: Question\n---\nuser: Go");
  EXPECT_TRUE(Rules(*apart).empty());
}

TEST(RolesTest, SystemTextOpensTheFirstUserTurnOfAModelWithoutASystemRole) {  // ASM-87
  Capability model = Plain();
  model.system_role = "none";
  const auto prompt = AssembleChat(Chat(), {}, model, {{"ask", "Go"}});
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages), "user: <system>\nRules\n</system>\n\nGo");
  EXPECT_EQ(Rules(*prompt), (std::vector<std::string>{"R-2"}));
}

TEST(RolesTest, FillersCloseWhatTheModelWouldRefuse) {  // ASM-84
  Capability model = Plain();
  model.user_after_tool = false;
  const auto tools =
      AssembleChat(Chat(), {Says(Role::kUser, "U"), Calls({"1", "2"}), Results({"1", "2"})}, model,
                   {{"ask", "Go"}});
  ASSERT_THAT(tools, Succeeds());
  EXPECT_EQ(Transcript(tools->messages),
            "system: Rules\n---\nuser: U\n---\nassistant: \n---\ntool: seen 1\n\nseen 2\n---\n"
            "assistant: Understood.\n---\nuser: Go");
  const std::vector<Turn> last_is_reply = {Says(Role::kUser, "U"), Says(Role::kAssistant, "A")};
  EXPECT_EQ(Transcript(AssembleChat(Chat(), last_is_reply, Plain(), {})->messages),
            "system: Rules\n---\nuser: U\n---\nassistant: A\n---\nuser: Continue.");
  model.prefill = true;
  EXPECT_EQ(Transcript(AssembleChat(Chat(), last_is_reply, model, {})->messages),
            "system: Rules\n---\nuser: U\n---\nassistant: A");
}

// Returns why a strict model refuses; empty if it accepts.
std::string WhyRefused(const Messages& messages, const Capability& model) {
  const std::vector<Turn>& turns = messages.turns;
  if (turns.empty()) return "no turns";
  if (!model.assistant_first && turns.front().role != Role::kUser) return "first is not user";
  if (!model.prefill && turns.back().role == Role::kAssistant) return "last is assistant";
  if (model.system_role == "none" && !messages.system.empty()) return "system";
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].role == Role::kSystem) return "late system";
    if (turns[i].blocks.empty()) return "empty turn";
    if (i == 0) continue;
    const bool same = turns[i].role == turns[i - 1].role && turns[i].role != Role::kTool;
    if (model.merge_same_role && same) return "two of one role";
    if (!model.user_after_tool && turns[i].role == Role::kUser &&
        turns[i - 1].role == Role::kTool) {
      return "user after tool";
    }
  }
  return {};
}

// The texts that came from outside, in order: every sequence must keep them all.
std::string AllTexts(const std::vector<Turn>& turns) {
  std::string out;
  for (const Turn& turn : turns) {
    for (const Block& block : turn.blocks) {
      if (block.section == "history" || block.section == "ask") out += block.text + ";";
    }
  }
  return out;
}

TEST(RolesTest, EverySequenceOfFiveTurnsIsAcceptedByEveryKindOfModel) {  // ASM-T7, ASM-80 to 86
  const Layout layout = Chat();
  for (int kind = 0; kind < 32; ++kind) {
    Capability model = Plain();
    model.assistant_first = kind & 1;
    model.merge_same_role = kind & 2;
    model.prefill = kind & 4;
    model.user_after_tool = kind & 8;
    model.system_role = kind & 16 ? "none" : "field";
    for (int code = 0; code < 3 * 3 * 3 * 3 * 3; ++code) {
      std::vector<Turn> turns;
      for (int i = 0, rest = code; i < 5; ++i, rest /= 3) {
        const std::string id = std::to_string(i);
        if (rest % 3 == 0) turns.push_back(Says(Role::kUser, "u" + id));
        if (rest % 3 == 1) turns.push_back(Says(Role::kAssistant, "a" + id));
        if (rest % 3 == 2) {
          turns.push_back(Calls({id + "x", id + "y"}));
          turns.push_back(Results({id + "x", id + "y"}));
        }
      }
      std::string texts;
      for (const Turn& turn : turns) {
        for (const Block& block : turn.blocks) texts += block.text + ";";
      }
      const auto prompt = AssembleChat(layout, turns, model, {{"ask", "Go"}});
      ASSERT_THAT(prompt, Succeeds());
      EXPECT_EQ(WhyRefused(prompt->messages, model), "") << kind << " " << code;
      EXPECT_EQ(AllTexts(prompt->messages.turns), texts + "Go;") << kind << " " << code;
    }
  }
}

// One row of section 4.8 of the spec: what the data says, and what that provider refuses.
struct Row {
  std::string_view name;
  Capability model;
  enum class InARow { kOk, kRefused } same_role = InARow::kRefused;
};

std::vector<Row> Rows() {
  using LateSystem = Capability::LateSystem;
  using ToolResults = Capability::ToolResults;
  const auto model = [](auto&& change) {
    Capability out = Plain();
    change(out);
    return out;
  };
  return {
      {"openai", model([](Capability& m) {
         m.system_role = "developer";
         m.assistant_first = m.prefill = true;
         m.merge_same_role = false;
         m.late_system = LateSystem::kYes;
       }),
       Row::InARow::kOk},
      {"anthropic", model([](Capability& m) {
         m.system_role = "field";
         m.late_system = LateSystem::kAfterUser;
         m.tool_results = ToolResults::kUserTurn;
       })},
      {"bedrock", model([](Capability& m) {
         m.system_role = "field";
         m.tool_results = ToolResults::kUserTurn;
       })},
      {"gemini", model([](Capability& m) { m.system_role = "field"; })},
      {"mistral", model([](Capability& m) {
         m.prefill = m.prefill_flag = true;
         m.user_after_tool = false;
       })},
      {"gemma2", model([](Capability& m) {
         m.system_role = "none";
         m.tool_results = ToolResults::kUserTurn;
       })},
      {"perplexity", model([](Capability&) {})},
  };
}

// The provider's own rules, written down apart from the code that keeps them.
std::string WhyRowRefuses(const Messages& messages, const Row& row) {
  const Capability& model = row.model;
  if (model.system_role == "none" && !messages.system.empty()) return "system text";
  if (messages.turns.empty()) return "nothing";
  std::vector<std::string> open;  // calls that wait for their results
  for (std::size_t i = 0; i < messages.turns.size(); ++i) {
    const Turn& turn = messages.turns[i];
    const Role before = i == 0 ? Role::kSystem : messages.turns[i - 1].role;
    if (turn.blocks.empty()) return fmt::format("turn {} is empty", i);
    if (turn.role == Role::kSystem) {
      const bool late =
          model.late_system == Capability::LateSystem::kYes ||
          (model.late_system == Capability::LateSystem::kAfterUser && before == Role::kUser);
      if (!late) return fmt::format("turn {} is a late system message", i);
    }
    if (i == 0 && turn.role != Role::kUser && !model.assistant_first) return "starts wrong";
    const bool in_a_row = i > 0 && turn.role == before && turn.role != Role::kTool;
    if (in_a_row && row.same_role == Row::InARow::kRefused) return fmt::format("{} in a row", i);
    if (turn.role == Role::kUser && before == Role::kTool && !model.user_after_tool) {
      return "a user behind a tool";
    }
    const bool may_bring = model.tool_results == Capability::ToolResults::kUserTurn
                               ? turn.role == Role::kUser
                               : turn.role == Role::kTool;
    std::size_t results = 0;
    for (const Block& block : turn.blocks) {
      if (block.type != Block::Type::kToolResult) continue;
      const auto call = std::find(open.begin(), open.end(), block.call_id);
      if (call == open.end() || !may_bring) return "a result without its call: " + block.call_id;
      open.erase(call);
      ++results;
    }
    // Results come immediately, before any other text.
    if (!open.empty() && (results == 0 || turn.role == Role::kUser)) return "a call left open";
    for (const Block& block : turn.blocks) {
      if (block.type == Block::Type::kToolCall) open.push_back(block.call_id);
    }
  }
  if (!open.empty()) return "a call at the end";
  if (messages.turns.back().role == Role::kAssistant && !model.prefill) return "assistant last";
  return {};
}

// Turn `kind` of a sequence: user, assistant, a call, both results, one stray result, late system.
Turn TurnOf(int kind, int place) {
  const std::string id = std::to_string(place);
  switch (kind) {
    case 0:
      return Says(Role::kUser, "u" + id);
    case 1:
      return Says(Role::kAssistant, "a" + id);
    case 2:
      return Calls({"x", "y"});
    case 3:
      return Results({"x", "y"});
    case 4:
      return Results({"y"});
    default:
      return Says(Role::kSystem, "s" + id);
  }
}

TEST(RolesTest, EveryProviderAcceptsEverySequenceAndEachChangeIsReported) {  // ASM-T7, ASM-80 to 87
  Layout layout = Chat();
  layout.lead.clear();
  for (const Row& row : Rows()) {
    // All of the first four kinds, then each fifth of all six.
    constexpr int kPlain = 4 * 4 * 4 * 4 * 4, kAll = 6 * 6 * 6 * 6 * 6;
    for (int code = 0; code < kPlain + kAll / 5; ++code) {
      const int kinds = code < kPlain ? 4 : 6;
      std::vector<Turn> turns;
      for (int i = 0, rest = code < kPlain ? code : (code - kPlain) * 5; i < 5;
           ++i, rest /= kinds) {
        turns.push_back(TurnOf(rest % kinds, i));
      }
      const bool asks = code % 2 == 0;
      const auto prompt = AssembleChat(layout, turns, row.model,
                                       asks ? std::map<std::string, std::string>{{"ask", "Go"}}
                                            : std::map<std::string, std::string>{});
      if (!prompt) {
        ASSERT_EQ(prompt.error().code, ErrorCode::kUsage) << row.name << " " << code;  // R-6
        continue;
      }
      ASSERT_EQ(WhyRowRefuses(prompt->messages, row), "") << row.name << " " << code << "\n"
                                                          << Transcript(prompt->messages);
      const std::string sent = Transcript(prompt->messages);
      for (const Turn& turn : turns) {
        const std::string text = turn.Text();
        for (const Block& block : turn.blocks) {
          ASSERT_NE(sent.find(block.text), std::string::npos) << row.name << " " << code;
        }
      }
      // Every difference from the given turns is reported with a rule.
      const bool changed = prompt->messages.turns.size() != turns.size() + (asks ? 1 : 0);
      const bool merged_by_design = row.model.tool_results == Capability::ToolResults::kUserTurn;
      if (changed && !merged_by_design) {
        EXPECT_FALSE(Rules(*prompt).empty()) << row.name << " " << code;
      }
    }
  }
}

TEST(RolesTest, ACallWithoutResultsAndAResultWithoutItsCallAreToldAsText) {  // ASM-83
  const auto prompt = AssembleChat(
      Chat(), {Says(Role::kUser, "U"), Calls({"x", "y"}), Results({"y"}), Results({"z"})}, Plain(),
      {{"ask", "Go"}});
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Rules(*prompt), (std::vector<std::string>{"R-4", "R-4", "R-2"}));
  const std::string sent = Transcript(prompt->messages);
  EXPECT_NE(sent.find("Called look without a result: {\"at\":\"x\"}"), std::string::npos);
  EXPECT_NE(sent.find("Result of an earlier tool call:\n\n> seen z"), std::string::npos);
}

}  // namespace
}  // namespace dossier::assembly
