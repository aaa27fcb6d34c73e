// Many sessions of one pool, and what is left of them.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <thread>

#include "base/files/locations.h"
#include "base/text/text.h"
#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::testing::HasSubstr;

class PoolTest : public SandboxTest {
 protected:
  void SetUp() override {
    if (!pool_) SetUpTestSuite();
  }
};

TEST_F(PoolTest, SessionsOfOneZygoteDoNotSeeEachOther) {  // SBX-A12, SBX-E11
  auto one = Open();
  auto two = Open();
  ASSERT_TRUE(one && two);
  Run(*one,
      "import json, os\njson.dumps = None\nos.environ['MARK'] = '1'\nmine = 1\n"
      "import builtins\nbuiltins.extra = 1");
  Run(*one, "try:\n    open('/tmp/mark', 'w').write('1')\nexcept OSError: pass");
  EXPECT_EQ(Output(*two,
                   "import json, os, builtins\n"
                   "print(json.dumps(1), 'MARK' in os.environ, 'mine' in globals(), "
                   "hasattr(builtins, 'extra'), os.path.exists('/tmp/mark'))"),
            "1 False False False False\n");
}

// In a first session, before the zygote has imported them: it does that while it is idle.
TEST_F(PoolTest, EveryPreloadedModuleCanBeImportedInTheSandbox) {  // SBX-2, SBX-23, SBX-56
  auto pool = MakePool();
  ASSERT_TRUE(pool);
  auto session = (*pool)->Open({});
  ASSERT_TRUE(session) << session.error().message;
  std::string code = "import importlib\n";
  int modules = 0;
  for (std::string_view line : Split(*BuiltInAsset("workers/python/preload.txt"), '\n')) {
    if (line.empty() || line.front() == '#') continue;
    // The mark of an extension module, which is imported by what needs it.
    if (line.front() == '+') line.remove_prefix(1);
    code += fmt::format("importlib.import_module('{}')\n", line);
    ++modules;
  }
  EXPECT_GT(modules, 100);
  code +=
      "import hashlib, sqlite3\n"
      "print(hashlib.pbkdf2_hmac('sha256', b'a', b'b', 1).hex()[:4], "
      "sqlite3.connect(':memory:').execute('select 6 * 7').fetchone()[0])";
  EXPECT_EQ(Output(**session, code), "ee21 42\n");
}

TEST_F(PoolTest, AfterPrepareSessionsAreAsSeparateAsEver) {  // SBX-3, SBX-A12
  auto pool = MakePool();
  ASSERT_TRUE(pool);
  (*pool)->Prepare();
  (*pool)->Prepare();
  for (int i = 0; i < 4; ++i) {
    auto session = (*pool)->Open({});
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(Output(**session,
                     "import os\nprint('mine' in globals(), os.listdir('/tmp'))\n"
                     "mine = 1\nopen('/tmp/mark', 'w').close()"),
              "False []\n");
  }
}

TEST_F(PoolTest, TheSizeOfTmpIsTheSessionsOwn) {  // SBX-E2
  SessionSpec spec;
  spec.limits.tmp = 1u << 20;
  auto session = Open(std::move(spec));
  ASSERT_TRUE(session);
  EXPECT_EQ(Output(*session,
                   "try:\n    open('/tmp/a', 'wb').write(bytes(2 << 20))\n"
                   "except OSError as error: print(error.errno)"),
            fmt::format("{}\n", ENOSPC));
}

TEST_F(PoolTest, ManySessionsRunAtOnceFromManyThreads) {  // SBX-A10
  constexpr int kThreads = 10, kEach = 10;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<Session>> sessions;
      for (int i = 0; i < kEach; ++i) {
        auto session = pool_->Open({});
        ASSERT_TRUE(session) << session.error().message;
        sessions.push_back(std::move(*session));
      }
      AnsweringHandler none;
      for (int i = 0; i < kEach; ++i) {
        auto result = sessions[i]->Run(fmt::format("print({})", t * 100 + i), {}, none);
        good += result && result->out == fmt::format("{}\n", t * 100 + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kThreads * kEach);
}

TEST_F(PoolTest, ManySessionsInTurnLeaveNoDescriptorBehind) {  // SBX-A10
  const auto open_descriptors = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0;
    return count;
  };
  for (int i = 0; i < 2; ++i) Output(*Open(), "print(1)");  // the second one has a spare made
  const int before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    auto session = Open();
    ASSERT_TRUE(session);
    EXPECT_EQ(Output(*session, "print(1)"), "1\n");
  }
  EXPECT_EQ(open_descriptors(), before);
}

// What was begun needs no zygote that is ready, and waits for none.
TEST_F(PoolTest, ASessionThatWasBegunIsReadyWhenItIsFinished) {  // SBX-3
  auto pool = MakePool();
  ASSERT_TRUE(pool);
  const UniqueFd text = MakeContextFd("one two");
  for (int i = 0; i < 3; ++i) {
    SessionSpec spec{.contexts = {{.name = "text", .fd = text.get(), .bytes = 7, .characters = 7}}};
    auto begun = (*pool)->Begin(std::move(spec));
    ASSERT_TRUE(begun) << begun.error().message;
    auto session = (*begun)->Finish();
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_TRUE((*session)->report().Applied("seccomp"));
    EXPECT_EQ(Output(**session, "print(context.split(), 'mine' in globals())\nmine = 1"),
              "['one', 'two'] False\n");
  }
}

TEST_F(PoolTest, ASessionThatWasBegunInVainLeavesNothingBehind) {
  const auto open_descriptors = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0;
    return count;
  };
  Output(*Open(), "print(1)");
  Output(*Open(), "print(1)");  // from now on there is a spare
  const int before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    auto begun = pool_->Begin({});
    ASSERT_TRUE(begun);
    if (i % 2 == 0) {
      EXPECT_TRUE((*begun)->Finish());
    }
    begun->reset();
    Output(*Open(), "print(1)");
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PoolTest, ASessionOutlivesItsPool) {
  auto pool = MakePool();
  ASSERT_TRUE(pool);
  auto session = std::move(*(*pool)->Open({}));
  pool->reset();
  EXPECT_EQ(Output(*session, "print(1)"), "1\n");
}

TEST_F(PoolTest, NothingIsLeftWhenTheHostIsKilled) {  // SBX-5, SBX-A10
  pool_.reset();                                      // no children but those of the host below
  // Orphans become our children, so that their end can be waited for.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t host = fork();
  if (host == 0) {
    auto pool = MakePool();
    std::vector<std::unique_ptr<Session>> sessions;
    for (int i = 0; i < 5; ++i) sessions.push_back(std::move(*(*pool)->Open({})));
    // One is busy in C, so that only the end of its bridge can stop it.
    AnsweringHandler handler([&](BridgeCall, std::shared_ptr<BridgeReply> reply) {
      reply->Ok(nullptr);
      [[maybe_unused]] const ssize_t written = write(ready[1], "x", 1);
    });
    (void)sessions[0]->Run("import _dossier\n_dossier.call('llm', {})\nsum(range(10**12))", {},
                           handler);
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(host, SIGKILL);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  pid_t reaped = 0;
  while ((reaped = waitpid(-1, nullptr, WNOHANG)) >= 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "a process is left";
    if (reaped == 0) std::this_thread::sleep_for(Millis(5));
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(PoolTest, ADeadZygoteIsStartedAgain) {  // section 6
  auto first = Open();
  ASSERT_TRUE(first);
  // The zygote is the only child of this process that is left.
  siginfo_t info{};
  std::string children;
  for (const auto& task : {std::string("/proc/self/task/") + std::to_string(gettid())}) {
    children = ReadFile(task + "/children").value_or("");
  }
  if (children.empty()) GTEST_SKIP() << "the kernel does not list children";
  ASSERT_EQ(kill(std::stoi(children), SIGKILL), 0);
  waitid(P_PID, static_cast<id_t>(std::stoi(children)), &info, WEXITED | WNOWAIT);
  auto second = Open();
  ASSERT_TRUE(second);
  EXPECT_EQ(Output(*second, "print(2)"), "2\n");
  // The first session died with its zygote and is replaced like any other.
  const BlockResult dead = Run(*first, "print(1)");
  EXPECT_EQ(dead.status, BlockStatus::kDied);
  EXPECT_EQ(Output(*first, "print(1)"), "1\n");
}

// Its process dies between the two steps, with the zygote: another one is made.
TEST_F(PoolTest, ASessionWhoseProcessDiedBeforeItWasFinishedIsOpenedAgain) {  // section 6
  pool_.reset();  // no children but the zygote below
  auto pool = MakePool();
  ASSERT_TRUE(pool);
  ASSERT_TRUE((*pool)->Open({}));
  const std::string children =
      ReadFile(fmt::format("/proc/self/task/{}/children", gettid())).value_or("");
  ASSERT_FALSE(children.empty()) << "this kernel does not list children";
  auto begun = (*pool)->Begin({});
  ASSERT_TRUE(begun);
  ASSERT_EQ(kill(std::stoi(children), SIGKILL), 0);
  auto session = (*begun)->Finish();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(Output(**session, "print(2)"), "2\n");
}

}  // namespace
}  // namespace dossier::sandbox
