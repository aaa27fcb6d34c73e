#include "sandbox/commands/command_lexer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

TEST(LexCommandTest, WordsQuotesAndBackslashes) {  // CON-33
  const struct {
    std::string_view text;
    Argv words;
  } cases[] = {
      {"git log -n 2", {"git", "log", "-n", "2"}},
      {"  a\t b  ", {"a", "b"}},
      {"'two words' \"and two\"", {"two words", "and two"}},
      {"a'b'\"c\"d", {"abcd"}},
      {"'' \"\"", {"", ""}},
      {"'$x;|&' '`*?[~#!{}()<>'", {"$x;|&", "`*?[~#!{}()<>"}},
      {"\";|&*?[~#!{}()<>\"", {";|&*?[~#!{}()<>"}},
      {"\\; \\$ \\ \\'", {";", "$", " '"}},
      {R"("a\"b\\c\d")", {R"(a"b\c\d)"}},
      {R"("\$ \`")", {"$ `"}},
      {"'a\nb'", {"a\nb"}},
      {R"('a\')", {"a\\"}},
      {"]=%^,:@+-_./", {"]=%^,:@+-_./"}},
      {"caf\xc3\xa9", {"caf\xc3\xa9"}},
  };
  for (const auto& c : cases) {
    const auto words = LexCommand(c.text);
    ASSERT_THAT(words, Succeeds()) << c.text;
    EXPECT_EQ(*words, c.words) << c.text;
  }
}

TEST(LexCommandTest, EveryUnquotedOperatorIsRefusedByName) {  // CON-33, A7, D8
  for (const char c : std::string_view(";&|<>()${}*?[~#!`")) {
    for (const std::string& text : {std::string("cat x") + c, std::string("cat ") + c + " y",
                                    std::string("cat 'x'") + c + "rm"}) {
      EXPECT_THAT(LexCommand(text), FailsWith(ErrorCode::kRefused, std::string("`") + c + "`"))
          << text;
    }
  }
  EXPECT_THAT(LexCommand("cat x; rm y"), FailsWith(ErrorCode::kRefused, "`;` at byte 5"));
  EXPECT_THAT(LexCommand("cat $(id)"), FailsWith(ErrorCode::kRefused, "`$` at byte 4"));
  EXPECT_THAT(LexCommand("cat \"$(id)\""), FailsWith(ErrorCode::kRefused, "`$`"));
  EXPECT_THAT(LexCommand("cat \"`id`\""), FailsWith(ErrorCode::kRefused, "```"));
  for (const char* text : {"cat x\nrm y", "cat x\rrm y", "cat \\\nrm"}) {
    EXPECT_THAT(LexCommand(text), FailsWith(ErrorCode::kRefused, "a line end")) << text;
  }
}

TEST(LexCommandTest, WhatIsNoCommandIsRefused) {  // CON-33
  EXPECT_THAT(LexCommand(""), FailsWith(ErrorCode::kRefused, "empty"));
  EXPECT_THAT(LexCommand(" \t"), FailsWith(ErrorCode::kRefused, "empty"));
  EXPECT_THAT(LexCommand("a 'b"), FailsWith(ErrorCode::kRefused, "the quote ' at byte 2"));
  EXPECT_THAT(LexCommand("a \"b\\"), FailsWith(ErrorCode::kRefused, "never closes"));
  EXPECT_THAT(LexCommand("a\\"), FailsWith(ErrorCode::kRefused, "ends in a backslash"));
  EXPECT_THAT(LexCommand({"a\0b", 3}), FailsWith(ErrorCode::kRefused, "NUL"));
  EXPECT_THAT(LexCommand("a\xff"), FailsWith(ErrorCode::kRefused, "UTF-8"));
  EXPECT_THAT(LexCommand(std::string(kMaxCommandBytes + 1, 'a')),
              FailsWith(ErrorCode::kRefused, "at most"));
}

TEST(LexCommandTest, WordsInSingleQuotesComeBackAsTheyWere) {
  Random random(/*seed=*/33);
  for (int round = 0; round < 2000; ++round) {
    Argv words;
    std::string line;
    for (std::uint64_t count = random.Below(4) + 1; words.size() < count;) {
      std::string word = random.Utf8(/*max_bytes=*/20);
      std::erase(word, '\'');
      std::erase(word, '\0');
      line += "'" + word + "' ";
      words.push_back(std::move(word));
    }
    const auto lexed = LexCommand(line);
    ASSERT_THAT(lexed, Succeeds()) << line;
    EXPECT_EQ(*lexed, words);
  }
}

}  // namespace
}  // namespace dossier::sandbox
