#include "research/search/slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

TEST(SlotsTest, OneAtATimeRunsInOrderOnTheCallersThread) {  // RSP-34
  std::vector<std::size_t> order;
  const auto caller = std::this_thread::get_id();
  ASSERT_TRUE(RunSlots({.count = 4, .parallel = 1},
                       [&](std::size_t slot, const CancelToken&) -> Status {
                         EXPECT_EQ(std::this_thread::get_id(), caller);
                         order.push_back(slot);
                         return {};
                       },
                       {}));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(SlotsTest, SeveralRunAtTheSameTime) {  // RSP-34
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  ASSERT_TRUE(RunSlots({.count = 4, .parallel = 4},
                       [&](std::size_t, const CancelToken&) -> Status {
                         std::unique_lock lock(mutex);
                         ++here;
                         all_here.notify_all();
                         all_here.wait(lock, [&] { return here == 4; });
                         return {};
                       },
                       {}));
  EXPECT_EQ(here, 4);
}

TEST(SlotsTest, AFailureCancelsTheOthersAndIsWhatIsTold) {  // RSP-46
  std::mutex mutex;
  std::condition_variable waits;
  int waiting = 0;
  std::atomic<int> started = 0;
  const Status done = RunSlots({.count = 9, .parallel = 3},
                               [&](std::size_t slot, const CancelToken& cancel) -> Status {
                                 ++started;
                                 std::unique_lock lock(mutex);
                                 if (slot == 2) {
                                   waits.wait(lock, [&] { return waiting == 2; });
                                   return MakeError(ErrorCode::kLimit, "cost: 1 of 1 used");
                                 }
                                 ++waiting;
                                 waits.notify_all();
                                 lock.unlock();
                                 while (!cancel.cancelled()) std::this_thread::yield();
                                 return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
                               },
                               {});
  EXPECT_THAT(done, FailsWith(ErrorCode::kLimit, "cost"));
  EXPECT_EQ(started, 3);
}

TEST(SlotsTest, ACancelledRunStartsNothingMore) {
  CancelSource source;
  int started = 0;
  const Status done = RunSlots(
      {.count = 5, .parallel = 1},
      [&](std::size_t, const CancelToken&) -> Status {
        ++started;
        source.Cancel("interrupted");
        return {};
      },
      source.token());
  EXPECT_THAT(done, FailsWith(ErrorCode::kCancelled, "interrupted"));
  EXPECT_EQ(started, 1);
}

}  // namespace
}  // namespace dossier::research
