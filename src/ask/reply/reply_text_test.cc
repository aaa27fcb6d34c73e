#include "ask/reply/reply_text.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::ask {
namespace {

TEST(ReplyTextTest, ThinkingAndEndTokensAreCut) {  // REC-11
  struct Case {
    std::string_view reply, text, thinking;
  };
  constexpr Case kCases[] = {
      {"FINAL(42)", "FINAL(42)", ""},
      {"<think>Let me see.</think>FINAL(42)<|im_end|>", "FINAL(42)", "Let me see."},
      {"<think>\na\n</think>\n\n  b", "  b", "a"},
      {"<THINKING>a</Thinking>b", "b", "a"},
      {"lone thoughts</think>\nanswer", "answer", "lone thoughts"},
      {"one</think>two</think>three", "three", "one\ntwo"},
      {"<think>a</think>b\n<think>c</think>d", "b\nd", "a\nc"},
      {"<think></think>b", "b", ""},
      {"text<|eot_id|>", "text", ""},
      {"text</s>\n</s>", "text", ""},
      {"a<end_of_turn>b", "ab", ""},
      {"a </s> b", "a </s> b", ""},
      {"x.split(\"<|im_end|>\")", "x.split(\"<|im_end|>\")", ""},
      {"```repl\nf('of <|im_end|> too')<|im_end|>\n```", "```repl\nf('of <|im_end|> too')\n```", ""},
      {"a < b <c> d", "a < b <c> d", ""},
      {"```python\ns = \"<think>a</think>\"\n```", "```python\ns = \"<think>a</think>\"\n```", ""},
      {"```python\nt.split(\"</think>\")[1]", "```python\nt.split(\"</think>\")[1]", ""},
      {"<think>```python\nf(\n</think>\n```python\ng()\n```", "```python\ng()\n```",
       "```python\nf("},
  };
  for (const Case& c : kCases) {
    const CleanReply clean = StripThinking(c.reply);
    EXPECT_EQ(clean.text, c.text) << c.reply;
    EXPECT_EQ(clean.thinking, c.thinking) << c.reply;
    EXPECT_FALSE(clean.unclosed_thinking) << c.reply;
  }
}

TEST(ReplyTextTest, WhatStandsBeforeLateThinkingStays) {  // FLT-1
  struct Case {
    std::string_view reply, text, thinking;
  };
  constexpr Case kCases[] = {
      {"The sum is 12. <think>sure?</think> Yes.", "The sum is 12.  Yes.", "sure?"},
      {"The sum is 12.\n<think>sure?\n</think>\nYes.", "The sum is 12.\n\nYes.", "sure?"},
      {"so\n</think>It is 12. <think>sure?</think>", "It is 12. ", "so\nsure?"},
      {"one <think>a</think> two <THINK>b</think> three", "one  two  three", "a\nb"},
      {"Write `<think>` first and `</think>` last.", "Write `<think>` first and `</think>` last.",
       ""},
      {"See:\n```xml\n<think>a</think>\n```\nDone.", "See:\n```xml\n<think>a</think>\n```\nDone.",
       ""},
      {"It is \"<think>\" then.\n</think>\nanswer", "answer", "It is \"<think>\" then."},
  };
  for (const Case& c : kCases) {
    const CleanReply clean = StripThinking(c.reply);
    EXPECT_EQ(clean.text, c.text) << c.reply;
    EXPECT_EQ(clean.thinking, c.thinking) << c.reply;
  }
}

TEST(ReplyTextTest, ThinkingThatNeverEndsIsSaid) {  // REC-11
  const CleanReply clean = StripThinking("Well.\n<think>on and on ```python\nf(1)\n```");
  EXPECT_TRUE(clean.unclosed_thinking);
  EXPECT_EQ(clean.text, "Well.\n");
  EXPECT_EQ(clean.thinking, "on and on ```python\nf(1)\n```");
}

TEST(ReplyTextTest, AStuckModelIsSeenByItsRepeatedLine) {  // small-models 14
  EXPECT_TRUE(RepeatsLine("a\nx\nx\n\nx\nx\r\nx\n"));
  EXPECT_FALSE(RepeatsLine("x\nx\nx\nx\n"));
  EXPECT_FALSE(RepeatsLine("x\nx\nx\nx\ny\n"));
  EXPECT_FALSE(RepeatsLine(""));
  EXPECT_TRUE(RepeatsLine("x\nx", 2));
}

TEST(ReplyTextTest, NothingIsAddedToAReply) {
  constexpr std::string_view kPieces[] = {"<think>",    "</think>", "```",   "\n",    "a",  " ",
                                          "<|im_end|>", "</s>",     "<|im_", "end|>", "\"", "<"};
  Random random(23);
  for (int round = 0; round < 5000; ++round) {
    std::string reply;
    for (std::uint64_t i = random.Below(16); i > 0; --i) {
      reply += kPieces[random.Below(std::size(kPieces))];
    }
    const CleanReply clean = StripThinking(reply);
    EXPECT_LE(clean.text.size() + clean.thinking.size(), reply.size() + 1) << reply;
    EXPECT_LE(StripThinking(clean.text).text.size(), clean.text.size()) << reply;
  }
}

}  // namespace
}  // namespace dossier::ask
