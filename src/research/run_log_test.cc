#include "research/run_log.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

class RunLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<RunLog> Start() {
    auto log = RunLog::Start(temp_.path(), {{"idea", "Sorting"}}, SystemClock(), watch_);
    EXPECT_TRUE(log) << log.error().message;
    return *std::move(log);
  }
  std::unique_ptr<RunLog> Reopen() {
    auto log = RunLog::Reopen(temp_.path(), SystemClock(), watch_);
    EXPECT_TRUE(log) << log.error().message;
    return *std::move(log);
  }

  TempFolder temp_ = *TempFolder::Make("run_log");
  RunLog::Watch watch_;
};

TEST_F(RunLogTest, WhatWasAddedIsRecordedAlsoAfterReopening) {  // RSP-47
  {
    const auto log = Start();
    ASSERT_TRUE(log->Add("phase1.step", "3f9a/3", {{"exit", 0}}));
    ASSERT_TRUE(log->Add("phase1.step", "3f9a/3", {{"exit", 1}}));
    ASSERT_NE(log->Recorded("phase1.step", "3f9a/3"), nullptr);
    EXPECT_EQ(FindInt(log->Recorded("phase1.step", "3f9a/3")->data, "exit"), 0);
  }
  const auto log = Reopen();
  ASSERT_NE(log->Recorded("phase1.step", "3f9a/3"), nullptr);
  EXPECT_EQ(FindInt(log->Recorded("phase1.step", "3f9a/3")->data, "exit"), 0);
  EXPECT_EQ(log->Recorded("phase1.step", "3f9a/4"), nullptr);
  EXPECT_EQ(log->Recorded("node.created", "3f9a/3"), nullptr);
}

TEST_F(RunLogTest, ALongTextComesBackWholeAndLeavesTheEventsShort) {
  const std::string code(10'000, 'x');
  for (const bool reopened : {false, true}) {
    const auto log = reopened ? Reopen() : Start();
    if (!reopened) {
      ASSERT_TRUE(log->Add("node.finished", "3f9a", {{"node", JsonObject{{"code", code}}}}));
    }
    const store::Event raw = log->Events().back();
    EXPECT_TRUE(Find(*Find(raw.data, "node"), "code")->is_object());
    EXPECT_EQ(FindString(*Find(log->Whole(raw.data), "node"), "code"), code);
    const store::Event* event = log->Recorded("node.finished", "3f9a");
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(FindString(*Find(event->data, "node"), "code"), code);
  }
}

TEST_F(RunLogTest, ASecretIsGoneInThisProcessAsInTheNext) {  // Contract 2
  const std::string secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
  std::string first;
  {
    const auto log = Start();
    ASSERT_TRUE(log->Add("call.replied", "run/draft/a1/r1", {{"text", "key " + secret}}));
    first = ToJson(log->Recorded("call.replied", "run/draft/a1/r1")->data);
  }
  EXPECT_EQ(first.find(secret), std::string::npos);
  EXPECT_EQ(ToJson(Reopen()->Recorded("call.replied", "run/draft/a1/r1")->data), first);
}

TEST_F(RunLogTest, AKeyOfManyHexDigitsIsNotTakenForASecret) {
  const std::string key = "3f9a1c02d4e5f60718293a4b5c6d7e8f/draft/a1/r2";
  const auto log = Start();
  ASSERT_TRUE(log->Add("call.replied", key, {}));
  EXPECT_NE(log->Recorded("call.replied", key), nullptr);
}

TEST_F(RunLogTest, AViewSeesEachNewEventOnceItIsThere) {
  std::vector<std::string> seen;
  watch_ = [&](const store::Event& event) {
    seen.push_back(fmt::format("{} {}", event.seq, event.type));
  };
  ASSERT_TRUE(Start()->Add("probe.done", "", {}));
  ASSERT_TRUE(Reopen()->Add("run.resumed", "", {}));
  EXPECT_EQ(seen, (std::vector<std::string>{"1 run.started", "2 probe.done", "3 run.resumed"}));
}

TEST_F(RunLogTest, AFolderHoldsOneRun) {
  EXPECT_THAT(RunLog::Reopen(temp_.path(), nullptr, {}),
              FailsWith(ErrorCode::kNotFound, "no run in"));
  Start();
  EXPECT_THAT(RunLog::Start(temp_.path(), {}, nullptr, {}),
              FailsWith(ErrorCode::kInvalidArgument, "holds the run"));
}

}  // namespace
}  // namespace dossier::research
