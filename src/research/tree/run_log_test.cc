#include "research/tree/run_log.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

class RunLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<ResearchLog> Start() {
    auto log = ResearchLog::Start(temp_.path(), {{"idea", "Sorting"}}, SystemClock(), watch_);
    EXPECT_TRUE(log) << log.error().message;
    return *std::move(log);
  }
  std::unique_ptr<ResearchLog> Reopen() {
    auto log = ResearchLog::Reopen(temp_.path(), SystemClock(), watch_);
    EXPECT_TRUE(log) << log.error().message;
    return *std::move(log);
  }

  // Returns the data of an event that must exist.
  static Json DataOf(const ResearchLog& log, std::string_view type, std::string_view key) {
    const auto event = log.Recorded(type, key);
    EXPECT_TRUE(event && *event) << type << " " << key;
    return event && *event ? Json((*event)->data) : Json(JsonObject());
  }

  TempFolder temp_ = *TempFolder::Make("run_log");
  ResearchLog::Watch watch_;
};

TEST_F(RunLogTest, WhatWasAddedIsRecordedAlsoAfterReopening) {  // RSP-47
  {
    const auto log = Start();
    ASSERT_TRUE(log->Add("phase1.step", "3f9a/3", {{"exit", 0}}));
    ASSERT_TRUE(log->Add("phase1.step", "3f9a/3", {{"exit", 1}}));
    EXPECT_EQ(FindInt(DataOf(*log, "phase1.step", "3f9a/3"), "exit"), 0);
  }
  const auto log = Reopen();
  EXPECT_EQ(FindInt(DataOf(*log, "phase1.step", "3f9a/3"), "exit"), 0);
  EXPECT_TRUE(log->Has("phase1.step", "3f9a/3"));
  for (const auto& [type, key] :
       {std::pair("phase1.step", "3f9a/4"), std::pair("node.created", "3f9a/3")}) {
    EXPECT_FALSE(log->Has(type, key));
    EXPECT_EQ(log->Recorded(type, key).value(), std::nullopt);
  }
}

TEST_F(RunLogTest, AKeyIsReadFromTheEndOfAnEvent) {
  EXPECT_EQ(KeyOf(R"({"exit":0,"place":"3f9a/3"})"), "3f9a/3");
  EXPECT_EQ(KeyOf(R"({"place":"a \"b\" \\ ü"})"), R"(a "b" \ ü)");
  EXPECT_EQ(KeyOf(R"({"exit":0})"), "");
  EXPECT_EQ(KeyOf(R"({"text":"\"place\":\"x"})"), "");
  EXPECT_EQ(KeyOf(R"({"node":{"place":"x"}})"), "");
  EXPECT_EQ(KeyOf(""), "");
}

TEST_F(RunLogTest, EventsOfATypeComeInTheirOrder) {
  const auto log = Start();
  for (const int step : {1, 2, 3}) {
    ASSERT_TRUE(log->Add(step == 2 ? "warning" : "phase1.step", "", {{"step", step}}));
  }
  const auto events = log->EventsOf("phase1.step").value();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].seq, 4);
  EXPECT_EQ(FindInt(Json(events[1].data), "step"), 3);
}

TEST_F(RunLogTest, ALongTextComesBackWholeAndLeavesTheEventsShort) {
  const std::string code(10'000, 'x');
  for (const bool reopened : {false, true}) {
    const auto log = reopened ? Reopen() : Start();
    if (!reopened) {
      ASSERT_TRUE(log->Add("node.finished", "3f9a", {{"node", JsonObject{{"code", code}}}}));
    }
    const store::Event raw = log->Events().value().back();
    EXPECT_TRUE(Find(*Find(raw.data, "node"), "code")->is_object());
    EXPECT_EQ(FindString(*Find(log->Whole(raw.data), "node"), "code"), code);
    EXPECT_EQ(FindString(*Find(DataOf(*log, "node.finished", "3f9a"), "node"), "code"), code);
  }
}

TEST_F(RunLogTest, ASecretIsGoneInThisProcessAsInTheNext) {  // Contract 2
  const std::string secret =
      "sk-x8Kq2LwZ9vT"
      "n4RbY7cMd1eQ5";
  std::string first;
  {
    const auto log = Start();
    ASSERT_TRUE(log->Add("call.replied", "run/draft/a1/r1", {{"text", "key " + secret}}));
    first = ToJson(DataOf(*log, "call.replied", "run/draft/a1/r1"));
  }
  EXPECT_EQ(first.find(secret), std::string::npos);
  EXPECT_EQ(ToJson(DataOf(*Reopen(), "call.replied", "run/draft/a1/r1")), first);
}

TEST_F(RunLogTest, AKeyOfManyHexDigitsIsNotTakenForASecret) {
  const std::string key = "3f9a1c02d4e5f60718293a4b5c6d7e8f/draft/a1/r2";
  const auto log = Start();
  ASSERT_TRUE(log->Add("call.replied", key, {}));
  EXPECT_TRUE(log->Has("call.replied", key));
  EXPECT_TRUE(Reopen()->Has("call.replied", key));
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
  EXPECT_THAT(ResearchLog::Reopen(temp_.path(), nullptr, {}),
              FailsWith(ErrorCode::kNotFound, "no run in"));
  Start();
  EXPECT_THAT(ResearchLog::Start(temp_.path(), {}, nullptr, {}),
              FailsWith(ErrorCode::kInvalidArgument, "holds the run"));
}

}  // namespace
}  // namespace dossier::research
