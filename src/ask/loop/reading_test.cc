#include "ask/loop/reading.h"

#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

Reading Of(std::string answer, double score) {
  return {.answer = std::move(answer), .score = score};
}

TEST(ClearestTest, TakesTheAnswerThatStandsAboveEveryOther) {  // FLT-14
  struct Case {
    std::vector<Reading> readings;
    std::string wanted;  // empty: none
  };
  const Case cases[] = {
      {{}, ""},
      {{Of("elm", 2.7)}, "elm"},
      {{Of("elm", 0.9)}, ""},                        // too low to trust a passage alone
      {{Of("larch", 0.2), Of("elm", 2.7)}, "elm"},   // far enough apart
      {{Of("larch", 2.2), Of("elm", 2.7)}, ""},      // not far enough
      {{Of("46 Taler", 2.0), Of("46", 2.7)}, "46"},  // the same answer twice
      {{Of("27 Taler", 2.2), Of("46 Taler", 2.7)}, ""},
  };
  for (const Case& c : cases) {
    const auto found = Clearest(c.readings, "Which wood is it?");
    EXPECT_EQ(found ? found->answer : "", c.wanted) << c.wanted << c.readings.size();
  }
}

}  // namespace
}  // namespace dossier::ask
