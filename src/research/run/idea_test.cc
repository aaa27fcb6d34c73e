#include "research/run/idea.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

TEST(IdeaTest, TheExampleIsComplete) {
  const auto idea = ReadIdea(ExampleIdea(), "idea.md");
  ASSERT_TRUE(idea) << idea.error().message;
  EXPECT_EQ(idea->title, "Which of three sorting programs in C is fastest here, and why?");
  EXPECT_EQ(idea->Text("Short Hypothesis"), "Radix sort wins from a million numbers on.");
}

TEST(IdeaTest, HeadingsMayBeWrittenInManyWays) {
  const std::string_view kForms[] = {
      "# T\n## abstract\nA\n## SHORT_HYPOTHESIS ##\nH\n## Experiments\nE\n"
      "## risk_factors_and_limitations\nR\n## Task Evaluation\nV\n",
      "#\tTitle: T\n# Abstract: A\n# Short Hypothesis: H\n# Experiments: E\n"
      "# Risk Factors And Limitations: R\n# Evaluation: V\n",
      R"({"Title":"T","Abstract":"A","Short_Hypothesis":"H","experiments":"E",)"
      R"("Risk Factors and Limitations":"R","task_evaluation":"V"})",
      R"([{"title":"T","abstract":"A","short hypothesis":"H","Experiments":"E",)"
      R"("RiskFactorsAndLimitations":"R","evaluation":"V"}])",
  };
  for (const std::string_view form : kForms) {
    const auto idea = ReadIdea(form, "idea");
    ASSERT_TRUE(idea) << idea.error().message;
    EXPECT_EQ(ToJson(IdeaJson(*idea)),
              R"({"Title":"T","Abstract":"A","Short Hypothesis":"H","Evaluation":"V",)"
              R"("Experiments":"E","Risk Factors and Limitations":"R"})")
        << form;
  }
}

TEST(IdeaTest, CodeAndLowerHeadingsBelongToTheirPartAndUnknownPartsAreKept) {
  const auto idea = ReadIdea(
      "# Title\nT\n## Abstract\nA\n### More\nmore\n## Short Hypothesis\nH\n"
      "## Experiments\n```sh\n# Title\n## Code\n```\n## Risk Factors and Limitations\nR\n"
      "## Budget\n3 h\n",
      "idea.md");
  ASSERT_TRUE(idea) << idea.error().message;
  EXPECT_EQ(idea->Text("Abstract"), "A\n### More\nmore");
  EXPECT_EQ(idea->Text("Experiments"), "```sh\n# Title\n## Code\n```");
  EXPECT_EQ(idea->Find("Code"), nullptr);
  EXPECT_EQ(idea->Text("Budget"), "3 h");
}

TEST(IdeaTest, TheSectionOfAPromptIsTheWholeIdea) {  // RSP-5, FLT-61
  const auto idea = ReadIdea(ExampleIdea(), "idea.md");
  ASSERT_TRUE(idea);
  EXPECT_EQ(ToJson(IdeaSection(*idea)), ToJson(IdeaJson(*idea)));
}

TEST(IdeaTest, AllThatIsMissingIsToldAtOnceWithAnExample) {  // section 6, row 1
  const auto idea = ReadIdea("# Title\nT\n## Short Hypothesis\nH\n## Abstract\n\n", "idea.md");
  EXPECT_THAT(idea, FailsWith(ErrorCode::kDamaged,
                              "idea.md: the idea lacks Abstract, Experiments, Risk Factors and "
                              "Limitations"));
  EXPECT_THAT(idea, FailsWith(ErrorCode::kDamaged, std::string(ExampleIdea())));
  const struct {
    std::string text, message;
  } kCases[] = {
      {"", "lacks Title, Abstract"},
      {"{\"Title\":", "idea.md: "},
      {"[1, 2]", "one JSON object"},
      {"\xff\xfe", "UTF-8"},
      {std::string(ExampleIdea()) + "# Abstract\nagain\n", "Abstract is there twice"},
  };
  for (const auto& example : kCases) {
    EXPECT_THAT(ReadIdea(example.text, "idea.md"), FailsWith(ErrorCode::kDamaged, example.message));
  }
  EXPECT_THAT(ReadIdea(std::string(kMaxIdeaBytes + 1, 'a'), "idea.md"),
              FailsWith(ErrorCode::kTooLong, "at most"));
}

TEST(IdeaTest, AnyTextIsReadOrRefused) {
  Random random(11);
  constexpr std::string_view kPieces[] = {"#",       "# Title\n", "```\n",
                                          "~~~",     "\n",        ": ",
                                          "{\"a\":", "Abstract",  "## Experiments\n",
                                          "_",       "é"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::uint64_t piece = random.Below(12); piece > 0; --piece) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    static_cast<void>(ReadIdea(text, "idea.md"));
  }
}

}  // namespace
}  // namespace dossier::research
