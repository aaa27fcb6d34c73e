#include "ask/claims/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Keys(std::string_view text) {
  std::vector<std::string> keys;
  NumberReader reader(text);
  while (const auto number = reader.Next()) keys.push_back(number->Key());
  return keys;
}

TEST(NumbersTest, PartsOfDatesAndVersionsArePieces) {
  EXPECT_THAT(Keys("13.05.2024"), ElementsAre("13.", "5.", "2024."));
  EXPECT_THAT(Keys("version 1.2.3"), ElementsAre("1.", "2.", "3."));
  EXPECT_THAT(Keys("3,800.50 and -2"), ElementsAre("3800.5", "-2."));
}

// Each number is searched in everything that was shown: a listing of 300,000 would take minutes.
TEST(NumbersTest, OfAListingTheBeginningIsChecked) {
  std::string listing;
  for (int n = 1; n <= 300'000; ++n) listing += fmt::format("{} kg, ", n);
  const std::string_view checked = CheckedPart(listing);
  EXPECT_TRUE(checked.ends_with("500 kg, ")) << checked.substr(checked.size() - 20);
  const std::string few = "It is 12,345.5 kg, or 12 t.";
  EXPECT_EQ(CheckedPart(few), few);
  std::string long_ones;
  for (int n = 0; n < 40; ++n) long_ones += std::string(4'000, '7') + ", ";
  EXPECT_EQ(CheckedPart(long_ones).size() % 4'002, 4'001);  // whole numbers and their commas
  EXPECT_LT(CheckedPart(long_ones).size(), 70'000);
}

TEST(NumbersTest, ADecimalCommaIsReadWhereTheTextHasOne) {
  const auto read = [](std::string_view text) {
    const auto number = WithDecimalComma(text, *NumberReader(text).Next());
    return number ? number->Key() : std::string("none");
  };
  EXPECT_EQ(read("16.629,90 EUR"), "16629.9");
  EXPECT_EQ(read("4.483.145,00"), "4483145.");
  EXPECT_EQ(read("3,5 kg"), "3.5");
  EXPECT_EQ(read("3,800"), "none");  // three thousand eight hundred
  EXPECT_EQ(read("3800"), "none");
}

TEST(NumbersTest, ThousandsAndMillionsAreRoundedToo) {
  const auto scaled = [](std::string_view shown, std::string_view exact) {
    return IsScaledRoundingOf(*NumberReader(shown).Next(), *NumberReader(exact).Next());
  };
  EXPECT_TRUE(scaled("4.48", "4483145"));
  EXPECT_TRUE(scaled("4.5", "4,483,145.0"));
  EXPECT_TRUE(scaled("4483", "4483145"));
  EXPECT_FALSE(scaled("4.6", "4483145"));
  EXPECT_FALSE(scaled("34", "33987"));  // would match by chance
  EXPECT_FALSE(scaled("-4.5", "4483145"));
}

}  // namespace
}  // namespace dossier::ask
