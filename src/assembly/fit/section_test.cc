// The content of a section (ASM-1), and the prompt for an unknown model (ASM-81).

#include <gtest/gtest.h>

#include "assembly/assemble.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

Result<Layout> OneSection(std::string_view keys) {
  return ParseLayout(fmt::format("sections:\n  - {{{}}}\n", keys), "x.yaml");
}

TEST(SectionTest, ItsFieldsTakeWhatTheSpecListsAndNothingElse) {  // ASM-1
  struct Case {
    std::string_view keys, message;  // "": it is read
  };
  constexpr Case kCases[] = {
      {"name: a", ""},
      {"name: a_2, zone: stable, role: user, priority: 0, fit: head, trust: trusted", ""},
      {"name: z9, zone: stable, role: assistant, priority: 1, fit: tail", ""},
      {"name: s, zone: system, role: system, fit: middle", ""},
      {"name: t, zone: history, fit: items, trust: untrusted", ""},
      {"name: t, zone: history, role: tool", "role tool comes from turns only"},
      {"name: 2a", "must match [a-z][a-z0-9_]*"},
      {"name: a-b", "must match [a-z][a-z0-9_]*"},
      {"name: _a", "must match [a-z][a-z0-9_]*"},
      {"name: \"\"", "a section needs a name"},
      {"name: Ü", "must match [a-z][a-z0-9_]*"},
      {"name: a, role: usr", "unknown role usr (user?)"},
      {"name: a, zone: middle", "unknown zone middle"},
      {"name: a, priority: -0.1", "priority must be a number from 0 to 1"},
      {"name: a, priority: 1.1", "priority must be a number from 0 to 1"},
      {"name: a, priority: high", "priority must be a number from 0 to 1"},
      {"name: a, fit: shrink", "unknown fit shrink"},
      {"name: a, trust: partly", "unknown trust partly"},
  };
  for (const Case& c : kCases) {
    const auto layout = OneSection(c.keys);
    if (c.message.empty()) {
      EXPECT_THAT(layout, Succeeds()) << c.keys;
    } else {
      EXPECT_THAT(layout, FailsWith(ErrorCode::kConfig, std::string(c.message))) << c.keys;
    }
  }
}

TEST(SectionTest, ContentIsTextItemsTypedPartsDataOrTurns) {  // ASM-1
  const Layout layout = Parse(R"(sections:
  - {name: text, zone: stable, source: data}
  - {name: items, zone: stable, source: data, fit: items}
  - {name: parts, zone: stable, source: data}
  - {name: data, zone: stable, source: data}
  - {name: past, zone: history, source: history}
  - {name: q, zone: request, text: Go}
)");
  const std::vector<Section> sections = {
      {.name = "text", .content = "one text"},
      {.name = "items", .items = {"first", "second"}},
      {.name = "data", .data = JsonObject{{"key", "value"}}},
      {.name = "past", .turns = {Says(Role::kAssistant, "before")}},
      {.name = "parts", .parts = {{.text = "a part"}, {.text = "another"}}}};
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Transcript(prompt->messages),
            "user: one text\n\nfirst\nsecond\n\na part\n\nanother\n\n# key\n\nvalue\n---\n"
            "assistant: before\n---\nuser: Go");
}

TEST(SectionTest, TheReportHoldsItsFieldsAndWhereItCameFrom) {  // ASM-1, ASM-100
  const Layout layout = Parse(R"(sections:
  - {name: files, zone: stable, source: files, priority: 0.25, fit: head}
  - {name: rules, zone: system, text: Rules, required: true, priority: 0.25}
  - {name: q, zone: request, text: Go}
)");
  const Json provenance = JsonObject{{"kind", "files"},
                                     {"reference", "src/**"},
                                     {"time", "2026-11-21T23:36:43Z"},
                                     {"bytes", 4},
                                     {"sha256", std::string(64, 'a')},
                                     {"audience", JsonArray{"assistant"}},
                                     {"last_modified", "2026-11-20T00:00:00Z"}};
  const std::vector<Section> sections = {
      {.name = "files", .content = "text", .provenance = provenance}};
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  const Json files = ReportOf(*prompt, "files"), rules = ReportOf(*prompt, "rules");
  EXPECT_EQ(*Find(files, "provenance"), provenance);
  EXPECT_EQ(FindString(files, "trust"), "untrusted");
  EXPECT_EQ(FindString(files, "zone"), "stable");
  EXPECT_EQ(FindString(files, "role"), "user");
  EXPECT_EQ(FindString(files, "fit"), "head");
  EXPECT_EQ(FindNumber(files, "priority"), 0.25);
  EXPECT_EQ(FindString(rules, "trust"), "trusted");
  EXPECT_EQ(FindNumber(rules, "priority"), 1) << "required is priority 1";
}

// The assistant first, two users in a row, a late system text, the assistant last.
Result<Assembled> AssembleOddTurns(const Capability& model) {
  const Layout layout = Parse(R"(sections:
  - {name: rules, zone: system, text: Rules}
  - {name: past, zone: history, source: history}
)");
  const std::vector<Section> sections = {
      {.name = "past",
       .turns = {Says(Role::kAssistant, "A"), Says(Role::kUser, "U1"), Says(Role::kUser, "U2"),
                 Says(Role::kSystem, "S"), Says(Role::kAssistant, "B")}}};
  return Assemble(layout, sections, {}, model, *tokens::MakeCharCounter(), Options());
}

TEST(SectionTest, AnUnknownModelGetsTheStrictForm) {  // ASM-81, ASM-80
  const auto prompt = AssembleOddTurns(Capability{});
  ASSERT_THAT(prompt, Succeeds());
  const std::vector<Turn>& turns = prompt->messages.turns;
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(prompt->messages.SystemText(), "Rules");
  EXPECT_EQ(turns[0].role, Role::kUser);
  EXPECT_EQ(turns[1].role, Role::kAssistant);
  EXPECT_EQ(turns[2].role, Role::kUser);
  for (const std::string_view text : {"A", "U1", "U2", "<system>\nS\n</system>"}) {
    EXPECT_NE(turns[0].Text().find(text), std::string::npos) << text << ": nothing is dropped";
  }
}

TEST(SectionTest, TheEntryOfAModelDecidesEachDeviationByItself) {  // ASM-81
  struct Case {
    std::string_view name;
    void (*set)(Capability*);
    std::string_view prompt;
  };
  const Case kCases[] = {
      {"assistant_first", [](Capability* model) { model->assistant_first = true; },
       "system: Rules\n---\nassistant: A\n---\nuser: U1\n\nU2\n\n<system>\nS\n</system>\n---\n"
       "assistant: B\n---\nuser: Continue."},
      {"late_system",
       [](Capability* model) {
         model->assistant_first = true;
         model->late_system = Capability::LateSystem::kYes;
       },
       "system: Rules\n---\nassistant: A\n---\nuser: U1\n\nU2\n---\nsystem: S\n---\n"
       "assistant: B\n---\nuser: Continue."},
      {"merge_same_role",
       [](Capability* model) {
         model->assistant_first = true;
         model->merge_same_role = false;
       },
       "system: Rules\n---\nassistant: A\n---\nuser: U1\n---\nuser: U2\n---\n"
       "user: <system>\nS\n</system>\n---\nassistant: B\n---\nuser: Continue."},
      {"prefill",
       [](Capability* model) {
         model->assistant_first = true;
         model->prefill = true;
       },
       "system: Rules\n---\nassistant: A\n---\nuser: U1\n\nU2\n\n<system>\nS\n</system>\n---\n"
       "assistant: B"},
      {"system_role",
       [](Capability* model) {
         model->assistant_first = true;
         model->system_role = "none";
       },
       "assistant: A\n---\nuser: <system>\nRules\n</system>\n\nU1\n\nU2\n\n<system>\nS\n</system>\n"
       "---\nassistant: B\n---\nuser: Continue."},
  };
  for (const Case& c : kCases) {
    Capability model;
    c.set(&model);
    const auto prompt = AssembleOddTurns(model);
    ASSERT_THAT(prompt, Succeeds()) << c.name;
    EXPECT_EQ(Transcript(prompt->messages), c.prompt) << c.name;
  }
}

}  // namespace
}  // namespace dossier::assembly
