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
  EXPECT_FALSE(scaled("34", "33987"));  // by chance
  EXPECT_FALSE(scaled("-4.5", "4483145"));
}

}  // namespace
}  // namespace dossier::ask
