#include "ask/run/call_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <mutex>

#include "testing/no_threads.h"

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class CallTreeTest : public ::testing::Test {
 protected:
  void Note(std::string name) {
    std::lock_guard lock(mutex_);
    order_.push_back(std::move(name));
  }
  CallTree::Work Noting(std::string name, int depth, const void* owner = nullptr) {
    return {.owner = owner, .depth = depth, .work = [this, name = std::move(name)] { Note(name); }};
  }

  std::mutex mutex_;
  std::vector<std::string> order_;
};

TEST_F(CallTreeTest, TheDeepestBeginFirstAndEqualOnesInOrder) {  // REC-48
  std::latch begun(1), go_on(1);
  {
    CallTree tree(1, {});
    tree.Start({.work = [&] {
      begun.count_down();
      go_on.wait();
      Note("first");
    }});
    begun.wait();
    for (const auto& [name, depth] : {std::pair("a", 1), {"b", 1}, {"deep", 3}, {"c", 2}}) {
      tree.Start(Noting(name, depth));
    }
    go_on.count_down();
  }  // all have ended
  EXPECT_THAT(order_, ElementsAre("first", "deep", "c", "a", "b"));
}

TEST_F(CallTreeTest, ACallThatWaitsForItsChildrenHoldsNoPlace) {  // REC-48
  CallTree tree(1, {});
  std::latch child(1), parent(1);
  tree.Start({.work = [&] {
    tree.Wait();
    tree.Start({.depth = 2, .work = [&] { child.count_down(); }});
    child.wait();  // waits forever unless the only place is free
    tree.GoOn();
    parent.count_down();
  }});
  parent.wait();
}

TEST_F(CallTreeTest, WhatHasNotBegunCanBeTakenBackByWhoStartedIt) {  // REC-47
  std::latch begun(1), go_on(1);
  const int mine = 0, others = 0;
  {
    CallTree tree(1, {});
    tree.Start({.owner = &mine, .work = [&] {
                  begun.count_down();
                  go_on.wait();
                }});
    begun.wait();
    tree.Start(Noting("mine", 1, &mine));
    tree.Start(Noting("others", 1, &others));
    EXPECT_THAT(tree.TakeBack(&mine), SizeIs(1));
    EXPECT_THAT(tree.TakeBack(&mine), SizeIs(0));
    go_on.count_down();
  }
  EXPECT_THAT(order_, ElementsAre("others"));
}

TEST_F(CallTreeTest, WorkWithoutAThreadIsRefusedOrDoneByOneThatRuns) {
  std::latch begun(1), go_on(1);
  {
    CallTree tree(1, {});
    {
      const testing::NoThreads none;
      CallTree::Work lost = Noting("lost", 1);
      lost.refused = [this](const Error& error) { Note(std::string(ErrorName(error.code))); };
      tree.Start(std::move(lost));
    }
    EXPECT_THAT(order_, ElementsAre("limit"));
    tree.Start({.work = [&] {
      begun.count_down();
      go_on.wait();
    }});
    begun.wait();  // its place was free again
    go_on.count_down();
  }
  CallTree two(2, {});
  std::latch other(1), waits(1), done(1);
  two.Start({.work = [&] {
    other.count_down();
    waits.wait();
  }});
  other.wait();
  const testing::NoThreads none;
  two.Start({.work = [&] { done.count_down(); }});
  waits.count_down();
  done.wait();
}

TEST_F(CallTreeTest, NumbersAreGivenOnce) {
  CallTree tree(4, {});
  EXPECT_EQ(tree.NextCall(), 1);
  EXPECT_EQ(tree.NextCall(), 2);
}

}  // namespace
}  // namespace dossier::ask
