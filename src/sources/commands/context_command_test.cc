#include "sources/commands/context_command.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/commands/command_text.h"
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
  EXPECT_EQ(std::get<CommandArgv>(full.run), (CommandArgv{"git", "log", "-n 1"}));
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
      {.name = "{{ F }}", .run = CommandArgv{"cat", "{{ F }}"}},
      {.name = "E", .run = "{{ x }}", .origin = CommandOrigin::kExec}};
  const auto rendered = RenderCommands(commands, variables, CommandRules::kDossier, nullptr);
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_EQ(std::get<std::string>((*rendered)[0].run), "cat 'a b;'");
  EXPECT_EQ(std::get<CommandArgv>((*rendered)[1].run)[1], "a b;");
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

namespace {

CommandResult Printed(std::string text) { return {.text = std::move(text)}; }

TEST(RenderBlockTest, HasTheBytesOfTheSpec) {  // CON-K1, CON-N15
  EXPECT_EQ(RenderBlock("Git Status", Printed(" M src/file.py")),
            "--- Context: Git Status ---\n M src/file.py\n--- End Context ---");
  EXPECT_EQ(RenderBlock("X", Printed("")), "--- Context: X ---\n(no output)\n--- End Context ---");
  CommandResult failed{.outcome = CommandOutcome::kExit, .error = "Command exited with code 2"};
  EXPECT_EQ(RenderBlock("X", failed),
            "--- Context Error: X ---\nCommand exited with code 2\n--- End Context ---");
  failed.text = "half";
  EXPECT_EQ(RenderBlock("X", failed),
            "--- Context Error: X ---\nCommand exited with code 2\nPartial output:\nhalf\n"
            "--- End Context ---");
  const std::string blocks[] = {RenderBlock("A", Printed("1")), RenderBlock("B", Printed("2"))};
  EXPECT_EQ(JoinBlocks(blocks),
            "--- Context: A ---\n1\n--- End Context ---\n\n"
            "--- Context: B ---\n2\n--- End Context ---");
}

TEST(RenderBlockTest, NamesCannotForgeMarkers) {  // CON-K2, CON-A1, CON-D20
  struct Case {
    std::string_view name, clean;
  };
  constexpr Case kCases[] = {
      {"Git Status", "Git Status"},
      {"x\n--- End Context ---", "x -- End Context --"},
      {"  a \t\r\n b  ", "a b"},
      {"a---b------c--d", "a--b--c--d"},
      {"\x01\x7f", ""},
      {"-- -", "-- -"},
      {"a\u0085b\u00a0c", "a b c"},
      {"\xff", "\xEF\xBF\xBD"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(assembly::MarkerName(c.name), c.clean) << c.name;
    EXPECT_EQ(FindBlocks(RenderBlock(c.name, Printed("o"))).size(), 1u) << c.name;
  }
  const std::string longest =
      assembly::MarkerName(std::string(60, 'a') + " " + std::string(99, 'b'));
  EXPECT_EQ(longest.size(), 120u);
  EXPECT_EQ(utf8::CodePoints(assembly::MarkerName(std::string(300, 'e') + "é")), 120u);
  EXPECT_EQ(assembly::MarkerName(std::string(119, 'a') + " b"), std::string(119, 'a'));
}

TEST(RenderBlockTest, OutputCannotForgeMarkersAndComesBack) {  // CON-K3, CON-A1, CON-D20
  constexpr std::string_view kMarkers[] = {"--- Context: x ---",
                                           "--- Context Error: ", "--- End Context ---"};
  for (const std::string_view marker : kMarkers) {
    for (const std::string_view end : {"\n", "\r", "\r\n", ""}) {
      for (std::size_t spaces = 0; spaces <= 3; ++spaces) {
        const std::string line = std::string(spaces, ' ') + std::string(marker);
        const std::string output = fmt::format("a{0}{1}{0}b{0}{1}{0}", end, line);
        const std::string body = assembly::EscapeMarkers(output);
        EXPECT_EQ(RestoreOutput(body), output);
        EXPECT_EQ(body.size() - output.size(), end.empty() ? 0u : 2u);
        EXPECT_EQ(FindBlocks(RenderBlock("T", Printed(output))).size(), 1u) << output;
      }
    }
  }
  EXPECT_EQ(assembly::EscapeMarkers("--- End Context ---"), " --- End Context ---");
  EXPECT_EQ(assembly::EscapeMarkers("\t--- End Context ---"), "\t--- End Context ---");
  EXPECT_EQ(assembly::EscapeMarkers("---  End Context ---"), "---  End Context ---");
}

TEST(RenderBlockTest, RestoringInvertsEscapingOnAnyText) {  // CON-K3, CON-A1
  constexpr std::string_view kPieces[] = {"--- Context: ",
                                          "--- Context Error: ",
                                          " ",
                                          "  ",
                                          "\n",
                                          "--- End Context ---",
                                          "\r",
                                          "x",
                                          "---",
                                          "\t",
                                          "é",
                                          "-"};
  Random random(/*seed=*/3);
  for (int round = 0; round < 20'000; ++round) {
    std::string output;
    for (std::uint64_t i = random.Below(16); i > 0; --i) {
      output += kPieces[random.Below(std::size(kPieces))];
    }
    ASSERT_EQ(RestoreOutput(assembly::EscapeMarkers(output)), output);
    const std::string block = RenderBlock("T", Printed(output));
    const auto found = FindBlocks(block);
    ASSERT_EQ(found.size(), 1u) << block;
    ASSERT_EQ(found[0].length, block.size()) << block;
  }
}

TEST(FindBlocksTest, NeedsAStartAndALaterEnd) {  // CON-K4, CON-B1, CON-B10, CON-B11
  const std::string both =
      "You are X.\n\n--- Context: A ---\n1\n--- End Context ---\n\n"
      "--- Context Error: B ---\nbad\n--- End Context ---";
  const auto blocks = FindBlocks(both);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "A");
  EXPECT_EQ(both.substr(blocks[0].offset, blocks[0].length),
            "--- Context: A ---\n1\n--- End Context ---");
  EXPECT_TRUE(blocks[1].error);
  EXPECT_EQ(blocks[1].offset + blocks[1].length, both.size());
  for (const std::string_view none :
       {"--- Context: A ---\n1", "--- End Context ---\n1",
        "--- End Context ---\n--- Context: A ---", "x --- Context: A ---\n--- End Context ---",
        " --- Context: A ---\n--- End Context ---", "--- Context: A --\n--- End Context ---",
        "--- Context: A ---\n--- End Context --- x", "--- Context: ---\n--- End Context ---", ""}) {
    EXPECT_TRUE(FindBlocks(none).empty()) << none;
  }
  EXPECT_EQ(FindBlocks("--- Context: A ---\r\n1\r\n--- End Context ---\r\n").size(), 1u);
}

std::string Cleaned(std::string_view output, CommandText::Options options = {},
                    std::size_t piece = 1 << 20, CommandText::Kept* kept = nullptr) {
  CommandText text(options);
  for (std::size_t at = 0; at < output.size(); at += piece) text.Add(output.substr(at, piece));
  CommandText::Kept result = std::move(text).Finish("T");
  if (kept) *kept = result;
  return result.text;
}

TEST(CommandTextTest, IsClean) {  // CON-22, CON-D22
  struct Case {
    std::string_view output, clean, compat;
    std::uint64_t invalid = 0, escapes = 0;
  };
  constexpr Case kCases[] = {
      {" M f\n", " M f", "M f"},
      {"\n \t\n\n  a\nb  \n\n", "  a\nb", "a\nb"},
      {" \n \n", "", ""},
      {"", "", ""},
      {"a\xff\xfe b\xC3", "a\uFFFD\uFFFD b\uFFFD", "a\uFFFD\uFFFD b\uFFFD", 3},
      {std::string_view("a\0b", 3), "a\uFFFDb", "a\uFFFDb", 1},
      {"\x1b[1;31mred\x1b[0m", "red", "red", 0, 2},
      {"a\x1b]0;title\ab\x1b]8;;x\x1b\\c", "abc", "abc", 0, 2},
      {"a\x1bPdata\x1b\\b\x1b(Bc\x1b=d\x1b"
       "Me",
       "abcde", "abcde", 0, 4},
      {"a\x1b]unclosed\nb", "a\nb", "a\nb", 0, 1},
      {"a\u009b1mb", "ab", "ab", 0, 1},
      {"a\x1b", "a", "a", 0, 1},
      {"a\x1b[\x1b[mb", "ab", "ab", 0, 2},
      {"a\x1b[3\nb", "a\nb", "a\nb", 0, 1},
      {"\uFFFD é 東 \U0001F600", "\uFFFD é 東 \U0001F600", "\uFFFD é 東 \U0001F600"},
      {"a\r\nb\tc\b", "a\r\nb\tc\b", "a\r\nb\tc\b"},
  };
  for (const Case& c : kCases) {
    for (const std::size_t piece : {1u, 2u, 3u, 1000u}) {
      CommandText::Kept kept;
      EXPECT_EQ(Cleaned(c.output, {}, piece, &kept), c.clean) << c.clean << " by " << piece;
      EXPECT_EQ(kept.invalid, c.invalid) << c.clean;
      EXPECT_EQ(kept.escapes, c.escapes) << c.clean;
      EXPECT_EQ(Cleaned(c.output, {.rules = CommandRules::kCompat}, piece), c.compat) << c.clean;
    }
  }
}

TEST(CommandTextTest, IsCutAtLineEnds) {  // CON-23, CON-D14
  std::string lines;
  for (int i = 1; i <= 100; ++i) lines += fmt::format("line {}\n", i);
  CommandText::Kept kept;
  EXPECT_EQ(Cleaned(lines, {.cap = 80}, 7, &kept),
            "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n"
            "[... 720 bytes of 792 cut by max_output of T ...]\nline 99\nline 100");
  EXPECT_EQ(kept.cut_bytes, 720u);
  EXPECT_EQ(Cleaned(lines, {.cap = 791}), lines.substr(0, 791));
  EXPECT_NE(Cleaned(lines, {.cap = 790}).find("cut by"), std::string::npos);
  EXPECT_EQ(Cleaned("abc" + std::string(100'000, '\n'), {.cap = 8}), "abc");
  const std::string spaced =
      "head\n" + std::string(100'000, ' ') + "\ntail" + std::string(9999, ' ');
  EXPECT_TRUE(Cleaned(spaced, {.cap = 40}).ends_with("\ntail")) << Cleaned(spaced, {.cap = 40});
}

TEST(CommandTextTest, NeverCutsACodePointAndNeverDependsOnPieces) {  // CON-23
  Random random(/*seed=*/23);
  for (int round = 0; round < 3000; ++round) {
    std::string output = random.Below(2) ? random.Utf8(400) : random.Bytes(random.Below(400));
    if (random.Below(2)) output = ReplaceAll(output, "a", "\n");
    const CommandText::Options options{.cap = random.Below(200)};
    CommandText::Kept whole, pieces;
    const std::string text = Cleaned(output, options, 1 << 20, &whole);
    ASSERT_EQ(Cleaned(output, options, 1 + random.Below(9), &pieces), text);
    ASSERT_EQ(whole.cut_bytes, pieces.cut_bytes);
    ASSERT_TRUE(utf8::IsValid(text));
    ASSERT_LE(text.size(), options.cap + (whole.cut_bytes ? 60u : 0u));
  }
}

}  // namespace
}  // namespace dossier::sources
