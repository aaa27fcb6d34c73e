// Whatever is asked for, in whatever order and however it ends: no limit is exceeded, nothing stays
// held, and what a limit ended says so (FLT-5, FLT-6, FLT-7).

#include <gtest/gtest.h>

#include <cstdio>

#include "base/random.h"
#include "model/client/gate_core.h"
#include "testing/fakes_for_test.h"

namespace dossier::model {
namespace {

constexpr TokenPrice kPrice{.input = 3, .output = 17};
constexpr std::int64_t kClosingPrompt = 400, kClosingReply = 256;

std::int64_t MoneyOf(const Usage& usage) {
  return usage.input * kPrice.input + usage.output * kPrice.output;
}

// Takes its time, uses up to the cap, and fails in all the ways there are.
class UnreliableServer final : public Client {
 public:
  UnreliableServer(std::shared_ptr<ManualClock> clock, std::shared_ptr<ManualTimer> timer,
                   std::uint64_t seed)
      : clock_(std::move(clock)), timer_(std::move(timer)), random_(seed) {}

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    most_open = std::max(most_open, ++open);
    const Millis latency(1 + static_cast<int>(random_.Below(300)));
    timer_->At(clock_->Now() + latency,
               [this, request = std::move(request), cancel = std::move(cancel),
                sink = std::move(sink)] { Answer(*request, cancel, *sink); });
  }

  double share = 1;  // of our count, what this server counts for a prompt
  int open = 0, most_open = 0, capped = 0;

 private:
  void Answer(const Request& request, const CancelToken& cancel, Sink& sink) {
    --open;
    const auto input =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(request.estimated_tokens) * share));
    if (cancel.cancelled()) {
      if (random_.Below(2) == 0) sink.OnFailure({.usage = Usage{.input = input, .output = 1}});
      return sink.OnDone(MakeError(ErrorCode::kCancelled, "cancelled"));
    }
    switch (random_.Below(12)) {
      case 0:
        sink.OnFailure({.retry = Failure::Retry::kYes, .status = 500});
        return sink.OnDone(MakeError(ErrorCode::kNetwork, "status 500"));
      case 1:
        sink.OnFailure({.retry = Failure::Retry::kYes, .status = 429});
        return sink.OnDone(MakeError(ErrorCode::kRateLimited, "status 429"));
      case 2:
        sink.OnDelta("text that");
        sink.OnFailure({.retry = Failure::Retry::kYes});
        return sink.OnDone(MakeError(ErrorCode::kNetwork, "broken off"));
      case 3:
        return sink.OnDone(MakeError(ErrorCode::kNetwork, "malformed"));
      default:
        break;
    }
    Reply reply;
    ASSERT_TRUE(request.sampling.max_output) << "under a limit every request has a cap";
    const std::int64_t cap = *request.sampling.max_output;
    // Most replies are short; some are as long as they may be.
    const bool whole = random_.Below(4) == 0;
    const std::int64_t shorter = std::min<std::int64_t>(cap, 40);
    const auto output = static_cast<std::int64_t>(
        whole ? cap : 1 + random_.Below(static_cast<std::uint64_t>(shorter)));
    capped += whole;
    reply.finish = whole ? Finish::kLength : Finish::kStop;
    reply.text = "some text";
    reply.usage = {.input = input, .output = output};
    if (random_.Below(8) == 0) {
      reply.usage = {.input = request.estimated_tokens, .output = 1, .estimated = true};
    }
    reply.usage.cost_nano_usd = MoneyOf(reply.usage);
    if (random_.Below(16) == 0) reply.usage.cost_nano_usd.reset();
    sink.OnDone(std::move(reply));
  }

  const std::shared_ptr<ManualClock> clock_;
  const std::shared_ptr<ManualTimer> timer_;
  Random random_;
};

// Turns of a root model, each followed by a batch of sub-calls, until a limit or the last turn;
// then the closing request. Two models share the ledger.
class Tree {
 public:
  Tree(std::uint64_t seed, double share) : random_(seed), seed_(seed) {
    LedgerLimits limits;
    if (random_.Below(4) > 0) limits.tokens = 1500 + static_cast<int>(random_.Below(60'000));
    if (!limits.tokens || random_.Below(2) == 0) {
      limits.nano_usd = 20'000 + static_cast<int>(random_.Below(600'000));
    }
    if (random_.Below(3) == 0) limits.calls = 3 + static_cast<int>(random_.Below(60));
    limits.finish = {.calls = 1,
                     .tokens = kClosingPrompt + kClosingReply,
                     .nano_usd = kClosingPrompt * kPrice.input + kClosingReply * kPrice.output};
    ledger_.emplace(limits, clock_);
    for (std::uint64_t i = 0; i < 2; ++i) {
      servers_[i] = std::make_shared<UnreliableServer>(clock_, timer_, seed * 2 + i);
      servers_[i]->share = share;
      concurrency_[i] = 1 + static_cast<int>(random_.Below(40));
      gates_[i] = MakeGate(servers_[i],
                           {.concurrency = concurrency_[i],
                            .retries = static_cast<int>(random_.Below(4)),
                            .seed = seed,
                            .price = [](const Request&) { return std::optional(kPrice); },
                            .max_output = 2048},
                           clock_, timer_);
    }
  }

  void Run() {
    AskRoot();
    int steps = 0;
    while (!closed_ && ++steps < 2'000'000) {
      clock_->Advance(Millis(1));
      timer_->RunDue();
      if (random_.Below(200) == 0) batch_->Cancel("enough");
      Check();
    }
    ASSERT_TRUE(closed_) << "seed " << seed_ << ": requests wait for ever";
    EXPECT_EQ(ledger_->in_flight(), 0) << "seed " << seed_;
    const LedgerUse use = ledger_->use();
    if (const auto left = ledger_->tokens_left(Stage::kFinish)) {
      const std::int64_t used = use.spent.tokens();
      EXPECT_EQ(*left, std::max<std::int64_t>(0, *ledger_->limits().tokens - used))
          << "nothing is held; seed " << seed_;
    }
    for (int i = 0; i < 2; ++i) EXPECT_LE(servers_[i]->most_open, concurrency_[i]);
    EXPECT_EQ(refused_.empty(), ended_by_limit_ == 0) << "seed " << seed_;
    const std::vector<std::string> hit = ledger_->hit();
    for (const std::string& name : refused_) {
      EXPECT_EQ(std::count(hit.begin(), hit.end(), name), 1) << name << "; seed " << seed_;
    }
    gates_[0].reset();
    gates_[1].reset();
  }

  double worst() const { return worst_; }  // share of a limit used beyond it
  int requests() const { return requests_; }
  bool closing_refused() const { return closing_refused_; }

 private:
  class Then final : public Sink {
   public:
    explicit Then(std::function<void(Result<Reply>)> done) : done_(std::move(done)) {}
    void OnDelta(std::string_view) override {}
    void OnDone(Result<Reply> reply) override { done_(std::move(reply)); }

   private:
    const std::function<void(Result<Reply>)> done_;
  };

  void Ask(int model, Request request, Stage stage, std::function<void(Result<Reply>)> done) {
    ++requests_;
    gates_[model]->Submit(
        std::make_shared<const Request>(std::move(request)), *ledger_, stage,
        stage == Stage::kFinish ? CancelToken() : batch_->token(),
        std::make_shared<Then>([this, done = std::move(done)](Result<Reply> reply) {
          if (!reply && reply.error().code == ErrorCode::kLimit) {
            ++ended_by_limit_;
            refused_.insert(reply.error().message.substr(0, reply.error().message.find(':')));
          }
          done(std::move(reply));
        }));
  }

  Request Make(Purpose purpose, std::int64_t prompt) {
    Request request = UserRequest("x");
    request.purpose = purpose;
    request.path = purpose == Purpose::kRoot ? "0" : fmt::format("0.{}", requests_);
    request.estimated_tokens = prompt;
    if (random_.Below(3) > 0) {
      request.sampling.max_output = 8 + static_cast<int>(random_.Below(4000));
    }
    return request;
  }

  void AskRoot() {
    batch_ = std::make_unique<CancelSource>();
    const std::int64_t prompt = 100 + static_cast<int>(random_.Below(800)) + 40 * turn_;
    Ask(0, Make(Purpose::kRoot, prompt), Stage::kNormal, [this](Result<Reply> reply) {
      if (!reply && reply.error().code == ErrorCode::kLimit) return Close();
      if (++turn_ == 12) return Close();
      AskBatch();
    });
  }

  void AskBatch() {
    const int count = static_cast<int>(random_.Below(60));
    if (count == 0) return AskRoot();
    open_ = count;
    for (int i = 0; i < count; ++i) {
      const std::int64_t prompt = 5 + static_cast<int>(random_.Below(700));
      Ask(static_cast<int>(random_.Below(2)), Make(Purpose::kSubcall, prompt), Stage::kNormal,
          [this](const Result<Reply>&) {
            if (--open_ == 0) AskRoot();
          });
    }
  }

  void Close() {
    Request request = Make(Purpose::kExtract, kClosingPrompt);
    request.sampling.max_output = 4096;
    Ask(0, std::move(request), Stage::kFinish, [this](const Result<Reply>& reply) {
      // A retry is a call more than was kept back.
      closing_refused_ = !reply && reply.error().code == ErrorCode::kLimit &&
                         !reply.error().message.starts_with("calls: ") &&
                         reply.error().message.find("attempt before") == std::string::npos;
      closed_ = true;
    });
  }

  void Check() {
    const LedgerUse use = ledger_->use();
    const auto over = [this](std::int64_t used, const std::optional<std::int64_t>& limit) {
      if (!limit) return;
      worst_ = std::max(worst_, static_cast<double>(used - *limit) / static_cast<double>(*limit));
    };
    over(use.spent.tokens(), ledger_->limits().tokens);
    over(ledger_->nano_usd_spent(), ledger_->limits().nano_usd);
    over(use.calls, ledger_->limits().calls);
  }

  Random random_;
  const std::uint64_t seed_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  const std::shared_ptr<ManualTimer> timer_ = std::make_shared<ManualTimer>(clock_);
  std::optional<Ledger> ledger_;
  std::shared_ptr<UnreliableServer> servers_[2];
  int concurrency_[2] = {};
  std::unique_ptr<Gate> gates_[2];
  std::unique_ptr<CancelSource> batch_;
  std::set<std::string> refused_;
  int turn_ = 0, open_ = 0, requests_ = 0, ended_by_limit_ = 0;
  bool closed_ = false, closing_refused_ = false;
  double worst_ = 0;
};

TEST(LedgerPropertyTest, NoMixOfRequestsExceedsALimit) {  // FLT-5, FLT-6
  double worst = 0;
  int requests = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Tree tree(seed, /*share=*/1);
    tree.Run();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    worst = std::max(worst, tree.worst());
    requests += tree.requests();
    EXPECT_FALSE(tree.closing_refused()) << "what closing needs was kept; seed " << seed;
  }
  std::printf("%d requests in 400 trees, worst overshoot %.6f of a limit\n", requests, worst);
  EXPECT_EQ(worst, 0);
}

// A server that counts higher than we do: the first replies may cost more than was reserved, and
// what they say holds for those that follow.
TEST(LedgerPropertyTest, AServerThatCountsHigherIsBelievedFromItsFirstReplyOn) {  // FLT-5
  for (const double share : {1.02, 1.3, 2.5}) {
    const auto clock = std::make_shared<ManualClock>();
    const auto timer = std::make_shared<ManualTimer>(clock);
    const auto client = std::make_shared<FakeClient>();
    Ledger ledger({.tokens = 40'000}, clock);
    const auto gate = MakeGate(client, {.concurrency = 1, .max_output = 400}, clock, timer);
    Random random(7);
    std::vector<std::shared_ptr<RecordingSink>> sinks;
    for (int i = 0; i < 400; ++i) {
      Request request = UserRequest("x");
      request.estimated_tokens = 200 + static_cast<int>(random.Below(2000));
      sinks.push_back(std::make_shared<RecordingSink>());
      gate->Submit(std::make_shared<const Request>(std::move(request)), ledger, Stage::kNormal, {},
                   sinks.back());
    }
    for (std::size_t i = 0; i < client->calls(); ++i) {
      const Request& request = *client->call(i).request;
      const double counted = static_cast<double>(request.estimated_tokens) * share + 12;
      client->Answer(i, "a",
                     {.input = static_cast<std::int64_t>(std::ceil(counted)),
                      .output = *request.sampling.max_output});
      timer->RunDue();
    }
    const LedgerUse use = ledger.use();
    EXPECT_LE(use.spent.tokens(), 40'000) << share;
    EXPECT_GT(use.spent.tokens(), 36'000) << share << ": and most of it is used";
    for (const auto& each : sinks) EXPECT_EQ(each->times_done, 1);
  }
}

}  // namespace
}  // namespace dossier::model
