// Deadlines, interrupts, memory and threads: blocks that do not end by themselves.

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "base/process/build_info.h"
#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::Contains;
using ::testing::HasSubstr;

class SessionLimitsTest : public SandboxTest {
 protected:
  static SessionSpec Short(Millis silence, Millis grace = Millis(2000)) {
    SessionSpec spec;
    spec.limits.silence = silence;
    spec.limits.grace = grace;
    return spec;
  }
  static BlockOptions Until(const BlockTimes& times) {
    return {.times = [times] { return times; }};
  }
};

TEST_F(SessionLimitsTest, EverythingOnTheStopListEndsInTime) {  // SBX-A3, SBX-42, SBX-43
  struct Case {
    std::string_view name, code;
    bool survives;
  };
  constexpr Case kCases[] = {
      {"loop", "while True: pass", true},
      {"catch all",
       "while True:\n    try:\n        while True: pass\n    except BaseException: pass", false},
      {"regex", "import re\nre.match('(a+)+$', 'a' * 40 + 'b')", true},
      {"sleep", "import time\ntime.sleep(100)", true},
      {"lock", "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()", true},
      {"power", "9**9**9", true},
      {"sum", "sum(range(10**11))", false},
      {"signals blocked",
       "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\nwhile True: pass",
       false},
      {"handler taken",
       "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
       "while True: pass",
       false},
  };
  for (const Case& c : kCases) {
    auto session = Open(Short(Millis(300)));
    ASSERT_TRUE(session);
    Run(*session, "kept = 41");
    const auto start = std::chrono::steady_clock::now();
    const BlockResult result = Run(*session, "before = 1\nprint('shown')\n" + std::string(c.code));
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took, Millis(2800 + 1500)) << c.name;  // the specification's 2.8 s and a busy machine
    EXPECT_EQ(result.out, "shown\n") << c.name;
    EXPECT_EQ(Output(*session, "print(kept + 1)"), "42\n") << c.name;
    if (!c.survives) continue;
    EXPECT_EQ(result.status, BlockStatus::kInterrupted) << c.name;
    EXPECT_THAT(result.notes, Contains(HasSubstr("Block stopped after 300 ms"))) << c.name;
    EXPECT_EQ(Output(*session, "print(before)"), "1\n") << c.name;
  }
}

// Signals reach the main thread alone; a query of another one ends by the interrupt, too, and the
// main thread does not wait for it unheard.
TEST_F(SessionLimitsTest, AnEndlessQueryOfAThreadIsStoppedAndTheVariablesAreKept) {  // REC-76
  SessionSpec spec = Short(Millis(300));
  auto session = Open(spec);
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler([](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) {
    reply->Ok(Json(JsonObject{{"tables", JsonArray()}}));
  });
  Run(*session,
      "import _dossier, threading, time\nkept = 41\n"
      "def ask():\n"
      "    _dossier.sql('WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) '\n"
      "                 'SELECT count(*) FROM n', [])\n");
  const BlockResult result = Run(*session,
                                 "thread = threading.Thread(target=ask)\nthread.start()\n"
                                 "while True: _dossier.sql('SELECT 1', [])");
  EXPECT_EQ(result.status, BlockStatus::kInterrupted) << result.death_reason;
  // By the interrupt or by the end of its block, whichever it sees first.
  EXPECT_EQ(Output(*session, "thread.join(5)\nprint(kept, thread.is_alive())"), "41 False\n");
}

// FLT-90. The clock of the test is the number of calls: one each 50 ms.
TEST_F(SessionLimitsTest, CallsThatAreAnsweredAtOnceDoNotMoveTheDeadline) {  // SBX-41
  auto session = Open(Short(Millis(400)));
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler(
      [](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) { reply->Ok("done"); });
  const BlockResult result = Run(*session,
                                 "import time, _dossier\nfor i in range(100):\n"
                                 "    time.sleep(0.05)\n    _dossier.call('count', {})");
  EXPECT_EQ(result.status, BlockStatus::kInterrupted);
  EXPECT_LT(handler_.calls, 9);
  EXPECT_THAT(result.stopped, HasSubstr("400 ms"));
}

TEST_F(SessionLimitsTest, ThreadsThatABlockLeavesDoNotRunUntilTheNext) {  // FLT-90
  auto session = Open(SessionSpec());
  ASSERT_TRUE(session);
  Run(*session,
      "import threading, time\ncount = 0\n"
      "def spin():\n    global count\n    while True: count += 1\n"
      "threading.Thread(target=spin, daemon=True).start()\ntime.sleep(0.05)");
  const auto get = [&] { return std::stoll(*session->Get("count", 100)); };
  EXPECT_EQ(Output(*session, "begun = time.process_time()\nprint(count > 0)"), "True\n");
  std::this_thread::sleep_for(Millis(1000));
  EXPECT_EQ(Output(*session, "print(time.process_time() - begun < 0.5)"), "True\n");
  EXPECT_GT(get(), 0);
  EXPECT_TRUE(session->Check("1"));
}

TEST_F(SessionLimitsTest, TheTimeOfOpenCallsDoesNotCount) {  // SBX-41, SBX-A5
  auto session = Open(Short(Millis(400)));
  ASSERT_TRUE(session);
  std::vector<std::thread> threads;
  handler_ = AnsweringHandler([&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) {
    threads.emplace_back([reply = std::move(reply)] {
      std::this_thread::sleep_for(Millis(600));  // longer than the silence limit: it is at rest
      reply->Ok("done");
    });
  });
  const BlockResult result = Run(*session,
                                 "import _dossier\nfor i in range(3): _dossier.call('llm', {})\n"
                                 "print('three')\nwhile True: pass");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(handler_.calls, 3);
  EXPECT_EQ(result.out, "three\n");
  EXPECT_EQ(result.status, BlockStatus::kInterrupted);
}

TEST_F(SessionLimitsTest, WhereIdlenessCountsABlockThatWorksIsAlive) {  // SBX-41
  SessionSpec spec = Short(Millis(300));
  spec.limits.counts = Limits::Counts::kIdle;
  auto session = Open(spec);
  ASSERT_TRUE(session);
  const BlockResult worked = Run(*session,
                                 "import time\nwhile time.process_time() < 1.2: pass\n"
                                 "print('done')");
  EXPECT_EQ(worked.status, BlockStatus::kOk);
  EXPECT_EQ(worked.out, "done\n");
  const BlockResult idle = Run(*session, "time.sleep(100)");
  EXPECT_EQ(idle.status, BlockStatus::kInterrupted);
  EXPECT_THAT(idle.stopped, HasSubstr("300 ms without work or a sub-call"));
  EXPECT_THAT(idle.stopped, HasSubstr("--cell-time"));
}

TEST_F(SessionLimitsTest, AThreadThatSpinsBehindAnOpenCallIsStoppedByItsCpu) {  // SBX-41, SBX-A5
  SessionSpec spec = Short(Millis(60'000));
  spec.limits.cpu = Millis(400);
  auto session = Open(spec);
  ASSERT_TRUE(session);
  std::shared_ptr<BridgeReply> open;
  handler_ = AnsweringHandler(
      [&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) { open = std::move(reply); });
  const BlockResult result = Run(*session,
                                 "import threading, _dossier\n"
                                 "def spin():\n    while True: pass\n"
                                 "threading.Thread(target=spin, daemon=True).start()\n"
                                 "_dossier.call('llm', {})");
  EXPECT_EQ(result.status, BlockStatus::kLimit);
  EXPECT_THAT(result.notes, Contains(HasSubstr("of CPU time")));
  ASSERT_TRUE(open);
  EXPECT_TRUE(open->cancel().cancelled());
  open->Ok("too late");  // dropped, SBX-47
  EXPECT_EQ(Output(*session,
                   "import time\ntime.sleep(0.2)\n"
                   "print(sum(t.name != 'MainThread' for t in threading.enumerate()))"),
            "0\n");
}

TEST_F(SessionLimitsTest, AnInterruptFromAnotherThreadEndsTheBlock) {
  auto session = Open();
  ASSERT_TRUE(session);
  std::thread other;
  handler_ = AnsweringHandler([&](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) {
    reply->Ok(nullptr);
    other = std::thread([&] { session->Interrupt(InterruptReason::kUser); });
  });
  const BlockResult result =
      Run(*session, "import _dossier\nx = 1\n_dossier.call('llm', {})\nwhile True: pass");
  other.join();
  EXPECT_EQ(result.status, BlockStatus::kInterrupted);
  EXPECT_EQ(Output(*session, "print(x)"), "1\n");
}

TEST_F(SessionLimitsTest, AnInterruptEndsACallThatWaits) {  // SBX-42
  auto session = Open();
  ASSERT_TRUE(session);
  std::shared_ptr<BridgeReply> open;
  handler_ = AnsweringHandler([&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) {
    open = std::move(reply);
    session->Interrupt(InterruptReason::kUser);
  });
  const BlockResult result = Run(*session, "import _dossier\n_dossier.call('llm', {})");
  EXPECT_EQ(result.status, BlockStatus::kInterrupted);
  EXPECT_TRUE(open->cancel().cancelled());
}

TEST_F(SessionLimitsTest, TheRunsDeadlineAndItsCancellationBeatTheBlocksLimits) {  // SBX-41
  auto session = Open();
  ASSERT_TRUE(session);
  const BlockResult late = Run(*session, "while True: pass",
                               Until({.deadline = std::chrono::steady_clock::now() + Millis(100)}));
  EXPECT_EQ(late.status, BlockStatus::kLimit);
  CancelSource cancel;
  std::thread other([&] {
    std::this_thread::sleep_for(Millis(50));
    cancel.Cancel("interrupted");
  });
  BlockOptions options;
  options.cancel = cancel.token();
  const BlockResult stopped =
      Run(*session, "answer['content'] = 'perhaps'\nwhile True: pass", options);
  other.join();
  EXPECT_EQ(stopped.status, BlockStatus::kInterrupted);
  EXPECT_EQ(stopped.draft, "perhaps");
  EXPECT_THAT(session->Run("1", options, handler_),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
  EXPECT_EQ(Output(*session, "print(1)"), "1\n");
}

TEST_F(SessionLimitsTest, AStubbornBlockThatIsCancelledLeavesTheSession) {  // SBX-46
  auto session = Open();
  ASSERT_TRUE(session);
  Run(*session, "import time\nkept = 7");
  CancelSource cancel;
  std::thread other;
  handler_ = AnsweringHandler([&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) {
    reply->Ok("done");
    other = std::thread([&] { cancel.Cancel("interrupted"); });
  });
  BlockOptions options;
  options.cancel = cancel.token();
  EXPECT_THAT(session->Run("import _dossier\ntold = []\nwhile True:\n    try:\n"
                           "        if not told:\n            told.append(1)\n"
                           "            _dossier.call('llm', {})\n        time.sleep(9)\n"
                           "    except BaseException: pass",
                           options, handler_),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
  other.join();
  EXPECT_EQ(Output(*session, "print(kept)"), "7\n");
}

// A run that goes on where it was killed has no time as long as what it does is recorded.
TEST_F(SessionLimitsTest, ATimeThatBeginsInTheMiddleOfABlockHolds) {  // REC-61
  auto session = Open();
  ASSERT_TRUE(session);
  BlockTimes times;
  handler_ = AnsweringHandler([&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) {
    times.deadline = std::chrono::steady_clock::now() + Millis(100);
    reply->Ok("done");
  });
  const BlockResult late =
      Run(*session, "import _dossier\n_dossier.call('llm', {})\nwhile True: pass",
          {.times = [&times] { return times; }});
  EXPECT_EQ(late.status, BlockStatus::kLimit);
  EXPECT_LT(late.wall, Millis(30'000));
}

TEST_F(SessionLimitsTest, TheEndOfTheRunLeavesNoFullGrace) {  // SBX-42, REC-A17
  auto session = Open(Short(Millis(60'000), /*grace=*/Millis(60'000)));
  ASSERT_TRUE(session);
  Run(*session, "import time\nkept = 7");
  const auto start = std::chrono::steady_clock::now();
  const BlockOptions options =
      Until({.deadline = start + Millis(1'000), .end = start + Millis(5'000)});
  const BlockResult killed =
      Run(*session, "while True:\n    try: time.sleep(9)\n    except BaseException: pass", options);
  EXPECT_EQ(killed.status, BlockStatus::kDied);
  EXPECT_THAT(killed.death_reason, HasSubstr("did not stop within"));
  EXPECT_LT(killed.wall, Millis(30'000));
  EXPECT_THAT(killed.names_kept, Contains("kept"));
  EXPECT_EQ(Output(*session, "print(kept)"), "7\n");
}

TEST_F(SessionLimitsTest, WhatTakesLongIsNotRunAgainBehindTheEndOfTheRun) {  // SBX-46, REC-A17
  auto session = Open();
  ASSERT_TRUE(session);
  Run(*session, "import time\nwait = time.sleep\nwait(2)\nlast = 8");
  const auto start = std::chrono::steady_clock::now();
  const BlockOptions options =
      Until({.deadline = start + Millis(1'000), .end = start + Millis(1'800)});
  const BlockResult killed =
      Run(*session, "while True:\n    try: time.sleep(9)\n    except BaseException: pass", options);
  EXPECT_EQ(killed.status, BlockStatus::kDied);
  EXPECT_THAT(killed.names_lost, Contains("last"));
}

TEST_F(SessionLimitsTest, CloseFromAnotherThreadEndsTheBlock) {
  auto session = Open();
  ASSERT_TRUE(session);
  std::thread other;
  std::shared_ptr<BridgeReply> open;  // kept, so that the code waits
  handler_ = AnsweringHandler([&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) {
    open = std::move(reply);
    other = std::thread([&] { session->Close(); });
  });
  EXPECT_THAT(
      session->Run("import _dossier\n_dossier.call('llm', {})\nwhile True: pass", {}, handler_),
      FailsWith(ErrorCode::kCancelled, "closed"));
  other.join();
  EXPECT_FALSE(session->Run("1", {}, handler_));
}

TEST_F(SessionLimitsTest, AMemoryBombIsAMemoryErrorAndTheSessionLives) {  // SBX-45, SBX-E11
  if (kThisBuild == Instrumentation::kSanitizer) GTEST_SKIP() << "no limit under a sanitizer";
  SessionSpec spec;
  spec.limits.memory = 128u << 20;
  auto session = Open(spec);
  ASSERT_TRUE(session);
  const BlockResult result =
      Run(*session, "kept = 1\nx = ['a' * 2**20 + str(i) for i in range(2000)]");
  ASSERT_TRUE(result.error) << BlockStatusName(result.status) << result.death_reason;
  EXPECT_EQ(result.error->type, "MemoryError");
  EXPECT_EQ(Output(*session, "print(kept)"), "1\n");
}

TEST_F(SessionLimitsTest, AThreadBombEndsInTheBlockOnly) {  // SBX-E11
  auto session = Open();
  ASSERT_TRUE(session);
  Run(*session, "kept = 1");
  Run(*session,
      "import threading, time\n"
      "for i in range(1000): threading.Thread(target=time.sleep, args=(100,), "
      "daemon=True).start()");
  EXPECT_EQ(Output(*session, "print(kept)"), "1\n");
}

}  // namespace
}  // namespace dossier::sandbox
