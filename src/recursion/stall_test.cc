#include "recursion/stall.h"

#include <gtest/gtest.h>

namespace dossier::recursion {
namespace {

TEST(StallWatchTest, ThreeRepliesInARowWithoutCodeAreAStall) {  // REC-15, REC-A10
  StallWatch watch;
  EXPECT_FALSE(watch.Note({.characters = 500}));
  EXPECT_FALSE(watch.Note({.characters = 500}));
  EXPECT_FALSE(watch.Note({.characters = 500, .has_code = true})) << "code starts the count anew";
  EXPECT_FALSE(watch.Note({.characters = 500}));
  EXPECT_FALSE(watch.Note({.characters = 500}));
  EXPECT_TRUE(watch.Note({.characters = 500}));
}

TEST(StallWatchTest, ThreeShortRepliesInARowAreAStallEvenWithCode) {  // REC-15
  StallWatch watch;
  EXPECT_FALSE(watch.Note({.characters = 24, .has_code = true}));
  EXPECT_FALSE(watch.Note({.characters = 24, .has_code = true}));
  EXPECT_FALSE(watch.Note({.characters = 25, .has_code = true}));
  EXPECT_FALSE(watch.Note({.characters = 0, .has_code = true}));
  EXPECT_FALSE(watch.Note({.characters = 24, .has_code = true}));
  EXPECT_TRUE(watch.Note({.characters = 24, .has_code = true}));
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
}  // namespace dossier::recursion
