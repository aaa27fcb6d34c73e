// Workers that die, and their replacements.

#include <gtest/gtest.h>

#include "base/process/build_info.h"
#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionReplayTest : public SandboxTest {};

TEST_F(SessionReplayTest, ADeadWorkerIsReplacedAndItsBlocksRunAgain) {  // SBX-46, SBX-A4
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ =
      AnsweringHandler([](const BridgeCall& call, const std::shared_ptr<BridgeReply>& reply) {
        reply->Ok(JsonObject{{"n", 7}}, call.raw + "!");
      });
  Output(*session, "a = 1\nprint('once')");
  Output(*session, "import _dossier\nb, raw = _dossier.call('llm', {'q': 1}, b'text')");
  Output(*session, "def c(): return a + b['n']");
  const BlockResult dead = Run(*session,
                               "lost = 5\nprint('last words', flush=True)\n"
                               "import time; time.sleep(0.2)\nimport os\nos._exit(1)");
  EXPECT_EQ(dead.status, BlockStatus::kDied);
  EXPECT_THAT(dead.death_reason, HasSubstr("status 1"));
  EXPECT_THAT(dead.names_kept, Contains("a"));
  EXPECT_THAT(dead.names_kept, Contains("c"));
  EXPECT_THAT(dead.names_lost, Contains("lost"));
  EXPECT_EQ(dead.out, "last words\n");
  EXPECT_EQ(handler_.calls, 1);  // the replay was answered from the record
  EXPECT_EQ(Output(*session, "print(a, b['n'], raw, c())"), "1 7 b'text!' 8\n");
}

TEST_F(SessionReplayTest, AReplyThatWasTooLargeToKeepEndsTheReplayOfItsBlock) {  // FLT-85, SBX-46
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ =
      AnsweringHandler([](const BridgeCall& call, const std::shared_ptr<BridgeReply>& reply) {
        reply->Ok(nullptr, std::string(call.method == "grep" ? 129u << 20 : 10u, 'x'));
      });
  Output(*session,
         "import _dossier\nbefore = len(_dossier.call('llm', {})[1])\n"
         "large = len(_dossier.call('grep', {})[1])\nafter = len(_dossier.call('llm', {})[1])");
  Output(*session, "later = len(_dossier.call('llm', {})[1])");
  const BlockResult dead = Run(*session, "import os\nos._exit(1)");
  EXPECT_EQ(dead.status, BlockStatus::kDied);
  EXPECT_THAT(dead.names_kept, Contains("before"));
  EXPECT_THAT(dead.names_kept, Contains("later"));
  EXPECT_THAT(dead.names_lost, ::testing::AllOf(Contains("large"), Contains("after")));
  EXPECT_EQ(handler_.calls, 4);  // none is asked twice
}

TEST_F(SessionReplayTest, TheThirdDeathEndsTheSession) {  // SBX-46
  auto session = Open();
  ASSERT_TRUE(session);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Run(*session, "import os\nos._exit(3)").status, BlockStatus::kDied);
  }
  EXPECT_THAT(session->Run("import os\nos._exit(3)", {}, handler_),
              FailsWith(ErrorCode::kDied, "status 3"));
  EXPECT_THAT(session->Run("1", {}, handler_), FailsWith(ErrorCode::kDied, "died"));
}

TEST_F(SessionReplayTest, AnInterruptedBlockIsPartOfTheReplay) {  // SBX-46
  SessionSpec spec;
  spec.limits.silence = Millis(200);
  auto session = Open(spec);
  ASSERT_TRUE(session);
  EXPECT_EQ(Run(*session, "early = 1\nwhile True: pass").status, BlockStatus::kInterrupted);
  EXPECT_EQ(Run(*session, "import os\nos._exit(1)").status, BlockStatus::kDied);
  EXPECT_EQ(Output(*session, "print(early)"), "1\n");
}

TEST_F(SessionReplayTest, EachWayToDieIsNamed) {  // SBX-46
  struct Case {
    std::string_view code, reason;
  };
  constexpr Case kCases[] = {
      {"import os\nos._exit(3)", "status 3"},
      {"import os\nos.abort()", "signal"},
      {"sum(range(10**12))", "did not stop within 100 ms"},
  };
  for (const Case& c : kCases) {
    // A sanitizer makes a report and status 1 of a signal.
    if (kThisBuild == Instrumentation::kSanitizer && c.reason == "signal") continue;
    SessionSpec spec;
    spec.limits.silence = Millis(200);
    spec.limits.grace = Millis(100);
    auto session = Open(spec);
    ASSERT_TRUE(session);
    const BlockResult dead = Run(*session, c.code);
    EXPECT_EQ(dead.status, BlockStatus::kDied) << c.code;
    EXPECT_THAT(dead.death_reason, HasSubstr(std::string(c.reason)));
    EXPECT_EQ(Output(*session, "print(1)"), "1\n");
  }
}

TEST_F(SessionReplayTest, TheSameSeedGivesTheSameOutput) {  // SBX-48, SBX-A13
  constexpr char kCode[] =
      "import random\n"
      "print(random.random(), random.sample(range(1000), 5))\n"
      "print({'alpha', 'beta', 'gamma', 'delta'}, hash('x'))";
  std::string first;
  for (int i = 0; i < 2; ++i) {
    auto session = Open({.seed = 7});
    ASSERT_TRUE(session);
    const std::string out = Output(*session, kCode);
    if (i == 0) first = out;
    EXPECT_EQ(out, first);
  }
  auto other = Open({.seed = 8});
  ASSERT_TRUE(other);
  EXPECT_NE(Output(*other, kCode), first);
}

}  // namespace
}  // namespace dossier::sandbox
