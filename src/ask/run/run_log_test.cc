#include "ask/run/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;

class Watcher final : public EventSink {
 public:
  void OnEvent(const store::Event& event) override { types.push_back(event.type); }
  std::vector<std::string> types;
};

// A journal on a disk that is full from the `fails_after`-th event on.
class FullJournal final : public store::Journal {
 public:
  explicit FullJournal(int fails_after) : left_(fails_after) {}
  Result<std::string> StartRun(JsonObject) override {
    if (left_-- <= 0) return MakeError(ErrorCode::kIo, "journal.db: 4,096 bytes missing");
    return std::string("run-1");
  }
  Result<std::string> AddRun(std::span<const store::Event>) override {
    return MakeError(ErrorCode::kIo, "journal.db: 4,096 bytes missing");
  }
  Status Append(std::string_view, std::int64_t, std::string_view, JsonObject) override {
    ++appended;
    if (left_-- <= 0) return MakeError(ErrorCode::kIo, "journal.db: 4,096 bytes missing");
    return {};
  }
  Result<Json> Body(std::string_view text) override { return Json(JsonObject{{"text", text}}); }
  Result<std::string> ReadBody(const Json&) override { return std::string(); }
  Result<std::vector<store::RunSummary>> List(std::optional<std::string>, std::size_t) override {
    return std::vector<store::RunSummary>();
  }
  Status ForEachRun(std::optional<std::string>, const SeeRun&) override { return {}; }
  Result<std::string> StatusOf(std::string_view) override { return std::string("running"); }
  Result<std::string> Resolve(std::string_view run) override { return std::string(run); }
  Result<std::vector<store::Event>> Events(std::string_view) override {
    return std::vector<store::Event>();
  }
  Status ForEachEvent(std::string_view, const SeeEvent&) override { return {}; }
  Result<store::Event> EventAt(std::string_view, std::int64_t) override { return store::Event(); }
  Result<std::vector<std::string>> RunsStartedWith(
      const std::map<std::string, std::string>&) override {
    return std::vector<std::string>();
  }
  Result<std::size_t> EraseTexts(std::span<const std::string>) override { return std::size_t{0}; }
  store::ContentStore& content() override { std::abort(); }

  int appended = 0;

 private:
  int left_;
};

TEST(RunLogTest, AFullJournalIsOneWarningAndTheEventsGoOn) {  // REC-60, section 6
  for (const int fails_after : {0, 1, 2}) {
    const auto journal = std::make_shared<FullJournal>(fails_after);
    Watcher watcher;
    AskLog log(journal, watcher, SystemClock());
    log.Start({{"question", "Why?"}});
    log.Add(0, "turn.started", {{"turn", 1}});
    log.Add(0, "turn.started", {{"turn", 2}});
    log.Add(0, "run.finished", {});
    EXPECT_THAT(watcher.types,
                ElementsAre("run.started", "turn.started", "turn.started", "run.finished"));
    ASSERT_EQ(log.warnings().size(), 1u) << fails_after;
    EXPECT_EQ(log.warnings()[0].code, "journal_failed");
    EXPECT_EQ(journal->appended, std::max(0, fails_after)) << "it is not tried again";
  }
}

TEST(RunLogTest, WithoutAJournalABodyKeepsItsStart) {
  Watcher watcher;
  AskLog log(nullptr, watcher, SystemClock());
  log.Start({});
  const std::string text(10'000, 'x');
  const Json body = log.Body(text);
  EXPECT_EQ(FindString(body, "text")->size(), store::Journal::kInlineLimit);
  EXPECT_EQ(FindInt(body, "bytes"), 10'000);
  EXPECT_EQ(log.run(), "");
}

TEST(RunLogTest, AMessageIsToldOnceAndNamedAfterThat) {  // REC-68
  Watcher watcher;
  AskLog log(nullptr, watcher, SystemClock());
  log.Start({});
  assembly::Messages messages;
  messages.system.push_back({.text = "rules"});
  messages.turns.push_back({assembly::Role::kUser, {{.text = "why?"}}});
  EXPECT_EQ(ToJson(log.Messages(messages)),
            R"([{"n":1,"role":"system","body":{"text":"rules","bytes":5}},)"
            R"({"n":2,"role":"user","body":{"text":"why?","bytes":4}}])");
  messages.turns.push_back({assembly::Role::kAssistant, {{.text = "why?"}}});
  EXPECT_EQ(ToJson(log.Messages(messages)),
            R"([1,2,{"n":3,"role":"assistant","body":{"text":"why?","bytes":4}}])");
  EXPECT_EQ(ToJson(log.Messages(messages)), "[1,2,3]");
}

TEST(RunLogTest, WhatNeverLeftTellsNoMessage) {  // REC-55, REC-68
  Watcher watcher;
  AskLog log(nullptr, watcher, SystemClock());
  log.Start({});
  assembly::Messages messages;
  messages.turns.push_back({assembly::Role::kUser, {{.text = "sent"}}});
  log.Messages(messages);
  messages.turns.push_back({assembly::Role::kAssistant, {{.text = "not sent"}}});
  EXPECT_EQ(ToJson(log.Unsent(messages)),
            R"([1,{"role":"assistant","body":{"text":"not sent","bytes":8}}])");
  EXPECT_EQ(ToJson(log.Messages(messages)),
            R"([1,{"n":2,"role":"assistant","body":{"text":"not sent","bytes":8}}])");
  EXPECT_EQ(ToJson(log.Unsent(messages)), "[1,2]");
}

TEST(RunLogTest, AWarningIsAnEventAndIsKept) {
  Watcher watcher;
  AskLog log(nullptr, watcher, SystemClock());
  log.Warn(0, "stalled");
  EXPECT_THAT(watcher.types, ElementsAre("warning"));
  EXPECT_EQ(log.warnings()[0].code, "stalled");
}

}  // namespace
}  // namespace dossier::ask
