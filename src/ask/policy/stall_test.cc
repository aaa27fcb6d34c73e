#include "ask/policy/stall.h"

#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

using Ran = StallWatch::Ran;

TEST(StallWatchTest, ThreeTurnsInARowWithoutABlockAreAStall) {  // REC-15, REC-A10, FLT-16
  StallWatch watch;
  EXPECT_EQ(watch.Note({.output = "a"}), "");
  EXPECT_EQ(watch.Note({.output = "a"}), "");
  EXPECT_EQ(watch.Note({.ran = Ran::kBlocks, .output = "b"}), "") << "code starts the count anew";
  EXPECT_EQ(watch.Note({.output = "c"}), "");
  EXPECT_EQ(watch.Note({.output = "c"}), "");
  EXPECT_EQ(watch.Note({.output = "c"}), "no code ran in three replies in a row");
}

TEST(StallWatchTest, ShortRepliesWhoseCodeRanAreNone) {  // FLT-16
  StallWatch watch;
  for (const char* output : {"1", "2", "3", "4", "5"}) {
    EXPECT_EQ(watch.Note({.ran = Ran::kBlocks, .output = output}), "");
  }
  EXPECT_EQ(watch.Note({.ran = Ran::kBlocks, .output = "5"}), "");
  EXPECT_EQ(watch.Note({.ran = Ran::kBlocks, .output = "5"}),
            "three outputs in a row were the same");
}

TEST(FailedBlocksTest, OnlyTheLastThreeThatRaisedAreRemembered) {  // REC-16
  FailedBlocks failed;
  EXPECT_FALSE(failed.Holds("f(1)"));
  failed.Add("f(1)");
  failed.Add("f(2)");
  failed.Add("f(3)");
  EXPECT_TRUE(failed.Holds("f(1)  \n"));
  failed.Add("f(4)");
  EXPECT_FALSE(failed.Holds("f(1)"));
  EXPECT_TRUE(failed.Holds("f(2)"));
}

}  // namespace
}  // namespace dossier::ask
