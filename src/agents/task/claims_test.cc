#include "agents/task/claims.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace dossier::agents {
namespace {

TEST(ClaimsTest, ASecondRunIsToldWhoHasTheTask) {  // REP-49, A29
  const TempFolder ground = *TempFolder::Make();
  const Claims first(ground.path()), second(ground.path());
  {
    auto held = first.Take("fact-001", "run-1");
    ASSERT_TRUE(held);
    ASSERT_TRUE(held->claim);
    const auto refused = second.Take("fact-001", "run-2");
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->claim);
    EXPECT_EQ(refused->holder, "run-1");
    EXPECT_TRUE(second.Take("fact-002", "run-2")->claim);
  }
  EXPECT_TRUE(second.Take("fact-001", "run-2")->claim);
}

TEST(ClaimsTest, OfManyOneGetsIt) {  // REP-49
  const TempFolder ground = *TempFolder::Make();
  std::atomic<int> got = 0, asked = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto answer = Claims(ground.path()).Take("t", "run");
      if (answer && answer->claim) ++got;
      ++asked;
      while (asked < 8) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 1);
}

}  // namespace
}  // namespace dossier::agents
