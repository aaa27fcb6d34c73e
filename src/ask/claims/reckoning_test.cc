#include "ask/claims/reckoning.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dossier::ask {
namespace {

struct Case {
  std::string_view answer, printed;
  std::string_view unshown;
  std::string_view question = "How much is it?";
  std::string_view description = "";
};

void Check(std::span<const Case> cases) {
  for (const Case& c : cases) {
    const Known known{.question = c.question, .description = c.description};
    EXPECT_EQ(UnshownNumber(c.answer, known, std::vector{std::string(c.printed)}), c.unshown)
        << c.answer << " on " << c.printed;
  }
}

TEST(ReckoningTest, EveryNumberOfAnAnswerIsLookedFor) {  // FLT-36
  constexpr Case kCases[] = {
      {"12 orders, 340.50 EUR in total", "12 340.5", ""},
      {"12 orders, 951.25 EUR in total", "12 340.5", "951.25"},
      {"141 of the 4000 jobs failed (3.5 %).", "141", "", "How many of the 4000 jobs failed?"},
      {"141 of the 4000 jobs failed (7.8 %).", "141", "7.8", "How many of the 4000 jobs failed?"},
      {"31, 42 and 57: 130 in all", "31 42 57", ""},
      {"31, 42 and 57: 142 in all", "31 42 57", "142"},
      {"It fell by 36, from 2018 to 1982.", "a 2018 1982", ""},
      {"1. Anna with 91, 2. Bo with 88", "Anna 91\nBo 88\nBea 7", ""},
      {"3: Oslo, Rome, Bergen", "Oslo\nRome\nBergen", ""},
      {"It leaves at 2:30 pm.", "14:30", ""},
      {"It leaves at 2:40 pm.", "14:30", "2"},
      {"Keller came 1st with 12.", "Keller 12", ""},
  };
  Check(kCases);
}

TEST(ReckoningTest, ANumeralMultipliesOnlyWhatIsSaidToBeCountedSo) {  // FLT-36
  constexpr Case kCases[] = {
      {"1.08 billion", "1.08", "1.08 billion"},
      {"1.08 billion", "1080000000", ""},
      {"1.08 billion", "people (billion): 1.08", ""},
      {"1.08 billion", "1.08", "", "How many billions?"},
      {"1.08 billion", "1.08", "", "How many?", "people, in billions"},
      {"4483 million", "4483145", "4483 million"},
      {"4,48 Millionen", "4483145", ""},
      {"4,48 Millionen", "4.48", "4,48 Millionen"},
      {"10.8亿", "1080000000", ""},
      {"10.8亿", "10.8", "10.8亿"},
      {"12.4k", "12400", ""},
      {"12.4k", "12.4", "12.4k"},
      {"3.2B", "3.2", "3.2B"},
      {"512B", "512", ""},  // bytes
      {"12 million km", "12000000", ""},
  };
  Check(kCases);
}

TEST(ReckoningTest, AnotherUnitIsTheSameNumber) {  // FLT-36
  constexpr Case kCases[] = {
      {"26.2 miles", "length: 42.195 km", ""},
      {"24.6 miles", "length: 42.195 km", "24.6"},
      {"26.2", "length: 42.195", "", "How many miles?", "length_km"},
      {"2.25 h", "135 min", ""},
      {"2 h 15 min", "135 min", ""},
      {"2 h 45 min", "135 min", "2"},
      {"3 GiB", "3221225472 bytes", ""},
      {"4 GiB", "3221225472 bytes", "4"},
      {"77 °F", "25 °C", ""},
      {"176 lb", "80 kg", ""},
      {"0.125", "12.5 %", ""},
      {"0.135", "12.5 %", "0.135"},
      {"44 km/h", "42.195 km", "44"},
  };
  Check(kCases);
}

TEST(ReckoningTest, NumbersOfTheQuestionAreOperands) {  // FLT-36
  constexpr Case kCases[] = {
      {"3.2", "40", "", "What is 8 % of it?"},
      {"3.6", "40", "3.6", "What is 8 % of it?"},
      {"285.60", "240", "", "What is it with 19 % tax?"},
      {"103.5", "17.25", "", "What do 6 of them cost?"},
      {"107.5", "17.25", "107.5", "What do 6 of them cost?"},
  };
  Check(kCases);
}

}  // namespace
}  // namespace dossier::ask
