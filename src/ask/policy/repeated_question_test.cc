#include "ask/policy/repeated_question.h"

#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

TEST(RepeatedQuestionTest, TheQuestionInOtherWordsIsToldFromDataAndInstructions) {
  constexpr std::string_view kQuestion = "Which city has the most visitors, and how many are they?";
  struct Case {
    std::string_view prompt;
    bool repeats;
  };
  const Case cases[] = {
      {kQuestion, true},
      {"What city has the most visitors?", true},
      {"which CITY (most visitors)", true},
      {"how many are they", true},
      {"Is this review positive? 'Great city.'", false},
      {"Classify the tone: lovely", false},
      {"the how is", false},  // no word counts
      {"", false},
      {"Which city has the most visitors? Rome: 12 Paris: 19 Oslo: 3 Wien: 7 Bern: 2 Graz: 1 Lyon: "
       "4 Nice: 5 Metz: 6",
       false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RepeatsQuestion(c.prompt, kQuestion), c.repeats) << c.prompt;
  }
}

}  // namespace
}  // namespace dossier::ask
