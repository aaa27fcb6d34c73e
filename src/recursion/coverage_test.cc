#include "recursion/coverage.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace dossier::recursion {
namespace {

TEST(CoverageTest, OverlappingSlicesCountOnce) {  // REC-39
  const std::string text(1000, 'x');
  Coverage coverage({text});
  EXPECT_FALSE(coverage.used());
  coverage.AddSlice(0, 100, 200);
  coverage.AddSlice(0, 200, 200);
  coverage.AddSlice(0, 900, 500);  // reaches over the end
  EXPECT_TRUE(coverage.used());
  EXPECT_DOUBLE_EQ(coverage.Share(), 0.4);
}

TEST(CoverageTest, LinesOfAPromptAreFoundWhereTheyStand) {  // REC-39
  const std::string text = "a line that is long enough\nshort\nanother line that is long\n";
  Coverage coverage({text});
  coverage.AddText("Judge:\nanother line that is long\nshort\n");
  EXPECT_DOUBLE_EQ(coverage.Share(), 25.0 / static_cast<double>(text.size()));
}

TEST(CoverageTest, AnyOrderOfSlicesGivesTheShareOfAPlainBitmap) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    const std::string text(200, 'x');
    Coverage coverage({text});
    std::vector<bool> shown(text.size());
    for (int i = 0; i < 12; ++i) {
      const auto at = random.Below(200), length = random.Below(60);
      coverage.AddSlice(0, at, length);
      for (auto k = at; k < std::min<std::uint64_t>(at + length, 200); ++k) shown[k] = true;
    }
    const auto count = std::count(shown.begin(), shown.end(), true);
    EXPECT_DOUBLE_EQ(coverage.Share(), static_cast<double>(count) / 200.0);
  }
}

}  // namespace
}  // namespace dossier::recursion
