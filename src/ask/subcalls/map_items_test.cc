#include "ask/subcalls/map_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;

const std::string kMegabyte(1u << 20, 'x');

TEST(MapItemsTest, AViewStaysWhereItLiesAndACopyStays) {
  LargeTurn turn;
  MapItems items(turn, {});
  for (int i = 0; i < 100; ++i) ASSERT_THAT(items.Add("copy"), Succeeds());
  ASSERT_THAT(items.AddView(kMegabyte), Succeeds());
  EXPECT_EQ(items.texts()[0], "copy");
  EXPECT_EQ(items.texts()[100].data(), kMegabyte.data());
  MapItems others(turn, {});  // what lies in a document takes no turn
  EXPECT_THAT(others.Expect(2u << 20), Succeeds());
}

TEST(MapItemsTest, LargeCallsTakeTurnsAndSmallOnesDoNotWait) {
  LargeTurn turn;
  auto first = std::make_unique<MapItems>(turn, CancelToken());
  ASSERT_THAT(first->Add(kMegabyte + "x"), Succeeds());
  MapItems small(turn, {});
  EXPECT_THAT(small.Add("text"), Succeeds());
  CancelSource stop;
  MapItems stopped(turn, stop.token());
  std::atomic<bool> had = false;
  std::thread waits([&] {
    MapItems second(turn, {});
    EXPECT_THAT(second.Expect(2u << 20), Succeeds());
    had = true;
  });
  std::thread cancelled(
      [&] { EXPECT_THAT(stopped.Expect(2u << 20), FailsWith(ErrorCode::kCancelled, "enough")); });
  stop.Cancel("enough");
  cancelled.join();
  EXPECT_FALSE(had);
  first.reset();
  waits.join();
  EXPECT_TRUE(had);
}

TEST(MapItemsTest, TooManyAndTooMuchAreErrors) {
  LargeTurn turn;
  MapItems items(turn, {});
  EXPECT_THAT(items.Expect((256u << 20) + 1), FailsWith(ErrorCode::kTooLong, "256 MB"));
  for (int i = 0; i < 256; ++i) ASSERT_THAT(items.AddView(kMegabyte), Succeeds());
  EXPECT_THAT(items.AddView("x"), FailsWith(ErrorCode::kTooLong, "the first 257 items"));
  for (int i = 256; i < 200'000; ++i) ASSERT_THAT(items.AddView(""), Succeeds());
  EXPECT_THAT(items.AddView(""), FailsWith(ErrorCode::kTooLong, "more than 200,000 items"));
}

}  // namespace
}  // namespace dossier::ask
