#include "sources/commands/context_blocks.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/commands/command_text.h"

namespace dossier::sources {
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
