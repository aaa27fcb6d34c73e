#include "assembly/assemble.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

std::string NumberedLines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += fmt::format("line {:02}\n", i);
  return text;
}

constexpr std::string_view kWorkedCase = R"(schema: dossier.layout/1
name: worked
sections:
  - {name: rules, zone: system, source: text, text: Be brief., required: true}
  - {name: notes, zone: stable, source: files, trust: trusted, fence: tag, fit: head}
  - {name: question, zone: request, source: var, with: {var: question}, required: true}
)";

Result<Assembled> AssembleWorkedCase(std::int64_t budget) {
  const Layout layout = Parse(kWorkedCase);
  const std::vector<Section> sections = {{.name = "notes", .content = NumberedLines(10)}};
  return Assemble(layout, sections, {.tokens = budget}, Plain(), *tokens::MakeCharCounter(),
                  Options({{"question", "How many?"}}));
}

TEST(AssembleTest, TheWorkedCaseOfTheSpecComesOutByteForByte) {  // ASM-47, ASM-T1, ASM-45, ASM-71
  const auto prompt = AssembleWorkedCase(100);
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages),
            "system: Be brief.\n---\n"
            "user: <notes>\nline 01\nline 02\nline 03\n[left out: 7 of 10 lines of notes]\n"
            "</notes>\n\nHow many?");
  EXPECT_EQ(prompt->tokens, 95);
  EXPECT_TRUE(prompt->tokens_exact);
  EXPECT_EQ(prompt->headroom, 5);
  const auto again = AssembleWorkedCase(100);
  EXPECT_EQ(ToJson(again->report), ToJson(prompt->report));
  EXPECT_EQ(ToJson(ToCanonicalJson(again->messages)), ToJson(ToCanonicalJson(prompt->messages)));
}

TEST(AssembleTest, EveryBudgetEitherHoldsOrFailsByName) {  // ASM-30, ASM-31, ASM-35
  for (std::int64_t budget = 1; budget <= 140; ++budget) {
    const auto prompt = AssembleWorkedCase(budget);
    if (budget < 18) {
      EXPECT_THAT(prompt, FailsWith(ErrorCode::kTooLong, "raise --budget to 18")) << budget;
    } else {
      ASSERT_THAT(prompt, Succeeds()) << budget;
      EXPECT_LE(prompt->tokens, budget);
    }
  }
  EXPECT_EQ(FindString(ReportOf(*AssembleWorkedCase(60), "notes"), "outcome"), "dropped");
  EXPECT_EQ(FindString(ReportOf(*AssembleWorkedCase(60), "notes"), "reason"), "under-min");
  EXPECT_EQ(FindString(ReportOf(*AssembleWorkedCase(115), "notes"), "outcome"), "cut");
  EXPECT_EQ(FindString(ReportOf(*AssembleWorkedCase(140), "notes"), "outcome"), "kept");
}

TEST(AssembleTest, TheMarginOfAnInexactCounterIsTakenOffTheBudget) {  // ASM-30
  const Layout layout = Parse(kWorkedCase);
  const auto counter = tokens::MakeEstimator({.bytes_per_token = 4, .margin = 0.10});
  ASSERT_THAT(counter, Succeeds());
  const std::vector<Section> sections = {{.name = "notes", .content = NumberedLines(99)}};
  Capability model = Plain();
  model.tokens_per_message = 4;
  model.tokens_per_request = 3;
  const auto prompt = Assemble(layout, sections, {.tokens = 64'000}, model, **counter,
                               Options({{"question", "How many?"}}));
  ASSERT_THAT(prompt, Succeeds());
  const Json budget = *Find(prompt->report, "budget");
  EXPECT_EQ(FindInt(budget, "framing"), 11);
  EXPECT_EQ(FindInt(budget, "usable"), 58'181 - 11);
  EXPECT_EQ(FindInt(budget, "margin_tokens"), 64'000 - 58'181);
  EXPECT_FALSE(prompt->tokens_exact);
}

TEST(AssembleTest, TheBudgetComesFromCallerLayoutOrShareAndNeverPassesTheLimit) {  // section 4.4
  struct Case {
    std::string_view budget;
    Budget given;
    std::int64_t limit, want;
  };
  constexpr Case kCases[] = {
      {"{window_share: 0.5, reserve_output: 8192}", {}, 191'808, 100'000},
      {"{tokens: 60000}", {}, 199'000, 60'000},
      {"{tokens: 60000}", {.tokens = 70'000}, 199'000, 70'000},
      {"{}", {.tokens = 500'000, .reserve_output = 50'000}, 150'000, 500'000},
  };
  for (const Case& c : kCases) {
    const Layout layout = Parse(
        fmt::format("budget: {}\nsections: [{{name: q, zone: request, text: Hello}}]", c.budget));
    Capability model = Plain();
    model.window = 200'000;
    const auto prompt = Assemble(layout, {}, c.given, model, *tokens::MakeCharCounter(), Options());
    ASSERT_THAT(prompt, Succeeds());
    const Json budget = *Find(prompt->report, "budget");
    EXPECT_EQ(FindInt(budget, "limit"), c.limit) << c.budget;
    EXPECT_EQ(FindInt(budget, "want"), c.want) << c.budget;
    EXPECT_EQ(FindInt(budget, "usable"), std::min(c.limit, c.want)) << c.budget;
  }
  const Layout layout = Parse("sections: [{name: q, zone: request, text: Hello}]");
  EXPECT_THAT(Assemble(layout, {}, {.reserve_output = 1'000'000}, Plain(),
                       *tokens::MakeCharCounter(), Options()),
              FailsWith(ErrorCode::kConfig, "reserve_output 1,000,000 leaves nothing"));
}

TEST(AssembleTest, ZonesStandInCacheOrderWhateverTheLayoutOrder) {  // ASM-70, ASM-71, ASM-8
  const Layout layout = Parse(R"(sections:
  - {name: ask, zone: request, text: Ask}
  - {name: now, zone: volatile, text: Now}
  - {name: past, zone: history, source: history}
  - {name: guide, zone: stable, role: assistant, text: Guide}
  - {name: facts, zone: stable, text: Facts}
  - {name: more, zone: stable, text: More}
  - {name: nothing, zone: stable, source: data, optional: true}
  - {name: rules, zone: system, text: "Rules\n\n"}
  - {name: style, zone: system, text: Style}
)");
  const std::vector<Section> sections = {
      {.name = "past",
       .turns = {Says(Role::kAssistant, "A1"), Says(Role::kUser, "U1"),
                 Says(Role::kAssistant, "A2")}},
      {.name = "nothing", .content = "\n"}};
  Capability model = Plain();
  model.assistant_first = true;
  const auto prompt = Assemble(layout, sections, {}, model, *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages),
            "system: Rules\n\nStyle\n---\nassistant: Guide\n---\nuser: Facts\n\nMore\n---\n"
            "assistant: A1\n---\nuser: U1\n---\nassistant: A2\n---\nuser: Now\n\nAsk");
  EXPECT_EQ(prompt->messages.turns[1].blocks.size(), 2u);
  EXPECT_EQ(prompt->messages.turns[1].blocks[1].section, "more");
  EXPECT_EQ(FindString(ReportOf(*prompt, "nothing"), "outcome"), "empty");
  EXPECT_TRUE(Find(prompt->report, "repairs")->get_array().empty());
}

TEST(AssembleTest, ToolsAreSortedByName) {  // ASM-70
  const Layout layout = Parse(
      "sections: [{name: tools, zone: tools, source: tools}, {name: q, zone: request, text: Hi}]");
  const std::vector<Section> sections = {
      {.name = "tools",
       .tools = {{.name = "b", .parameters = JsonObject{{"z", 1}, {"a", 2}}},
                 {.name = "a", .description = "first"}}}};
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  ASSERT_EQ(prompt->messages.tools.size(), 2u);
  EXPECT_EQ(prompt->messages.tools[0].name, "a");
  EXPECT_EQ(ToJson(prompt->messages.tools[1].parameters), R"({"z":1,"a":2})");
  EXPECT_GT(prompt->tokens, 50);
}

TEST(AssembleTest, ConditionsVariablesAndDefaultsDecideWhatGoesIn) {  // ASM-13
  const Layout layout = Parse(R"(vars: {mode: {one_of: [a, b], default: a}, task: {required: true}}
sections:
  - {name: first, zone: request, text: First, when: extra}
  - {name: second, zone: request, text: Second, unless: extra}
  - {name: mode, zone: request, source: var, with: {var: mode}}
  - {name: task, zone: request, source: var, with: {var: task}}
)");
  const auto counter = tokens::MakeCharCounter();
  auto prompt = Assemble(layout, {}, {}, Plain(), *counter, Options({{"task", "T"}}));
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages), "user: Second\n\na\n\nT");
  EXPECT_EQ(FindString(ReportOf(*prompt, "first"), "reason"), "condition");
  prompt = Assemble(layout, {}, {}, Plain(), *counter, Options({{"task", "T"}, {"extra", "1"}}));
  EXPECT_EQ(Transcript(prompt->messages), "user: First\n\na\n\nT");
  EXPECT_THAT(Assemble(layout, {}, {}, Plain(), *counter, Options({{"task", "T"}, {"mode", "c"}})),
              FailsWith(ErrorCode::kConfig, "variable mode is 'c'; allowed: a, b"));
  EXPECT_THAT(Assemble(layout, {}, {}, Plain(), *counter, Options()),
              FailsWith(ErrorCode::kConfig, "variable task has no value"));
}

TEST(AssembleTest, MissingContentIsAnErrorUnlessOptional) {  // ASM-12, section 6
  const auto counter = tokens::MakeCharCounter();
  const Layout strict =
      Parse("sections: [{name: files, source: files}, {name: q, zone: request, text: Hi}]");
  EXPECT_THAT(Assemble(strict, {}, {}, Plain(), *counter, Options()),
              FailsWith(ErrorCode::kNotFound, "section files: no content was given"));
  const Layout lax = Parse(
      "sections: [{name: files, source: files, optional: true}, {name: q, zone: request, text: "
      "Hi}]");
  const auto prompt = Assemble(lax, {}, {}, Plain(), *counter, Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(FindString(ReportOf(*prompt, "files"), "outcome"), "absent");
  const Layout required = Parse(
      "sections: [{name: rules, zone: system, source: data, required: true}, "
      "{name: q, zone: request, text: Hi}]");
  EXPECT_THAT(
      Assemble(required, std::vector<Section>{{.name = "rules"}}, {}, Plain(), *counter, Options()),
      FailsWith(ErrorCode::kNotFound, "section rules: it is required"));
}

TEST(AssembleTest, NothingToAskIsAnErrorOfUse) {  // ASM-85, section 6
  const Layout layout = Parse(
      "sections: [{name: rules, zone: system, text: Rules}, "
      "{name: q, zone: request, source: var, with: {var: q}, required: true}]");
  EXPECT_THAT(Assemble(layout, {}, {}, Plain(), *tokens::MakeCharCounter(), Options({{"q", "\n"}})),
              FailsWith(ErrorCode::kUsage, "nothing to ask: the request zone is empty"));
}

TEST(AssembleTest, ACallersSectionWinsOverItsSource) {  // ASM-12
  const Layout layout = Parse("sections: [{name: q, zone: request, text: From the file}]");
  const std::vector<Section> sections = {{.name = "q", .content = "From the caller"},
                                         {.name = "other", .content = "x"}};
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages), "user: From the caller");
  const JsonArray& warnings = Find(prompt->report, "warnings")->get_array();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(FindString(warnings[0], "code"), "unknown-section");
}

TEST(AssembleTest, TheRequestZoneIsNeverCut) {  // ASM-38
  const Layout layout = Parse(R"(sections:
  - {name: notes, zone: stable, source: data, fit: head, priority: 0.9}
  - {name: results, zone: request, source: data, fit: head, priority: 0.1}
)");
  const std::vector<Section> sections = {{.name = "notes", .content = std::string(500, 'n')},
                                         {.name = "results", .content = std::string(80, 'r')}};
  const auto prompt =
      Assemble(layout, sections, {.tokens = 200}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(FindString(ReportOf(*prompt, "results"), "outcome"), "kept");
  EXPECT_EQ(FindString(ReportOf(*prompt, "notes"), "outcome"), "cut");
  EXPECT_EQ(prompt->headroom, 0);  // a long line is cut to the very token
}

TEST(AssembleTest, RequiredSectionsOverTheBudgetAreNamedWithTheBudgetThatWouldDo) {  // ASM-31
  const Layout layout = Parse(R"(sections:
  - {name: rules, zone: system, source: data, required: true}
  - {name: notes, zone: stable, source: data}
  - {name: task, zone: request, source: data}
)");
  const std::vector<Section> sections = {{.name = "rules", .content = std::string(3000, 'r')},
                                         {.name = "notes", .content = std::string(100, 'n')},
                                         {.name = "task", .content = std::string(4000, 't')}};
  const auto counter = tokens::MakeCharCounter();
  EXPECT_THAT(
      Assemble(layout, sections, {.tokens = 5000}, Plain(), *counter, Options()),
      FailsWith(ErrorCode::kTooLong,
                "the prompt needs 7,000 tokens, 5,000 fit: raise --budget to 7,000 or shorten task "
                "(required: task 4,000, rules 3,000)"));
  EXPECT_THAT(Assemble(layout, sections, {.tokens = 7000}, Plain(), *counter, Options()),
              Succeeds());
}

TEST(AssembleTest, ARequiredSectionThatCanBeCutGetsItsFloor) {  // ASM-31, ASM-32
  const Layout layout = Parse(R"(sections:
  - {name: code, zone: stable, source: data, fit: head, required: true, floor: 60}
  - {name: notes, zone: stable, source: data, fit: head, priority: 0.9, floor: 1000}
  - {name: task, zone: request, text: Go}
)");
  const std::vector<Section> sections = {{.name = "code", .content = std::string(900, 'c')},
                                         {.name = "notes", .content = std::string(900, 'n')}};
  const auto counter = tokens::MakeCharCounter();
  const auto prompt = Assemble(layout, sections, {.tokens = 200}, Plain(), *counter, Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(FindInt(ReportOf(*prompt, "code"), "tokens"), 60);
  EXPECT_THAT(Assemble(layout, sections, {.tokens = 30}, Plain(), *counter, Options()),
              FailsWith(ErrorCode::kTooLong, "raise --budget to"));
}

TEST(AssembleTest, TokensAndCapsBoundASectionWhateverIsFree) {  // ASM-33, ASM-35
  const Layout layout = Parse(R"(sections:
  - {name: fixed, zone: stable, source: data, fit: head, tokens: 50}
  - {name: capped, zone: stable, source: data, fit: tail, cap: 60}
  - {name: chars, zone: stable, source: data, fit: middle, cap_chars: 70}
  - {name: task, zone: request, text: Go}
)");
  std::vector<Section> sections;
  for (const std::string name : {"fixed", "capped", "chars"}) {
    sections.push_back({.name = name, .content = std::string(900, 'x')});
  }
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(FindInt(ReportOf(*prompt, "fixed"), "tokens"), 50);
  EXPECT_EQ(FindInt(ReportOf(*prompt, "capped"), "tokens"), 60);
  EXPECT_EQ(FindInt(ReportOf(*prompt, "chars"), "tokens"), 70);
}

TEST(AssembleTest, InvalidTextIsReplacedAndReported) {  // section 6, ASM-57
  const Layout layout = Parse("sections: [{name: q, zone: request, source: data}]");
  const std::vector<Section> sections = {
      {.name = "q", .content = std::string("a\xEF\xBF\xBD\xFF\0z", 7)}};
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages), "user: a\uFFFD\uFFFD\uFFFDz");
  const JsonArray& warnings = Find(prompt->report, "warnings")->get_array();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(FindString(warnings[0], "text"),
            "section q: byte 4 is not valid text; U+FFFD stands for it");
}

TEST(AssembleTest, PrefixHashesChangeFromTheFirstChangedSectionOn) {  // ASM-74
  const Layout layout = Parse(R"(sections:
  - {name: a, zone: system, text: A}
  - {name: b, zone: stable, source: var, with: {var: b}}
  - {name: c, zone: stable, text: C}
  - {name: d, zone: request, text: D}
)");
  const auto counter = tokens::MakeCharCounter();
  const auto before = Assemble(layout, {}, {}, Plain(), *counter, Options({{"b", "1"}}));
  const auto after = Assemble(layout, {}, {}, Plain(), *counter, Options({{"b", "2"}}));
  const auto prefix = [](const Assembled& prompt, std::string_view name) {
    return std::string(*FindString(ReportOf(prompt, name), "prefix_sha256"));
  };
  EXPECT_EQ(prefix(*before, "a"), prefix(*after, "a"));
  EXPECT_EQ(prefix(*before, "b"), prefix(*after, "b"));
  EXPECT_NE(prefix(*before, "c"), prefix(*after, "c"));
  EXPECT_NE(prefix(*before, "d"), prefix(*after, "d"));
  EXPECT_NE(prefix(*before, "a"), prefix(*before, "b"));
  EXPECT_EQ(FindString(ReportOf(*before, "c"), "sha256"), Sha256Hex("C"));
}

TEST(AssembleTest, AChangingSectionInAnEarlyZoneIsWarnedOf) {  // ASM-75
  const Layout layout = Parse(R"(sections:
  - {name: header, zone: system, text: Monday, changes: call}
  - {name: ask, zone: request, text: Hello}
)");
  const auto prompt = Assemble(layout, {}, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  const JsonArray& warnings = Find(prompt->report, "warnings")->get_array();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(FindString(warnings[0], "text"), "volatile-first: 5 tokens after it cannot be cached");
}

}  // namespace
}  // namespace dossier::assembly
