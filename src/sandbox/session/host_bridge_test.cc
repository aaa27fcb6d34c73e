#include "sandbox/session/host_bridge.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace dossier::sandbox {
namespace {

bool Written(const Waker& waker) {
  pollfd entry{waker.fd(), POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

TEST(WakerTest, TheThreadThatWaitsDoesNotWakeItself) {
  Waker waker;
  {
    const Waker::Waiter waiter(waker);
    waker.Wake();
    EXPECT_FALSE(Written(waker));
    std::thread([&] { waker.Wake(); }).join();
    EXPECT_TRUE(Written(waker));
    waker.Drain();
  }
  EXPECT_FALSE(Written(waker));
  waker.Wake();  // nobody waits now: it is kept for who comes
  EXPECT_TRUE(Written(waker));
}

TEST(WakerTest, NoWakeIsLostBetweenADrainAndTheNextWait) {
  Waker waker;
  const Waker::Waiter waiter(waker);
  constexpr int kRounds = 20'000;
  std::atomic<int> pushed{0};
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ++pushed;
      waker.Wake();
    }
  });
  int seen = 0;
  while (seen < kRounds) {
    pollfd entry{waker.fd(), POLLIN, 0};
    ASSERT_GT(poll(&entry, 1, 60'000), 0) << "after " << seen;
    waker.Drain();
    seen = pushed;
  }
  other.join();
}

TEST(HostBridgeTest, AReplyToACallThatIsNotOpenIsDropped) {  // SBX-47
  const auto bridge = std::make_shared<HostBridge>(std::make_shared<Waker>());
  const auto reply = bridge->OpenCall({.id = 3, .block = 1, .method = "llm"});
  EXPECT_EQ(bridge->open_calls(), 1u);
  EXPECT_EQ(bridge->EndBlock("ended").size(), 0u);
  EXPECT_TRUE(reply->cancel().cancelled());
  reply->Item(0, Json(1));
  reply->Ok(Json(1));
  EXPECT_FALSE(bridge->pending());
}

}  // namespace
}  // namespace dossier::sandbox
