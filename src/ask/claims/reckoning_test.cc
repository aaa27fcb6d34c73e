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

TEST(ReckoningTest, SharesGrowthAndDifferencesWithUnits) {  // FLT-36
  constexpr std::string_view kReport =
      "Revenue rose from 48.2 million euros to 53.7 million euros. The company had 1,284 employees "
      "at the end of 2024, of whom 412 were women. Net profit was 3,961,000 euros.";
  constexpr std::string_view kCountries = "{'DE': 129, 'ES': 84, 'FR': 76, 'IT': 56, 'PL': 55}";
  const Case kCases[] = {
      {"52 percent", "312 600", ""},
      {"52 Prozent", "312 600", ""},
      {"53 percent", "312 600", "53"},
      {"9 %", "55 600", ""},
      {"8 %", "55 600", "8"},
      {"11.4 %", kReport, ""},
      {"by 11 percent", kReport, ""},
      {"12.4 %", kReport, "12.4"},
      {"5.5 million euros", kReport, ""},
      {"EUR 5.5M", kReport, ""},
      {"6.5 million euros", kReport, "6.5 million"},
      {"53,700,000 euros", kReport, ""},
      {"57,300,000 euros", kReport, "57,300,000"},
      {"872 men", kReport, ""},
      {"882 men", kReport, "882"},
      {"74", kCountries, "", "How many more has DE than PL?"},
      {"74", kCountries, "74", "How many more?"},
      {"75", kCountries, "75", "How many more has DE than PL?"},
      {"about 28,000", "27923", ""},
      {"about 29,000", "27923", "29,000"},
      {"15 seconds", "{'rate': 250, 'burst': 40, 'timeout_ms': 15000}", ""},
      {"25 seconds", "{'rate': 250, 'burst': 40, 'timeout_ms': 15000}", "25"},
      {"42.195 miles", "42.195 kilometres", "42.195"},
  };
  Check(kCases);
}

TEST(ReckoningTest, TimesAreReadInAllForms) {  // FLT-36
  constexpr std::string_view kHours = "[('2025-06-02 13', 8), ('2025-06-02 09', 5)]";
  constexpr std::string_view kSpan = "2025-06-02 08:00:30 2025-06-02 17:42:00";
  const Case kCases[] = {
      {"16:14", "2025-03-05T16:14:00", ""},
      {"5 March 2025 at 16:14", "2025-03-05T16:14:00", ""},
      {"16:41", "2025-03-05T16:14:00", "41"},
      {"2024-10-01", "on 1 October 2024", ""},
      {"10/1/2024", "on 1 October 2024", ""},
      {"2024-11-01", "on 1 October 2024", "11"},
      {"13:00-13:59", kHours, ""},
      {"between 13:00 and 14:00", kHours, ""},
      {"between 15:00 and 16:00", kHours, "15"},
      {"1 pm", kHours, ""},
      {"9 hours and 41 minutes", kSpan, ""},
      {"9.7 hours", kSpan, ""},
      {"9 hours and 11 minutes", kSpan, "9"},
      {"8.7 hours", kSpan, "8.7"},
      {"00:18:00.040", "{'n': 5, 'end': 1080.04}", ""},
      {"at 18:00", "{'n': 5, 'end': 1080.04}", ""},
      {"at 19:00", "{'n': 5, 'end': 1080.04}", "19"},
  };
  Check(kCases);
}

TEST(ReckoningTest, SizesOfTheDataDivide) {  // FLT-36
  const auto unshown = [](std::string_view answer, std::string printed) {
    const Known known{.question = "How many?", .sizes = "1 9000 9000 401 400"};
    return UnshownNumber(answer, known, std::vector{std::move(printed)});
  };
  EXPECT_EQ(unshown("32 %", "129"), "");
  EXPECT_EQ(unshown("{\"share\": 0.323}", "129"), "");
  EXPECT_EQ(unshown("33 %", "129"), "33");
  EXPECT_EQ(unshown("1 pm", "('2025-06-02 13', 8)"), "") << "one document";
  EXPECT_EQ(unshown("67 %, 18 % and 15 %", "267 72 61"), "");
  EXPECT_EQ(unshown("64 %, 18 % and 15 %", "267 72 61"), "64");
}

}  // namespace
}  // namespace dossier::ask
