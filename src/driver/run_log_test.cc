#include "driver/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::driver {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RunLogTest : public ::testing::Test {
 protected:
  RunLogSetting Setting() {
    return {.journal = journal_, .watch = [this](const store::Event& event) {
              seen_.push_back(event);
              return Status();
            }};
  }
  std::vector<std::string> Types() const {
    std::vector<std::string> types;
    for (const store::Event& event : seen_) types.push_back(event.type);
    return types;
  }

  TempFolder folder_ = *TempFolder::Make("run-log");
  std::shared_ptr<store::Journal> journal_ = *store::Journal::Open(folder_.path() + "/runs");
  std::vector<store::Event> seen_;
};

TEST_F(RunLogTest, JournalAndWatchHaveTheSameEventsInTheSameOrder) {
  RunLog log(Setting());
  ASSERT_THAT(log.Start({{"question", "why?"}}), Succeeds());
  ASSERT_THAT(log.Add("turn.started", {{"turn", 1}}, /*call=*/2), Succeeds());
  const auto events = journal_->Events(log.run());
  ASSERT_THAT(events, Succeeds());
  ASSERT_EQ(events->size(), seen_.size());
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    EXPECT_EQ((*events)[i].run, seen_[i].run);
    EXPECT_EQ((*events)[i].seq, seen_[i].seq);
    EXPECT_EQ((*events)[i].call, seen_[i].call);
    EXPECT_EQ((*events)[i].type, seen_[i].type);
    EXPECT_EQ(ToJson((*events)[i].data), ToJson(seen_[i].data));
  }
}

TEST_F(RunLogTest, ARunGoesOnWhereItWas) {
  RunLog first(Setting());
  ASSERT_THAT(first.Start({}), Succeeds());
  RunLog again(Setting());
  again.Resume(first.run(), 1);
  ASSERT_THAT(again.Add("run.resumed", {}), Succeeds());
  EXPECT_EQ(seen_.back().run, first.run());
  EXPECT_EQ(seen_.back().seq, 2);
}

TEST_F(RunLogTest, AJournalThatFailsIsToldOfAndTheWatchGoesOn) {
  RunLog log(Setting());
  log.Resume("no-such-run");
  EXPECT_THAT(log.Add("turn.started", {}), Succeeds());
  EXPECT_THAT(log.Add("turn.started", {}), Succeeds());
  EXPECT_THAT(Types(), ElementsAre("turn.started", "turn.started"));
  ASSERT_TRUE(log.failure());
  EXPECT_EQ(log.failure()->code, ErrorCode::kNotFound);
}

TEST_F(RunLogTest, ARunThatLivesByItsJournalEndsWithIt) {
  RunLogSetting setting = Setting();
  setting.failure = RunLogSetting::Failure::kEnds;
  RunLog log(std::move(setting));
  log.Resume("no-such-run");
  EXPECT_THAT(log.Add("turn.started", {}), FailsWith(ErrorCode::kNotFound, ""));
  EXPECT_TRUE(seen_.empty()) << "nobody sees what is not recorded";
}

TEST_F(RunLogTest, AWatchThatFailsFailsTheEvent) {
  RunLog log({.journal = journal_, .watch = [](const store::Event&) -> Status {
                return MakeError(ErrorCode::kIo, "the log file is full");
              }});
  EXPECT_THAT(log.Start({}), FailsWith(ErrorCode::kIo, "the log file is full"));
}

TEST_F(RunLogTest, TheWatchMaySeeWhatTheJournalKeeps) {
  RunLogSetting setting = Setting();
  setting.seen = RunLogSetting::Seen::kAsKept;
  RunLog log(std::move(setting));
  const std::string secret =
      "sk-x8Kq2LwZ9vT"
      "n4RbY7cMd1eQ5";
  const std::string text(store::Journal::kInlineLimit + 1, 'x');
  ASSERT_THAT(log.Start({{"argv", "KEY " + secret}, {"text", text}}), Succeeds());
  EXPECT_THAT(ToJson(seen_[0].data), Not(HasSubstr(secret)));
  EXPECT_EQ(FindInt(*Find(seen_[0].data, "text"), "bytes"), text.size());
}

TEST_F(RunLogTest, ABodyIsStoredOrItsStartOrItsHash) {
  const std::string text(store::Journal::kInlineLimit + 1, 'x');
  RunLog kept(Setting()), nowhere({}),
      left_out({.journal = journal_, .bodies = RunLogSetting::Bodies::kLeftOut});
  EXPECT_EQ(journal_->ReadBody(kept.Body(text)), text);
  EXPECT_EQ(FindString(nowhere.Body(text), "text")->size(), store::Journal::kInlineLimit);
  EXPECT_EQ(FindBool(left_out.Body("short"), "left_out"), true);
  EXPECT_FALSE(FindString(left_out.Body("short"), "text"));
}

TEST_F(RunLogTest, WithoutAJournalTheWatchStillSees) {
  RunLogSetting setting = Setting();
  setting.journal = nullptr;
  RunLog log(std::move(setting));
  ASSERT_THAT(log.Start({}), Succeeds());
  ASSERT_THAT(log.Add("turn.started", {}), Succeeds());
  EXPECT_THAT(Types(), ElementsAre("run.started", "turn.started"));
  EXPECT_EQ(log.run(), "");
  EXPECT_FALSE(log.failure());
}

}  // namespace
}  // namespace dossier::driver
