#include "ask/loop/call_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <semaphore>
#include <set>

#include "ask/engine.h"
#include "base/files/file.h"
#include "model/client/gate_core.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::Succeeds;

// Signals when a request has arrived.
class WaitedClient final : public model::Client {
 public:
  void Submit(std::shared_ptr<const model::Request> request, CancelToken cancel,
              std::shared_ptr<model::Sink> sink) override {
    requests_.Submit(std::move(request), std::move(cancel), std::move(sink));
    come_.release();
  }
  // Returns the next request that was not waited for yet.
  std::size_t Wait() {
    come_.acquire();
    return next_++;
  }
  model::FakeClient& requests() { return requests_; }

 private:
  model::FakeClient requests_;
  std::counting_semaphore<> come_{0};
  std::size_t next_ = 0;
};

// A run with a limit of 100 seconds, on a clock that the test controls.
class LateReplyTest : public ::testing::Test {
 protected:
  void Start() {
    journal_ = std::shared_ptr<store::Journal>(*store::Journal::Open(folder_.path() + "/runs"));
    ContextOptions context;
    context.content = &journal_->content();
    AskRequest request;
    request.question = "Which letter comes first?";
    request.mode = Mode::kRecursive;
    request.context = *LoadContext({{.text = "abc\n"}}, context, {});
    request.limits.time = Millis(100'000);
    run_ = std::async(std::launch::async, [this, request] {
      driver::BoundModel model{.name = "scripted", .origin = "test"};
      model.entry.capability.window = 32'768;
      model.entry.capability.max_output = 1'024;
      model.counter = *tokens::MakeEstimator({.bytes_per_token = 4, .margin = 0});
      model.gate = model::MakeGate(client_, {.retries = 0}, clock_, timer_);
      EngineOptions options{.root = model, .sub = model};
      options.pool_options.worker_path = DOSSIER_BIN_DIR "/dossier-python-worker";
      options.journal = journal_;
      options.clock = clock_;
      Engine engine(std::move(options));
      return engine.Run(request, {}, events_);
    });
  }
  // Returns true if the request was stopped.
  bool Pass(std::size_t request, Millis time) {
    clock_->Advance(time);
    timer_->RunDue();
    if (!client_->requests().call(request).cancel.cancelled()) return false;
    if (ended_.insert(request).second) {
      client_->requests().Fail(request, ErrorCode::kCancelled, {});
    }
    return true;
  }
  void Answer(std::size_t request, std::string text) {
    if (ended_.insert(request).second) client_->requests().Answer(request, std::move(text));
  }
  void End() {
    // The gate's refusals come from the timer. A run with more requests than expected is ended.
    for (int round = 0; run_.wait_for(Millis(1)) != std::future_status::ready; ++round) {
      timer_->RunDue();
      for (std::size_t i = 0; round > 10'000 && i < client_->requests().calls(); ++i) {
        Pass(i, Millis(100'000));
      }
    }
    outcome_ = run_.get();
    ASSERT_THAT(outcome_, Succeeds());
  }

  class NoEvents final : public EventSink {
    void OnEvent(const store::Event&) override {}
  };

  TempFolder folder_ = *TempFolder::Make("late_reply");
  std::shared_ptr<store::Journal> journal_;
  NoEvents events_;
  const std::shared_ptr<model::ManualClock> clock_ = std::make_shared<model::ManualClock>();
  const std::shared_ptr<model::ManualTimer> timer_ = std::make_shared<model::ManualTimer>(clock_);
  const std::shared_ptr<WaitedClient> client_ = std::make_shared<WaitedClient>();
  std::set<std::size_t> ended_;
  Result<Outcome> outcome_ = MakeError(ErrorCode::kInternal, "not run");
  std::future<Result<Outcome>> run_;
};

TEST_F(LateReplyTest, AFinalThatComesWithinTheLimitIsTaken) {  // REC-56, REC-57
  Start();
  const std::size_t first = client_->Wait();
  EXPECT_FALSE(Pass(first, Millis(99'500)));
  Answer(first, "FINAL(a)");
  End();
  EXPECT_EQ(outcome_->text, "a");
  EXPECT_EQ(outcome_->status, RunStatus::kFinal);
}

TEST_F(LateReplyTest, OfTheTimeAClosingReplyGetsWhatRepliesWereSeenToTake) {  // REC-56
  Start();
  const std::size_t first = client_->Wait();
  EXPECT_FALSE(Pass(first, Millis(1'000)));
  Answer(first, "Let me think.");
  const std::size_t second = client_->Wait();
  EXPECT_FALSE(Pass(second, Millis(96'900)));
  EXPECT_TRUE(Pass(second, Millis(200))) << "two seconds are kept";
  const std::size_t closing = client_->Wait();
  EXPECT_EQ(client_->requests().call(closing).request->purpose, model::Purpose::kExtract);
  Answer(closing, "It is a.");
  End();
  EXPECT_EQ(outcome_->text, "It is a.");
  EXPECT_EQ(outcome_->status, RunStatus::kExtracted);
}

TEST_F(LateReplyTest, AFinalThatHadComeWhenTheTimeWasUsedUpIsTaken) {  // REC-57
  Start();
  const std::size_t first = client_->Wait();
  client_->requests().call(first).sink->OnDelta("FINAL(a)\n\nIt is the first, beca");
  EXPECT_TRUE(Pass(first, Millis(100'000)));
  End();
  EXPECT_EQ(outcome_->text, "a");
  EXPECT_EQ(outcome_->status, RunStatus::kFinal);
}

TEST_F(LateReplyTest, AFinalOfWhichTheEndIsMissingIsNone) {  // REC-57
  Start();
  const std::size_t first = client_->Wait();
  client_->requests().call(first).sink->OnDelta("FINAL(a, b and ");
  EXPECT_TRUE(Pass(first, Millis(100'000)));
  End();
  EXPECT_NE(outcome_->status, RunStatus::kFinal);
}

}  // namespace
}  // namespace dossier::ask
