#include "base/files/glob.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/text.h"

namespace dossier {
namespace {

TEST(GlobTest, PatternsMeanWhatGitSays) {  // ASM-110
  struct Case {
    std::string_view pattern, text;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"a*c", "abc", true},
      {"a*c", "a/c", false},
      {"a**c", "a/c", false},
      {"**/c", "c", true},
      {"**/c", "a/b/c", true},
      {"**/c", "a/bc", false},
      {"a/**/c", "a/c", true},
      {"a/**", "a/b/c", true},
      {"**", "a/b", true},
      {"a/**/b/**/c", "a/x/b/y/z/c", true},
      {"?", "/", false},
      {"[a-c]", "b", true},
      {"[!a]", "/", false},
      {"[a", "a", false},
      {"[[:upper:]]", "A", true},
      {"[[:upper:]]", "a", false},
      {"[[:what:]]", "a", false},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"a\\", "a", false},
      {"[]-]", "]", true},
      {"[a-]", "-", true},
      {"[\\]]", "]", true},
      {"", "", true},
      {"*", "", true},
      {"[\xC0-\xFF]", "\xE9", true},
      {"***/a", "x/y/a", true},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Glob(c.pattern).Matches(c.text), c.matches) << c.pattern << " | " << c.text;
  }
}

TEST(GlobTest, LettersOfBothCasesAreAlikeAsInGitWhereThatIsAskedFor) {  // ASM-110
  struct Case {
    std::string_view pattern, text;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"*.LOG", "a.log", true}, {"*.log", "a.LOG", true}, {"A?c", "aBC", true},
      {"[A-C]", "b", true},     {"[a-c]", "B", true},     {"[[:upper:]]", "q", true},
      {"[!A-C]", "b", false},   {"\\Q", "q", true},       {"Ã", "Ã¤", false},
      {"[Q]", "q", false},      {"[q]", "Q", true},       {"[@-B]", "a", true},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Glob(c.pattern, CaseSensitivity::kInsensitive).Matches(c.text), c.matches)
        << c.pattern << " | " << c.text;
  }
  EXPECT_FALSE(Glob("*.LOG").Matches("a.log"));
}

TEST(GlobTest, ManyStarsEndSoon) {
  std::string pattern, text(4000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(Glob(pattern + "b").Matches(text));
  EXPECT_TRUE(Glob(pattern).Matches(text));
}

TEST(GlobTest, BracesAreWrittenOut) {  // ASM-110
  struct Case {
    std::string_view pattern, expected;
  };
  constexpr Case kCases[] = {
      {"a", "a"},
      {"*.{cc,h}", "*.cc *.h"},
      {"{a,b{c,d}}x", "ax bcx bdx"},
      {"{a}", "{a}"},
      {"{a,b", "{a,b"},
      {"\\{a,b}", "\\{a,b}"},
      {"{,x}y", "y xy"},
      {"{a,b}{c,d}", "ac ad bc bd"},
      {"{x}{a,b}", "{x}a {x}b"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Join(ExpandBraces(c.pattern), " "), c.expected) << c.pattern;
  }
  std::string bomb;
  for (int i = 0; i < 30; ++i) bomb += "{a,b}";
  EXPECT_EQ(ExpandBraces(bomb), std::vector<std::string>{bomb});
}

TEST(GlobTest, AnyBytesAreReadToTheEnd) {
  Random random(3);
  constexpr std::string_view kBytes = "a/*?[]!^-\\:{},";
  for (int round = 0; round < 20000; ++round) {
    std::string pattern, text;
    for (auto* out : {&pattern, &text}) {
      for (std::uint64_t i = random.Below(12); i > 0; --i)
        *out += kBytes[random.Below(kBytes.size())];
    }
    Glob(pattern).Matches(text);
    for (const std::string& one : ExpandBraces(pattern)) EXPECT_LE(one.size(), pattern.size());
  }
}

}  // namespace
}  // namespace dossier
