#include "agents/task/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "agents/task/log_line.h"
#include "base/random.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class RunLogTest : public ::testing::Test {
 protected:
  RunLogPlaces Places() const {
    return {.runs_folder = ground_.path() + "/runs",
            .journal_folder = ground_.path() + "/journal",
            .clock = SystemClock(),
            .secrets = SecretValues({std::pair<std::string, std::string>{"KEY", "open sesame"}})};
  }

  const TempFolder ground_ = *TempFolder::Make();
};

TEST_F(RunLogTest, LinesHaveTheFormOfTheSpecification) {  // REP-50
  auto log = AgentLog::Start(Places(), {{"tasks", 2}});
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE((*log)->Add("task.claimed", "fact-001", {{"attempt", 1}}));
  EXPECT_THAT((*log)->run(), MatchesRegex("run-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}"));
  const std::string text = *ReadFile((*log)->path());
  const auto lines = Split(text, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(std::string(lines[1]),
              MatchesRegex(R"(\{"v":1,"run":"run-[^"]*","seq":2,"time":"20[0-9T:.-]*Z",)"
                           R"("event":"task.claimed","task-id":"fact-001","attempt":1\})"));
}

TEST_F(RunLogTest, TheFileIsTheJournalByteForByteWhateverItHolds) {  // REP-50
  std::string run, path;
  {
    auto log = AgentLog::Start(Places(), {{"question", "x"}});
    ASSERT_TRUE(log);
    Random random(/*seed=*/50);
    for (int i = 0; i < 60; ++i) {
      JsonObject data{{"text", random.Utf8(/*max_bytes=*/6000)},
                      {"seconds", random.Unit() * 1000},
                      {"number", static_cast<std::int64_t>(random.Next())},
                      {"bytes", random.Bytes(20)},
                      {"list", JsonArray{nullptr, true, 1.5, "\x7f"}}};
      ASSERT_TRUE((*log)->Add("warning", random.Utf8(/*max_bytes=*/12), std::move(data)));
    }
    run = (*log)->run();
    path = (*log)->path();
  }
  auto journal = store::Journal::Open(Places().journal_folder);
  ASSERT_TRUE(journal);
  const std::string before = *ReadFile(path);
  const auto rewritten = RepairLog(**journal, run, path);
  ASSERT_TRUE(rewritten) << rewritten.error().message;
  EXPECT_FALSE(*rewritten);
  EXPECT_TRUE(*ReadFile(path) == before);
}

TEST_F(RunLogTest, ATornLineOrALostFileComesBack) {  // REP-50, A30
  std::string run, path;
  {
    auto log = AgentLog::Start(Places(), {});
    ASSERT_TRUE(log);
    ASSERT_TRUE((*log)->Add("task.claimed", "a", {}));
    run = (*log)->run();
    path = (*log)->path();
  }
  const std::string whole = *ReadFile(path);
  for (const std::string& damaged :
       {whole.substr(0, whole.size() - 9), std::string(), std::string("garbage\n")}) {
    if (damaged.empty()) {
      ASSERT_TRUE(RemoveAll(path));
    } else {
      ASSERT_TRUE(WriteFileAtomic(path, damaged));
    }
    std::vector<store::Event> events;
    auto again = AgentLog::Reopen(Places(), run, &events);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*ReadFile(path), whole);
    EXPECT_EQ(events.size(), 2u);
  }
  std::vector<store::Event> events;
  auto again = AgentLog::Reopen(Places(), run, &events);
  ASSERT_TRUE((*again)->Add("run.resumed", "", {}));
  EXPECT_THAT(*ReadFile(path), HasSubstr("\"seq\":3"));
  EXPECT_THAT(AgentLog::Reopen(Places(), "run-none", &events), FailsWith(ErrorCode::kNotFound, ""));
}

TEST_F(RunLogTest, SecretsAreInNoLine) {  // REP-35, A31
  auto log = AgentLog::Start(Places(), {{"question", "say open sesame"}});
  ASSERT_TRUE(log);
  ASSERT_TRUE(
      (*log)->Add("warning", "t", {{"deep", JsonObject{{"x", JsonArray{"open sesame!"}}}}}));
  EXPECT_THAT(*ReadFile((*log)->path()), Not(HasSubstr("open sesame")));
  EXPECT_THAT(*ReadFile((*log)->path()), HasSubstr("[redacted:KEY]!"));
}

TEST_F(RunLogTest, ManyThreadsGiveOneOrderWithoutGaps) {  // REP-50
  auto log = AgentLog::Start(Places(), {});
  ASSERT_TRUE(log);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) EXPECT_TRUE((*log)->Add("warning", "t", {}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::int64_t seq = 0;
  const std::string text = *ReadFile((*log)->path());
  for (const std::string_view line : Split(TrimSpace(text), '\n')) {
    EXPECT_EQ(ParseLogLine(line)->seq, ++seq);
  }
  EXPECT_EQ(seq, 101);
}

TEST(LogLineTest, ReadsLinesOfEveryOrigin) {  // REP-50, A30
  struct Case {
    std::string_view line, event;  // "": not a log line
  };
  constexpr Case kCases[] = {
      {R"({"v":1,"run":"r","seq":1,"time":"t","event":"run.started"})", "run.started"},
      {R"({"task-id":"a","status":"merged","timestamp":1})", "task.finished"},
      {R"({"task-id":"a"})", ""},
      {R"({"v":1,"event":)", ""},
      {"[1]", ""},
      {"", ""},
  };
  for (const Case& c : kCases) {
    const auto parsed = ParseLogLine(c.line);
    EXPECT_EQ(parsed ? parsed->event : "", c.event) << c.line;
  }
}

}  // namespace
}  // namespace dossier::agents
