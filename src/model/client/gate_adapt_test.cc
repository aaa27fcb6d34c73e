// The gate with a server that has limits, over simulated time (MOD-22).

#include <gtest/gtest.h>

#include "base/random.h"
#include "model/client/gate_core.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;

// Works on `capacity` requests at once, each 50 to 200 ms; refuses more, after 10 ms.
class LimitedServer final : public Client {
 public:
  LimitedServer(std::shared_ptr<ManualClock> clock, std::shared_ptr<ManualTimer> timer,
                std::uint64_t seed)
      : clock_(std::move(clock)), timer_(std::move(timer)), random_(seed) {}

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    ++sent;
    most_open = std::max(most_open, ++open);
    refused_while_held += clock_->Now() < held_until_;
    if (working_ < capacity) {
      ++working_;
      At(Millis(50 + static_cast<int>(random_.Below(150))), [this, request, cancel, sink] {
        --open, --working_;
        if (cancel.cancelled()) return sink->OnDone(MakeError(ErrorCode::kCancelled, "cancelled"));
        Reply reply;
        reply.usage = {.input = 7, .output = 1, .cost_nano_usd = 0};
        ++done[request->path];
        sink->OnDone(std::move(reply));
      });
      return;
    }
    ++refused;
    At(Millis(10), [this, sink] {
      --open;
      if (retry_after) held_until_ = clock_->Now() + *retry_after;
      sink->OnFailure(
          {.retry = Failure::Retry::kYes, .status = status, .retry_after = retry_after});
      sink->OnDone(MakeError(ErrorCode::kRateLimited, "status {}", status));
    });
  }

  int capacity = 5;
  int status = 429;
  std::optional<Millis> retry_after;
  int open = 0, most_open = 0, sent = 0, refused = 0, refused_while_held = 0;
  std::map<std::string, int> done;  // by the path of the call

 private:
  void At(Millis wait, std::function<void()> task) {
    timer_->At(clock_->Now() + wait, std::move(task));
  }

  const std::shared_ptr<ManualClock> clock_;
  const std::shared_ptr<ManualTimer> timer_;
  Random random_;
  int working_ = 0;
  Clock::Steady held_until_{};
};

class GateAdaptTest : public ::testing::Test {
 protected:
  void Open(std::uint64_t seed, GateOptions options) {
    gate_.reset();
    clock_ = std::make_shared<ManualClock>();
    timer_ = std::make_shared<ManualTimer>(clock_);
    server_ = std::make_shared<LimitedServer>(clock_, timer_, seed);
    limits_.tokens = 10'000'000;
    ledger_.emplace(limits_, clock_);
    options.seed = seed;
    gate_ = MakeGate(server_, options, clock_, timer_);
    sinks_.clear();
  }
  void Submit(const std::string& path, const CancelToken& cancel = {}) {
    Request request = UserRequest("x");
    request.path = path;
    request.estimated_tokens = 5;
    sinks_.push_back(std::make_shared<RecordingSink>());
    gate_->Submit(std::make_shared<const Request>(std::move(request)), *ledger_, Stage::kNormal,
                  cancel, sinks_.back());
  }
  void Step() {
    clock_->Advance(Millis(1));
    timer_->RunDue();
  }
  bool AllDone() const {
    return std::all_of(sinks_.begin(), sinks_.end(),
                       [](const auto& sink) { return sink->times_done > 0; });
  }

  LedgerLimits limits_;
  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<ManualTimer> timer_;
  std::shared_ptr<LimitedServer> server_;
  std::optional<Ledger> ledger_;
  std::unique_ptr<Gate> gate_;
  std::vector<std::shared_ptr<RecordingSink>> sinks_;
};

TEST_F(GateAdaptTest, ItFindsWhatTheServerTakesAndStarvesNobody) {  // MOD-22
  for (const int status : {429, 503, 529}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Open(seed, {.concurrency = 32, .retries = 100, .first_delay = Millis(20)});
      server_->status = status;
      for (int i = 0; i < 400; ++i) Submit("0." + std::to_string(i % 4));
      int steps = 0, most_late = 0;
      while (!AllDone() && ++steps < 200'000) {
        Step();
        if (steps > 2000) most_late = std::max(most_late, gate_->in_flight());
        const auto [least, most] = std::minmax({server_->done["0.0"], server_->done["0.1"],
                                                server_->done["0.2"], server_->done["0.3"]});
        ASSERT_LE(most - least, 20) << "calls take turns; seed " << seed;
      }
      for (const auto& sink : sinks_) ASSERT_TRUE(*sink->result) << sink->result->error().message;
      EXPECT_LE(server_->most_open, 32) << "never over the flag";
      EXPECT_LE(most_late, 2 * server_->capacity) << "seed " << seed;
      EXPECT_LT(server_->refused, 200) << "of 400; seed " << seed;
      // 400 requests of 125 ms, five at once, are 10 s: most of what the server can do is used.
      EXPECT_LT(steps, 16'000) << "seed " << seed;
    }
  }
}

TEST_F(GateAdaptTest, WhileTheServerWantsNothingNothingIsSent) {  // MOD-21, MOD-22
  Open(/*seed=*/1, {.concurrency = 16, .retries = 4});
  server_->capacity = 4;
  server_->retry_after = Millis(3000);
  for (int i = 0; i < 100; ++i) Submit("0");
  for (int steps = 0; !AllDone() && steps < 200'000; ++steps) Step();
  for (const auto& sink : sinks_) ASSERT_TRUE(*sink->result) << sink->result->error().message;
  EXPECT_EQ(server_->refused_while_held, 0);
}

TEST_F(GateAdaptTest, AWishForAnHourHoldsTheOthersBackAMinute) {  // MOD-21
  Open(/*seed=*/1, {.concurrency = 1, .retries = 4});
  server_->capacity = 0;
  server_->retry_after = Millis(3'600'000);
  Submit("0");
  Submit("1");
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_THAT(*sinks_[0]->result, FailsWith(ErrorCode::kRateLimited, "past the deadline"));
  EXPECT_FALSE(sinks_[1]->result);
  server_->capacity = 1;
  for (int i = 0; i < 60'300; ++i) Step();
  ASSERT_TRUE(sinks_[1]->result);
  EXPECT_TRUE(*sinks_[1]->result);
}

TEST_F(GateAdaptTest, TheRunsTimeCountsInTheQueueToo) {  // REC-57, MOD-20
  limits_.deadline = ManualClock().Now() + Millis(100);
  Open(/*seed=*/1, {.concurrency = 1});
  server_->retry_after = Millis(5000);
  server_->capacity = 0;
  Submit("0");
  Submit("1");
  for (int i = 0; i < 101; ++i) Step();
  EXPECT_EQ(server_->sent, 1);
  EXPECT_THAT(*sinks_[1]->result, FailsWith(ErrorCode::kLimit, "was not sent any more"));
}

TEST_F(GateAdaptTest, CancelledRequestsLeaveNothingBehind) {  // MOD-23
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Open(seed, {.concurrency = 16, .retries = 6, .first_delay = Millis(20)});
    if (seed % 2 == 0) server_->retry_after = Millis(300);
    Random random(seed);
    std::vector<std::unique_ptr<CancelSource>> sources;
    for (int i = 0; i < 200; ++i) {
      sources.push_back(std::make_unique<CancelSource>());
      Submit("0." + std::to_string(i % 3), sources.back()->token());
    }
    for (int steps = 0; !AllDone() && steps < 200'000; ++steps) {
      if (steps % 7 == 0) sources[random.Below(sources.size())]->Cancel("some");
      Step();
    }
    for (const auto& sink : sinks_) ASSERT_EQ(sink->times_done, 1) << "seed " << seed;
    EXPECT_EQ(gate_->in_flight(), 0);
    const LedgerUse use = ledger_->use();
    EXPECT_EQ(*ledger_->tokens_left(), 10'000'000 - use.spent.tokens())
        << "nothing is held; seed " << seed;
  }
}

}  // namespace
}  // namespace dossier::model
