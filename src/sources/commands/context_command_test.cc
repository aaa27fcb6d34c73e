#include "sources/commands/context_command.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"
#include "sources/commands/context_blocks.h"
#include "sources/commands/context_run.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;

Result<std::vector<ContextCommand>> Read(std::string_view yaml) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, assembly::ReadYaml(yaml, "dossier.yml"));
  return ReadContextCommands(root.entries.at(0).value, "dossier.yml");
}

TEST(ReadContextCommandsTest, ReadsEveryKey) {  // CON-14
  const auto commands = Read(R"(
context_commands:
  - {name: A, command: ls}
  - name: B
    argv: [git, log, "-n 1"]
    on_failure: FAIL
    timeout: 2m
    dynamic: true
    persist: true
    unchanged: note
    cwd: sub
    env: {X: "1"}
    pass_env: [GITHUB_TOKEN]
    max_output: 100
    keep_full: true
  - {name: C, command: ls, timeout: 500ms}
  - {name: D, command: ls, timeout: 0.25, on_failure: Ignore}
)");
  ASSERT_TRUE(commands) << commands.error().message;
  const ContextCommand& plain = (*commands)[0];
  EXPECT_EQ(std::get<std::string>(plain.run), "ls");
  EXPECT_EQ(plain.on_failure, OnFailure::kWarn);
  EXPECT_EQ(plain.timeout.count(), 10'000);
  EXPECT_EQ(plain.max_output, 65'536u);
  EXPECT_EQ(plain.freshness, Freshness::kStatic);  // Y1
  const ContextCommand& full = (*commands)[1];
  EXPECT_EQ(std::get<Argv>(full.run), (Argv{"git", "log", "-n 1"}));
  EXPECT_EQ(full.on_failure, OnFailure::kFail);
  EXPECT_EQ(full.timeout.count(), 120'000);
  EXPECT_EQ(full.freshness, Freshness::kDynamic);
  EXPECT_TRUE(full.persist && full.keep_full && full.unchanged == Unchanged::kNote);
  EXPECT_EQ(full.folder, "sub");
  EXPECT_EQ(full.environment.at(0).first, "X");
  EXPECT_EQ(full.pass_environment, std::vector<std::string>{"GITHUB_TOKEN"});
  EXPECT_EQ(full.max_output, 100u);
  EXPECT_EQ((*commands)[2].timeout.count(), 500);
  EXPECT_EQ((*commands)[3].timeout.count(), 250);
  EXPECT_EQ(Read("context_commands:\n")->size(), 0u);
}

TEST(ReadContextCommandsTest, BadInputIsNamedWithItsPlace) {  // CON section 6
  struct Case {
    std::string_view item, message;
  };
  constexpr Case kCases[] = {
      {"{name: A, command: x}\n  - {name: B, command: x}\n  - {name: C}",
       "context_commands[2]: 'command' is missing (dossier.yml:4)"},
      {"{command: x}", "context_commands[0]: 'name' is missing (dossier.yml:2)"},
      {"{name: A, command: x, argv: [x]}", "give 'command' or 'argv', not both (dossier.yml:2)"},
      {"word", "context_commands[0]: must be a map with 'name' and 'command' (dossier.yml:2)"},
      {"{name: ' ', command: x}", "'name' is empty"},
      {"{name: A, command: ''}", "'command' is empty"},
      {"{name: A, argv: []}", "'argv' is empty"},
      {"{name: A, command: x, timeout: \"x\"}",
       "dossier.yml:2:36: timeout \"x\": must be above 0: seconds, or a time such as 500ms or 2m"},
      {"{name: A, command: x, timeout: null}", "timeout null: must be above 0"},
      {"{name: A, command: x, timeout: 0}", "timeout 0: must be above 0"},
      {"{name: A, command: x, timeout: -1}", "timeout -1: must be above 0"},
      {"{name: A, command: x, timeout: nan}", "timeout nan: must be above 0"},
      {"{name: A, command: x, on_failure: stop}",
       "dossier.yml:2:39: on_failure stop: must be warn, ignore or fail"},
      {"{name: A, command: x, timout: 1}", "unknown key timout (timeout?)"},
      {"{name: A, command: x, dynamic: 1}", "dynamic must be true or false"},
      {"{name: A, command: x, env: {A=B: c}}", "a name without ="},
      {"{name: A, command: x, dynamic: true, unchanged: note}",
       "'unchanged: note' needs 'persist: true' (dossier.yml:2)"},  // CON-Y8
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(Read(fmt::format("context_commands:\n  - {}\n", c.item)),
                FailsWith(ErrorCode::kConfig, std::string(c.message)));
  }
  EXPECT_THAT(Read("context_commands: ls\n"),
              FailsWith(ErrorCode::kConfig,
                        "context_commands: must be a list of maps with 'name' "
                        "and 'command' (dossier.yml:1)"));
}

TEST(RenderCommandsTest, OnlyConfigCommandsAreTemplates) {  // CON-17, CON-20, CON-N16
  const TemplateVariables variables{{"F", {TemplateValue("a b;"), VariableOrigin::kCommandLine}}};
  std::vector<ContextCommand> commands{
      {.name = "A", .run = "cat {{ F | shellquote }}"},
      {.name = "{{ F }}", .run = Argv{"cat", "{{ F }}"}},
      {.name = "E", .run = "{{ x }}", .origin = CommandOrigin::kExec}};
  const auto rendered = RenderCommands(commands, variables, CommandRules::kDossier, nullptr);
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_EQ(std::get<std::string>((*rendered)[0].run), "cat 'a b;'");
  EXPECT_EQ(std::get<Argv>((*rendered)[1].run)[1], "a b;");
  EXPECT_EQ((*rendered)[1].name, "{{ F }}");
  EXPECT_EQ(std::get<std::string>((*rendered)[2].run), "{{ x }}");
  commands[0].run = "cat {{ F }}";
  EXPECT_THAT(RenderCommands(commands, variables, CommandRules::kDossier, nullptr),
              FailsWith(ErrorCode::kConfig,
                        "context command 'A': column 5: variable F holds shell characters; write "
                        "{{ F | shellquote }} or use argv (variables: F)"));
  std::vector<std::string> warnings;
  EXPECT_TRUE(RenderCommands(commands, variables, CommandRules::kCompat, &warnings));
  EXPECT_EQ(warnings.size(), 1u);
  commands[0].run = "cat {{ G }}";
  EXPECT_THAT(RenderCommands(commands, {}, CommandRules::kDossier, nullptr),
              FailsWith(ErrorCode::kConfig, "variable G is not defined (variables: none)"));
}

TEST(CutToTokensTest, TheLongestAreCutToTheLargestCommonCap) {  // CON-23
  const std::vector<ContextCommand> commands{{.name = "A"}, {.name = "B"}, {.name = "C"}};
  const auto result = [](std::size_t index, std::size_t lines) {
    CommandResult made{.index = index};
    for (std::size_t i = 0; i < lines; ++i) made.text += fmt::format("line {:04}\n", i);
    return made;
  };
  const std::vector<CommandResult> before{result(0, 10), result(1, 400), result(2, 500)};
  const auto size = [&](const std::vector<CommandResult>& results) {
    std::int64_t total = 4;
    for (const CommandResult& r : results) {
      total += static_cast<std::int64_t>(RenderBlock(commands[r.index].name, r).size());
    }
    return total;
  };
  const CountTokens bytes = [](std::string_view text) {
    return static_cast<std::int64_t>(text.size());
  };
  auto results = before;
  ASSERT_TRUE(CutToTokens(commands, size(before), bytes, &results));
  EXPECT_EQ(results[2].text, before[2].text);
  for (const std::int64_t limit : {8000, 5000, 1000}) {
    results = before;
    ASSERT_TRUE(CutToTokens(commands, limit, bytes, &results));
    EXPECT_LE(size(results), limit);
    EXPECT_GE(size(results), limit - 200);  // lines and the note are not divisible
    EXPECT_EQ(results[0].text, before[0].text);
    EXPECT_LE(results[1].text.size(), results[2].text.size() + 60);
    EXPECT_NE(results[2].text.find("cut by context_max_tokens of C ...]"), std::string::npos);
  }
  results = before;
  EXPECT_THAT(CutToTokens(commands, 50, bytes, &results),
              FailsWith(ErrorCode::kTooLong, "context_max_tokens 50: the blocks of 3 commands"));
}

}  // namespace
}  // namespace dossier::sources
