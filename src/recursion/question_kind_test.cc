#include "recursion/question_kind.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::recursion {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

TEST(QuestionKindTest, TheBuiltInRulesKnowTheCommonQuestions) {  // REC-39
  struct Case {
    std::string_view question;
    QuestionKind kind;
  };
  constexpr Case kCases[] = {
      {"How many orders failed?", QuestionKind::kAggregate},
      {"Which customer complained most about delivery?", QuestionKind::kAggregate},
      {"What is the least common status?", QuestionKind::kAggregate},
      {"What is the average size of a package?", QuestionKind::kAggregate},
      {"What share of requests timed out?", QuestionKind::kAggregate},
      {"Compare January with February.", QuestionKind::kAggregate},
      {"Does every user have an email?", QuestionKind::kAggregate},
      {"Find all pairs of users who met.", QuestionKind::kAggregate},
      {"List all deadlines", QuestionKind::kAggregate},
      {"WHICH PACKAGE IS THE LARGEST?", QuestionKind::kAggregate},
      {"Who wrote the report?", QuestionKind::kLookup},
      {"What is the magic number?", QuestionKind::kLookup},
      {"When was Alice born?", QuestionKind::kLookup},
      {"What does line 12 say?", QuestionKind::kLookup},
      {"", QuestionKind::kLookup},
      {"Summarize the document.", QuestionKind::kOpen},
      {"Summarise how many orders failed and why", QuestionKind::kOpen},
      {"What is this document about?", QuestionKind::kOpen},
      {"Why did the build fail?", QuestionKind::kOpen},
      {"Give me a short overview of the log", QuestionKind::kOpen},
      {"Which themes run through the letters?", QuestionKind::kOpen},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(QuestionKindName(Classify(c.question)), QuestionKindName(c.kind)) << c.question;
  }
}

TEST(QuestionKindTest, PhrasesBindStartsPrefixesAndGaps) {
  auto rules = QuestionRules::Parse(
      "rules:\n"
      "  - {kind: open, phrases: [^tell me, compar*]}\n"
      "  - {kind: aggregate, phrases: [which ... all]}\n");
  ASSERT_THAT(rules, Succeeds());
  EXPECT_EQ(rules->Classify("Tell  me!"), QuestionKind::kOpen);
  EXPECT_EQ(rules->Classify("Please tell me"), QuestionKind::kLookup);
  EXPECT_EQ(rules->Classify("a comparison"), QuestionKind::kOpen);
  EXPECT_EQ(rules->Classify("which of the users are all here"), QuestionKind::kAggregate);
  EXPECT_EQ(rules->Classify("which 1 2 3 4 5 6 all"), QuestionKind::kLookup) << "a gap too long";
  EXPECT_EQ(rules->Classify("which overall"), QuestionKind::kLookup) << "whole words only";
}

TEST(QuestionKindTest, AWrongRuleIsNamed) {
  EXPECT_THAT(QuestionRules::Parse("rules: [{kind: odd, phrases: [a]}]"),
              FailsWith(ErrorCode::kConfig, "'odd'"));
  EXPECT_THAT(QuestionRules::Parse("rules: [{kind: open, phrases: [How]}]"),
              FailsWith(ErrorCode::kConfig, "'How'"));
  EXPECT_THAT(QuestionRules::Parse("rules: [{kind: open, phrases: ['... a']}]"),
              FailsWith(ErrorCode::kConfig, "start and end with a word"));
  EXPECT_THAT(QuestionRules::Parse("rules: [{phrases: [a]}]"),
              FailsWith(ErrorCode::kConfig, "question_kinds.yaml:1:9"));
  EXPECT_THAT(QuestionRules::Parse("a: [b"),
              FailsWith(ErrorCode::kConfig, "question_kinds.yaml:1:"));
  EXPECT_THAT(QuestionRules::Parse(""), FailsWith(ErrorCode::kConfig, "no rules"));
}

TEST(QuestionKindTest, AnyQuestionHasAKind) {
  Random random(47);
  for (int round = 0; round < 300; ++round) {
    Classify(random.Bytes(random.Below(200)));
    const auto rules = QuestionRules::Parse(random.Utf8(60));
    EXPECT_TRUE(!rules || rules->Classify("x") == QuestionKind::kLookup);
  }
}

}  // namespace
}  // namespace dossier::recursion
