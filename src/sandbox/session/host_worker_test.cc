#include "sandbox/session/host_worker.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "base/random.h"
#include "testing/result_matchers.h"

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
  const auto reply = bridge->OpenCall({.id = 3, .block = 1, .method = "llm"}, 100);
  EXPECT_EQ(bridge->open_calls(), 1u);
  EXPECT_EQ(bridge->EndBlock("ended").size(), 0u);
  EXPECT_TRUE(reply->cancel().cancelled());
  reply->Item(0, Json(1));
  reply->Ok(Json(1));
  EXPECT_FALSE(bridge->pending());
}

// What the worker of `bridge` would have been told, read from a real socket.
class CreditReader {
 public:
  explicit CreditReader(HostBridge& bridge) : bridge_(bridge) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    host_ = UniqueFd(ends[0]);
    worker_ = UniqueFd(ends[1]);
  }

  // Bytes of credit that came since the last time.
  std::int64_t Read() {
    std::int64_t credit = 0;
    while (bridge_.pending()) {
      EXPECT_TRUE(bridge_.Flush(host_.get()));
      char block[64 << 10];
      ssize_t got;
      while ((got = read(worker_.get(), block, sizeof(block))) > 0) {
        decoder_.Feed({block, static_cast<std::size_t>(got)});
      }
      while (true) {
        const auto message = decoder_.Next();
        EXPECT_TRUE(message);
        if (!message || !*message) break;
        if ((*message)->type != MessageType::kCredit) continue;
        credit += (*message)->json.at("bytes").get_int64();
        EXPECT_EQ((*message)->json.at("requests").get_int64(), 0);
      }
    }
    return credit;
  }

 private:
  HostBridge& bridge_;
  UniqueFd host_, worker_;
  MessageDecoder decoder_{Side::kHost};
};

// The worker's credit, what its open calls hold, and what the host has not told it yet are one sum,
// whatever the sizes, and in whatever order calls are answered, cancelled, dropped or ended.
TEST(HostBridgeTest, CreditIsNeitherLostNorMade) {  // FLT-85, SBX-91
  constexpr std::int64_t kBegin = 8 << 20, kStep = 1 << 20;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const auto bridge = std::make_shared<HostBridge>(std::make_shared<Waker>());
    CreditReader reader(*bridge);
    struct Open {
      std::int64_t bytes;
      std::shared_ptr<BridgeReply> reply;
    };
    std::map<std::uint64_t, Open> open;
    std::int64_t credit = kBegin, held = 0;
    std::uint64_t next_id = 1;
    const auto close = [&](std::map<std::uint64_t, Open>::iterator call) {
      held -= call->second.bytes;
      open.erase(call);
    };
    for (int step = 0; step < 600; ++step) {
      const std::uint64_t choice = random.Below(10);
      if (choice < 5 && credit > 0 && open.size() < 256) {
        // Small ones, ones of the size of a step, and now and then one above the whole credit.
        const std::uint64_t most = random.Below(20) == 0 ? 20 << 20 : 1 << random.Below(22);
        const auto bytes = static_cast<std::int64_t>(random.Below(most) + 1);
        const std::uint64_t id = next_id += 2;
        open[id] = {bytes, bridge->OpenCall({.id = id, .block = 1, .method = "grep"},
                                            static_cast<std::uint64_t>(bytes))};
        credit -= bytes;
        held += bytes;
      } else if (choice == 9 && random.Below(10) == 0) {
        bridge->EndBlock("ended");
        open.clear();
        held = 0;
      } else if (!open.empty()) {
        auto call = open.begin();
        std::advance(call, random.Below(open.size()));
        const std::uint64_t id = call->first;
        switch (random.Below(5)) {
          case 0:
            bridge->CancelCall(id, "interrupted");
            bridge->CancelCall(id, "again");
            call->second.reply->Ok(Json(1));  // too late: nothing comes back twice
            break;
          case 1:
            call->second.reply->Fail("failed", "no");
            break;
          case 2:
            call->second.reply.reset();  // dropped
            break;
          case 3:
            bridge->Repeat(id, {.key = "", .json = R"({"ok":true,"value":1})", .raw = ""});
            break;
          default:
            call->second.reply->Ok(Json(1), std::string(random.Below(5000), 'x'));
        }
        close(call);
      }
      credit += reader.Read();
      const std::int64_t untold = kBegin - credit - held;
      ASSERT_GE(untold, 0) << "credit was made, seed " << seed << ", step " << step;
      ASSERT_LT(untold, kStep) << "credit was lost, seed " << seed << ", step " << step;
      ASSERT_TRUE(!open.empty() || credit > 0) << "the next call would hang, seed " << seed;
    }
    open.clear();
  }
}

std::vector<CallRecord> RecordsOf(HostBridge& bridge, std::uint64_t most,
                                  const std::vector<std::size_t>& sizes) {
  bridge.BeginBlock(most);
  std::uint64_t id = 1;
  for (const std::size_t size : sizes) {
    const auto reply = bridge.OpenCall({.id = id += 2, .block = 1, .method = "grep"}, 100);
    reply->Ok(Json(static_cast<std::int64_t>(size)), std::string(size, 'x'));
  }
  return bridge.EndBlock("ended");
}

TEST(HostBridgeTest, RecordsAreBoundedInBytesAndLeaveNoHole) {  // FLT-85
  const auto bridge = std::make_shared<HostBridge>(std::make_shared<Waker>());
  // The third does not fit: the fourth would be taken for it.
  const auto records = RecordsOf(*bridge, 10'000, {4'000, 4'000, 4'000, 10});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].raw.size(), 4'000u);
  EXPECT_THAT(records[1].json, ::testing::HasSubstr("4000"));
  EXPECT_EQ(RecordsOf(*bridge, 10'000, {10, 20}).size(), 2u);  // another block begins anew
  EXPECT_EQ(RecordsOf(*bridge, 0, {10, 20}).size(), 0u);
  std::uint64_t sum = 0;
  for (const CallRecord& record : RecordsOf(*bridge, 1 << 20, std::vector<std::size_t>(10'000))) {
    sum += record.bytes();
  }
  EXPECT_LE(sum, 1u << 20);  // keys count, too
  EXPECT_GT(sum, 1u << 19);
}

TEST(HostBridgeTest, AReplyThatDoesNotFitInAMessageIsAnError) {  // FLT-85, SBX-90
  const auto bridge = std::make_shared<HostBridge>(std::make_shared<Waker>());
  bridge->BeginBlock(1 << 20);
  bridge->OpenCall({.id = 3, .block = 1, .method = "grep"}, 100)
      ->Ok(Json(std::string(9 << 20, 'x')));
  const auto records = bridge->EndBlock("ended");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_THAT(records[0].json, ::testing::HasSubstr("too_large"));
}

}  // namespace

}  // namespace dossier::sandbox
