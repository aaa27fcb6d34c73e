#include "tokens/files/count_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/random.h"

namespace dossier::tokens {
namespace {

// Counts bytes, and how often it was asked.
class AskedCounter final : public Counter {
 public:
  Count CountText(std::string_view text) const override {
    ++asked;
    return {.tokens = static_cast<std::int64_t>(text.size()), .exact = true};
  }
  std::string name() const override { return "asked"; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }

  mutable int asked = 0;
};

class CountCacheTest : public ::testing::Test {
 protected:
  std::string File() const { return folder_.path() + "/counts/bytes.counts"; }
  CountCache OpenCache() const { return CountCache::Open(folder_.path() + "/counts", "bytes"); }

  TempFolder folder_ = std::move(*TempFolder::Make());
  const std::string a_ = std::string(3000, 'a'), b_ = std::string(4000, 'b');
  AskedCounter counter_;
};

TEST_F(CountCacheTest, AWarmCacheGivesTheSameNumbersWithoutCounting) {  // ASM-60
  for (int time = 0; time < 3; ++time) {
    CountCache cache = OpenCache();
    EXPECT_EQ(cache.CountText(a_, counter_), 3000);
    EXPECT_EQ(cache.CountText(b_, counter_), 4000);
    EXPECT_EQ(cache.CountText(a_, counter_), 3000);
    EXPECT_TRUE(cache.Save());
  }
  EXPECT_EQ(counter_.asked, 2);
}

TEST_F(CountCacheTest, EncodingsAndShortTextsAreKeptApart) {  // ASM-60
  CountCache cache = OpenCache();
  EXPECT_EQ(cache.CountText(a_, counter_), 3000);
  EXPECT_TRUE(cache.Save());
  EXPECT_EQ(CountCache::Open(folder_.path() + "/counts", "other").size(), 0u);
  EXPECT_EQ(cache.CountText("short", counter_), 5);
  EXPECT_EQ(cache.size(), 1u);
  CountCache none = CountCache::Open("", "bytes");
  EXPECT_EQ(none.CountText(a_, counter_), 3000);
  EXPECT_TRUE(none.Save());
}

TEST_F(CountCacheTest, ADamagedFileCostsTimeNeverNumbers) {  // ASM-60, ASM-T20
  CountCache cache = OpenCache();
  cache.CountText(a_, counter_);
  cache.CountText(b_, counter_);
  ASSERT_TRUE(cache.Save());
  const std::string whole = *ReadFile(File());
  Random random(/*seed=*/61);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole;
    damaged[random.Below(damaged.size())] ^= static_cast<char>(1 + random.Below(255));
    if (round % 2 == 0) damaged.resize(random.Below(damaged.size()));  // cut anywhere by a kill
    ASSERT_TRUE(WriteFileAtomic(File(), damaged));
    CountCache again = OpenCache();
    EXPECT_EQ(again.CountText(a_, counter_), 3000);
    EXPECT_EQ(again.CountText(b_, counter_), 4000);
    ASSERT_TRUE(again.Save());
    EXPECT_EQ(OpenCache().size(), 2u);  // whole again, the records behind a torn one too
  }
}

TEST_F(CountCacheTest, ProcessesThatSaveAtOnceLoseNothing) {  // ASM-T20
  constexpr int kProcesses = 8, kTexts = 20;
  for (int process = 0; process < kProcesses; ++process) {
    if (fork() != 0) continue;
    for (int text = 0; text < kTexts; ++text) {
      CountCache cache = OpenCache();
      cache.CountText(std::string(3000, 'x') + std::to_string(process * 100 + text), counter_);
      if (!cache.Save()) _exit(1);
    }
    _exit(0);
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 0;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(OpenCache().size(), static_cast<std::size_t>(kProcesses * kTexts));
}

}  // namespace
}  // namespace dossier::tokens
