#include "cli/markdown/markdown_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/random.h"

namespace dossier::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Show(std::string_view text, int columns = 40,
                 Terminal::Color color = Terminal::Color::kNo) {
  std::ostringstream out;
  MarkdownView view({.columns = columns, .color = color}, out);
  view.Write(text);
  view.End();
  return out.str();
}

TEST(MarkdownViewTest, EveryBlockHasItsLook) {  // CON-7
  struct Case {
    std::string_view text, shown;
  };
  constexpr Case kCases[] = {
      {"", ""},
      {"one\n", "one\n"},
      {"no final newline", "no final newline\n"},
      {"a paragraph that is longer than forty columns of text\n",
       "a paragraph that is longer than forty\ncolumns of text\n"},
      {"its line\nbreaks stay\n", "its line\nbreaks stay\n"},
      {"a\n\n\n\nb\n", "a\n\nb\n"},
      {"a\n# Title #\nb", "a\n\n# Title\nb\n"},
      {"#tag and #1", "#tag and #1\n"},
      {"- a\n- b\n", "• a\n• b\n"},
      {"* a\n  - b\n    + c\n", "• a\n  • b\n    • c\n"},
      {"1. a\n  - nested by two\n2. b\n", "1. a\n   • nested by two\n2. b\n"},
      {"10. a\n\n    more of a\n11. b\n", "10. a\n\n    more of a\n11. b\n"},
      {"- an item that is longer than forty columns\n",
       "• an item that is longer than forty\n  columns\n"},
      {"- \n- b\n", "•\n• b\n"},
      {"- a\n\nafter\n", "• a\n\nafter\n"},
      {"- a\nlazy\n", "• a\n  lazy\n"},
      {"> a\n> b\n\nafter\n", "│ a\n│ b\n\nafter\n"},
      {"> a\n>\n> - b\n", "│ a\n│\n│ • b\n"},
      {"---\n", "────────────────────────────────────────\n"},
      {"* * *\nx", "────────────────────────────────────────\nx\n"},
      {"```python\nx = 1\n\n  y\n```\nz",
       "── python ──────────────────────────────\nx = 1\n\n  y\n"
       "────────────────────────────────────────\nz\n"},
      {"```\nnever closed, and longer than the forty columns",
       "────────────────────────────────────────\nnever closed, and longer than the forty columns\n"
       "────────────────────────────────────────\n"},
      {"1. a\n   ```sh\n   make\n   ```\n",
       "1. a\n   ── sh ───────────────────────────────\n   make\n"
       "   ─────────────────────────────────────\n"},
      {"````\n```\n````\n",
       "────────────────────────────────────────\n```\n"
       "────────────────────────────────────────\n"},
      {"    indented\n", "    indented\n"},
      {"-x is no item, - nor is this, 3.5 no number\n",
       "-x is no item, - nor is this, 3.5 no\nnumber\n"},
      {"Title\n=====\n", "Title\n─────\n"},
      {"<b>html</b> &amp; &#65;\n", "<b>html</b> & A\n"},
      {"[docs](https://x.org/a) and https://y.org\n", "docs (https://x.org/a) and https://y.org\n"},
      {"![a cat](cat.png)\n", "[image: a cat] (cat.png)\n"},
      {"**bold** *it* `a  b` ~~no~~\n", "**bold** *it* `a  b` ~~no~~\n"},
      {"line one\\\nline two\n", "line one\nline two\n"},
      {"東京は日本の首都であり、世界最大の都市圏の一つである。\n",
       "東京は日本の首都であり、世界最大の都市圏\nの一つである。\n"},
      {"a\r\nb\r\n", "a\nb\n"},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\naaaaaaaaaa\n"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Show(c.text), c.shown) << c.text;
}

TEST(MarkdownViewTest, StylesReplaceTheMarksWhereThereAreColours) {
  constexpr auto kYes = Terminal::Color::kYes;
  EXPECT_EQ(Show("a **b** c", 40, kYes), "a \x1b[1mb\x1b[0m c\n");
  EXPECT_EQ(Show("`x`", 40, kYes), "\x1b[36mx\x1b[0m\n");
  EXPECT_EQ(Show("# T", 40, kYes), "\x1b[1;35mT\x1b[0m\n");
  EXPECT_EQ(Show("[a](b)", 40, kYes), "\x1b[4ma\x1b[0m\x1b[2m (b)\x1b[0m\n");
  EXPECT_EQ(Show("***\n**unclosed", 40, kYes), Show("***\n", 40, kYes) + "**unclosed\n");
}

TEST(MarkdownViewTest, TablesFitTheWidth) {
  EXPECT_EQ(Show("| name | size |\n|:--|--:|\n| vim | 12 |\n| 東京 | 3 |\n"),
            "name │ size\n─────┼─────\nvim  │   12\n東京 │    3\n");
  EXPECT_EQ(
      Show("| a | b |\n|---|---|\n| one two three four five six seven eight nine | x \\| y |\n"),
      "a                                │ b\n"
      "─────────────────────────────────┼──────\n"
      "one two three four five six      │ x | y\n"
      "seven eight nine                 │\n");
  // Too many columns for the width.
  EXPECT_THAT(
      Show("|aaaaaa|bbbbbb|cccccc|dddddd|eeeeee|ffffff|\n|-|-|-|-|-|-|\n|1|2|3|4|5|6|\n", 30),
      HasSubstr("aaaaaa: 1\nbbbbbb: 2\n"));
  EXPECT_EQ(Show("| no table\nx\n"), "| no table\nx\n");
}

// The screen after each chunk: words do not wait for the end.
TEST(MarkdownViewTest, WhatCanBeShownIsShownAtOnce) {  // CON-46
  struct Step {
    std::string_view chunk, shown;
  };
  constexpr Step kSteps[] = {
      {"The ", "The"},
      {"disk i", "The disk"},
      {"s **fu", "The disk is"},
      {"ll** now", "The disk is **full**"},
      {".\n```sh\nls", "The disk is **full** now.\n── sh ──────────────────────────────\n"},
      {"\ndf", "The disk is **full** now.\n── sh ──────────────────────────────\nls\n"},
  };
  std::ostringstream out;
  MarkdownView view({.columns = 36}, out);
  for (const Step& step : kSteps) {
    view.Write(step.chunk);
    EXPECT_EQ(out.str(), step.shown) << step.chunk;
  }
}

TEST(MarkdownViewTest, AControlByteIsShownAndNeverSent) {  // CON-7, A12
  constexpr std::string_view kHostile =
      "a\x1b[2Jb \x07\x08 \x7f\n# \x1b[31mred\n```\x1b]0;t\x07\n\x1b[1A\r\n```\n"
      "| \x1b[5m | b |\n|---|---|\n| [x](\x1b[0m) | &#27;[2J |\n> \xc2\x9b"
      "31m\n- \xe2\x80\xae";
  const std::string shown = Show(kHostile, 40);
  EXPECT_THAT(shown, HasSubstr("a^[[2Jb"));
  EXPECT_THAT(shown, HasSubstr("# ^[[31mred"));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown, Not(HasSubstr("\xc2\x9b")));
}

// Texts full of marks, so that chance meets the corners.
std::string RandomMarkdown(Random& random) {
  static constexpr std::string_view kWords[] = {
      "a",     "word ",       "**",          "*",
      "_",     "`",           "```",         "\n",
      "\n\n",  "- ",          "1. ",         "> ",
      "# ",    "| a | b |\n", "|---|---|\n", "[x](y)",
      "[",     "](",          ")",           "~~",
      "\\",    "&amp;",       "&#27;",       "\t",
      "    ",  "東京",        "\x1b[2J",     "\r",
      "\r\n",  "\xff",        "\xe6\x9d",    "https://x.org",
      "---\n", "===\n",       "<b>",         "👩‍💻",
      "  "};
  std::string text;
  for (std::uint64_t i = random.Below(40); i > 0; --i) {
    text += kWords[random.Below(std::size(kWords))];
  }
  return text;
}

void ExpectSafe(std::string_view shown, std::string_view text) {
  for (std::size_t at = shown.find('\x1b'); at != std::string_view::npos;
       at = shown.find('\x1b', at + 1)) {
    const std::size_t end = shown.find_first_not_of("0123456789;", at + 2);
    ASSERT_TRUE(shown[at + 1] == '[' && end != std::string_view::npos && shown[end] == 'm') << text;
  }
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(byte >= 0x20 || c == '\n' || c == '\t' || c == '\x1b') << text;
    ASSERT_NE(byte, 0x7F) << text;
  }
}

TEST(MarkdownViewTest, AnySplitOfATextShowsTheSame) {  // CON-46
  Random random(/*seed=*/11);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = RandomMarkdown(random);
    const int columns = static_cast<int>(random.Below(60));
    const auto color = random.Below(2) == 0 ? Terminal::Color::kNo : Terminal::Color::kYes;
    const std::string whole = Show(text, columns, color);
    ExpectSafe(whole, text);
    std::ostringstream out;
    MarkdownView view({.columns = columns, .color = color}, out);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random.Below(5);
      view.Write(std::string_view(text).substr(at, size));
      at += size;
    }
    view.End();
    ASSERT_EQ(out.str(), whole) << text;
    const bool escapes = whole.find('\x1b') != std::string::npos;
    ASSERT_FALSE(escapes && color == Terminal::Color::kNo) << text;
  }
}

// No letter of a text is lost; a view that drops what it does not understand would be of no use.
TEST(MarkdownViewTest, EveryWordIsShown) {
  Random random(/*seed=*/12);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int word = 0; word < 12; ++word) {
      text += RandomMarkdown(random).substr(0, 6) + fmt::format("w{}q", word);
    }
    const std::string shown = Show(text, 200);
    for (int word = 0; word < 12; ++word) {
      const std::string name = fmt::format("w{}q", word);
      // A link's address and the info of a fence have places of their own; a word may stand in
      // them.
      if (text.find("```") == std::string::npos && text.find("](") == std::string::npos) {
        ASSERT_THAT(shown, HasSubstr(name)) << text;
      }
    }
  }
}

TEST(MarkdownViewTest, AReplyWithoutEndsStaysCheap) {
  for (const std::string_view part : {"*", "[", "`", "| a ", "-", "> ", "**a ", "\\", "#", "1. "}) {
    std::string text;
    while (text.size() < 200'000) text += part;
    EXPECT_GE(Show(text, 80).size(), 1) << part;
  }
  EXPECT_GE(Show("```\n" + std::string(300'000, 'x')).size(), 300'000);
}

}  // namespace
}  // namespace dossier::cli
