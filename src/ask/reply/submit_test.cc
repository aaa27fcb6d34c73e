#include "ask/reply/submit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

TEST(SubmitTest, ACallCountsWhereToolsAreOffered) {  // REC-23
  const std::vector<model::ToolCall> calls = {{"1", "look", JsonObject{}},
                                              {"2", "SUBMIT", JsonObject{{"answer", "a \"b\""}}}};
  const auto found = FindSubmission(calls, "", ToolUse::kOffered);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, R"(SUBMIT({"answer":"a \"b\""}))");
  EXPECT_EQ(found->count, 1u);
}

TEST(SubmitTest, TextCountsOnlyWhereToolsAreNotOffered) {  // REC-23
  constexpr std::string_view kText = "So:\n  SUBMIT({answer: \"42\"});\nDone.";
  const auto found = FindSubmission({}, kText, ToolUse::kNotOffered);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, "SUBMIT({answer: \"42\"});");
  EXPECT_FALSE(FindSubmission({}, kText, ToolUse::kOffered));
}

TEST(SubmitTest, TextMustStandAloneOnItsLine) {  // REC-23
  EXPECT_FALSE(FindSubmission({}, "I would SUBMIT({answer: \"42\"})", ToolUse::kNotOffered));
  EXPECT_FALSE(FindSubmission({}, "SUBMIT({answer: 1}) is what I do", ToolUse::kNotOffered));
}

TEST(SubmitTest, SeveralAreCounted) {  // REC-24
  const auto found =
      FindSubmission({}, "SUBMIT({answer: \"1\"})\nSUBMIT({answer: \"2\"})", ToolUse::kNotOffered);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 2u);
}

}  // namespace
}  // namespace dossier::ask
