// Programs that start others without end (FLT-82). Each bomb here ends by itself after some hundred
// processes, and all run in a pid namespace of their own where the test may make one: a wall that
// does not hold fails the test and not the machine.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "sandbox/jail/jail.h"
#include "testing/isolation_harness.h"
#include "testing/jail_folder.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

// Beats every 10 ms on a thread of its own; the longest time without a beat.
class Heartbeat {
 public:
  Heartbeat() : thread_([this] { Beat(); }) {}
  ~Heartbeat() { Stop(); }
  Millis Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return longest_;
  }

 private:
  void Beat() {
    auto last = std::chrono::steady_clock::now();
    while (!stop_) {
      std::this_thread::sleep_for(Millis(10));
      const auto now = std::chrono::steady_clock::now();
      longest_ = std::max(longest_, std::chrono::duration_cast<Millis>(now - last));
      last = now;
    }
  }

  std::atomic<bool> stop_{false};
  Millis longest_{0};
  std::thread thread_;  // last: it uses the others
};

// Runs `body` as the first process of a pid namespace, which ends with it and within a minute; what
// it returns comes back. Without the right to make one it runs in a child.
std::string RunBounded(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "pipe";
  const pid_t outer = fork();
  if (outer == 0) {
    close(ends[0]);
    (void)unshare(CLONE_NEWPID);
    const pid_t inner = fork();
    if (inner == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      alarm(60);
      harness::Send(ends[1], body());
      _exit(0);
    }
    waitpid(inner, nullptr, 0);
    _exit(0);
  }
  close(ends[1]);
  const std::string text = harness::ReadToEnd(ends[0]);
  close(ends[0]);
  waitpid(outer, nullptr, 0);
  return text;
}

struct Bomb {
  const char* shape;
  const char* code;  // Python; each process and thread of it lives for half a minute
};

constexpr Bomb kBombs[] = {
    {"fork",
     "import os, time\n"
     "for level in range(8):\n"
     "    try: os.fork()\n"
     "    except OSError: pass\n"
     "time.sleep(30)"},
    {"vfork and exec",
     "import os, time\n"
     "for i in range(300):\n"
     "    try: os.posix_spawn('/bin/sleep', ['sleep', '30'], {})\n"
     "    except OSError: pass\n"
     "time.sleep(30)"},
    {"threads",
     "import threading, time\n"
     "threading.stack_size(65536)\n"
     "for i in range(300):\n"
     "    try: threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n"
     "    except RuntimeError: pass\n"
     "time.sleep(30)"},
    {"double fork and setsid",
     "import os, time\n"
     "for i in range(150):\n"
     "    try: child = os.fork()\n"
     "    except OSError: continue\n"
     "    if child == 0:\n"
     "        os.setsid()\n"
     "        try: os.fork()\n"
     "        except OSError: pass\n"
     "        time.sleep(30)\n"
     "        os._exit(0)\n"
     "time.sleep(30)"},
};

constexpr int kLimit = 40;

JailSpec BombSpec(const std::string& folder) {
  JailSpec spec;
  spec.write = {folder};
  spec.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
  spec.limits.processes = kLimit;
  spec.limits.wall = Millis(3'000);
  return spec;
}

// "" if the jail ended the bomb, or the kernel refused it a process too many until its time was up.
std::string Explode(const JailSpec& spec, const Bomb& bomb) {
  const std::string argv[] = {"/usr/bin/python3", "-I", "-c", bomb.code};
  const auto exit = RunJailed(spec, argv);
  if (!exit) return fmt::format("{}: {}\n", bomb.shape, exit.error().message);
  if (exit->stop == JailStop::kProcesses || exit->stop == JailStop::kTime) return "";
  return fmt::format("{}: status {} signal {} stop {} {}\n", bomb.shape, exit->status, exit->signal,
                     JailStopName(exit->stop), exit->err);
}

class JailBombTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make("dossier-jail-bomb");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    dossier::testing::FitForPrograms(folder_->path());
  }
  void GiveToAnother() { dossier::testing::GiveToAnother(folder_->path()); }

  std::optional<TempFolder> folder_;
};

TEST_F(JailBombTest, TheMachineStaysUsableWhileTenGoOff) {  // FLT-82
  for (const bool of_another : {false, true}) {
    if (of_another) GiveToAnother();
    for (const char* disabled : {"", "pid_max"}) {
      Heartbeat heart;
      const std::string text = RunBounded([&] {
        std::vector<std::string> said(10);
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < said.size(); ++i) {
          threads.emplace_back([&, i] {
            JailSpec spec = BombSpec(folder_->path());
            spec.disabled_layers = {disabled};
            said[i] = Explode(spec, kBombs[i % std::size(kBombs)]);
          });
        }
        for (std::thread& thread : threads) thread.join();
        std::string all = "done\n";
        for (const std::string& line : said) all += line;
        return all;
      });
      EXPECT_EQ(text, "done\n") << disabled;
      EXPECT_LT(heart.Stop(), Millis(1'000)) << disabled;
    }
  }
}

TEST_F(JailBombTest, WhatTheKernelDoesNotCountIsEndedByTheCount) {  // FLT-82
  if (geteuid() != 0 || !dossier::testing::UserNamespacesHere()) {
    GTEST_SKIP() << "the kernel counts the processes of ordinary users";
  }
  for (const Bomb& bomb : kBombs) {
    const std::string text = RunBounded([&]() -> std::string {
      JailSpec spec = BombSpec(folder_->path());
      spec.limits.wall = Millis(20'000);
      spec.disabled_layers = {"pid_max", "cgroup"};
      const std::string argv[] = {"/usr/bin/python3", "-I", "-c", bomb.code};
      const auto exit = RunJailed(spec, argv);
      if (!exit) return exit.error().message;
      return fmt::format("{}, {}", JailStopName(exit->stop), exit->report.Find("rlimits")->reason);
    });
    EXPECT_EQ(text, "processes, 4096 MiB data, processes counted by the watchdog") << bomb.shape;
  }
}

TEST_F(JailBombTest, ANewKernelEndsTheIdsOfTheJail) {  // FLT-82
  const std::string text = RunBounded([&]() -> std::string {
    JailSpec spec = BombSpec(folder_->path());
    const std::string argv[] = {"cat", "/proc/sys/kernel/pid_max"};
    const auto exit = RunJailed(spec, argv);
    if (!exit) return exit.error().message;
    return exit->report.Applied("namespaces") ? exit->out : "no namespaces";
  });
  const std::string machine = ReadFile("/proc/sys/kernel/pid_max", 100).value_or("");
  if (text == machine || text == "no namespaces") GTEST_SKIP() << "before Linux 6.14: " << text;
  EXPECT_EQ(text, fmt::format("{}\n", 4096 + kLimit));
  EXPECT_EQ(ReadFile("/proc/sys/kernel/pid_max", 100).value_or(""), machine);  // is as it was
}

TEST_F(JailBombTest, TheKeeperCannotBePutBehindItsBomb) {  // FLT-82
  const std::string argv[] = {
      "/usr/bin/python3", "-I", "-c",
      "import os\n"
      "def attempt(call):\n"
      "    try: call(); return 'worked'\n"
      "    except PermissionError: return 'refused'\n"
      "none = os.sched_param(0)\n"
      "keeper = os.getppid()\n"
      "print(attempt(lambda: os.sched_setscheduler(keeper, os.SCHED_IDLE, none)),\n"
      "      attempt(lambda: os.sched_setparam(keeper, none)),\n"
      "      attempt(lambda: os.sched_setaffinity(keeper, [0])),\n"
      "      attempt(lambda: os.setpriority(os.PRIO_PROCESS, keeper, 19)),\n"
      "      attempt(lambda: os.setpriority(os.PRIO_PGRP, 0, 19)),\n"
      "      attempt(lambda: os.setpriority(os.PRIO_USER, 0, 19)),\n"
      "      os.getpgid(0) == os.getpid())\n"
      "print(attempt(lambda: os.sched_setscheduler(0, os.SCHED_BATCH, none)),\n"
      "      attempt(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0))),\n"
      "      attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, 19)),\n"
      "      os.sched_getscheduler(0) == os.SCHED_BATCH)"};
  GiveToAnother();
  for (const char* disabled : {"", "namespaces"}) {
    JailSpec spec = BombSpec(folder_->path());
    spec.disabled_layers = {disabled};
    const auto exit = RunJailed(spec, argv);
    ASSERT_THAT(exit, Succeeds());
    EXPECT_EQ(exit->out,
              "refused refused refused refused refused refused True\nworked worked worked True\n")
        << disabled << exit->err;
  }
}

TEST_F(JailBombTest, ProgramsHaveThePriorityOfWhoStartsThem) {  // FLT-82
  const std::string text = RunBounded([&]() -> std::string {
    if (setpriority(PRIO_PROCESS, 0, 7) != 0) return "setpriority";
    const std::string argv[] = {
        "/usr/bin/python3", "-I", "-c",
        "import os; print(os.getpriority(0, 0), os.sched_getscheduler(0) == os.SCHED_OTHER)"};
    const auto exit = RunJailed(BombSpec(folder_->path()), argv);
    return exit ? exit->out + exit->err : exit.error().message;
  });
  EXPECT_EQ(text, "7 True\n");
}

TEST_F(JailBombTest, StrictDoesNotStartAsRootWhereNothingLimitsIt) {  // FLT-82
  if (geteuid() != 0) GTEST_SKIP() << "only root starts as root";
  JailSpec spec = BombSpec(folder_->path());
  const std::string argv[] = {"true"};
  spec.disabled_layers = {"namespaces"};
  ASSERT_EQ(chown(folder_->path().c_str(), 0, 0), 0);
  EXPECT_THAT(RunJailed(spec, argv),
              FailsWith(ErrorCode::kUnavailable, "nothing here limits the processes of root"));
  spec.mode = IsolationMode::kDegraded;
  const auto degraded = RunJailed(spec, argv);
  ASSERT_THAT(degraded, Succeeds());
  EXPECT_THAT(degraded->report.gaps,
              ::testing::Contains("the number of root's processes is not limited at once"));
  spec.mode = IsolationMode::kStrict;
  GiveToAnother();
  EXPECT_THAT(RunJailed(spec, argv), Succeeds());
}

// The kernel's part is a folder here: what is written, by whom and when.
class JailCgroupTest : public JailBombTest {
 protected:
  void SetUp() override {
    JailBombTest::SetUp();
    auto groups = TempFolder::Make("dossier-jail-groups");
    ASSERT_THAT(groups, Succeeds());
    groups_.emplace(std::move(*groups));
    const std::string& root = groups_->path();
    ASSERT_THAT(WriteFileAtomic(root + "/self", "0::/\n"), Succeeds());
    ASSERT_THAT(WriteFileAtomic(root + "/cgroup.procs", ""), Succeeds());
    ASSERT_THAT(WriteFileAtomic(root + "/cgroup.subtree_control", "memory pids\n"), Succeeds());
    spec_ = BombSpec(folder_->path());
    spec_.limits.memory = 100u << 20;
    spec_.cgroups = {root, root + "/self"};
  }

  std::optional<TempFolder> groups_;
  JailSpec spec_;
};

TEST_F(JailCgroupTest, WhereOneIsDelegatedTheJailIsInIt) {  // FLT-82, FLT-84
  const std::string argv[] = {"/usr/bin/python3", "-I", "-c",
                              "import os; os.memfd_create('x'); print('memfd')"};
  const auto exit = RunJailed(spec_, argv);
  ASSERT_THAT(exit, Succeeds());
  EXPECT_EQ(exit->out, "memfd\n") << exit->err;
  EXPECT_TRUE(exit->report.Applied("cgroup"));
  EXPECT_EQ(exit->report.Find("cgroup")->reason, "40 processes, 100 MiB");
  EXPECT_THAT(exit->report.Find("rlimits")->reason, ::testing::Not(HasSubstr("watchdog")));
  int groups = 0;
  for (const auto& entry : std::filesystem::directory_iterator(groups_->path())) {
    const std::string group = entry.path().string();
    if (group.find("/dossier-jail-", groups_->path().size()) == std::string::npos) continue;
    ++groups;
    EXPECT_EQ(ReadFile(group + "/pids.max").value_or(""), "42");  // and the jail's own two
    EXPECT_EQ(ReadFile(group + "/memory.max").value_or(""), std::to_string(100 << 20));
    EXPECT_EQ(ReadFile(group + "/cgroup.procs").value_or(""), "0");
  }
  EXPECT_EQ(groups, 1);
}

TEST_F(JailCgroupTest, SwitchedOffOrAbsentItIsNamedAndTheRestHolds) {  // FLT-82, FLT-84
  const std::string argv[] = {"/usr/bin/python3", "-I", "-c", "import os; os.memfd_create('x')"};
  spec_.disabled_layers = {"cgroup"};
  // Without the group, memory is counted from the fork on, and so is this program's own heap.
  spec_.limits.memory = std::uint64_t{2} << 30;
  auto exit = RunJailed(spec_, argv);
  ASSERT_THAT(exit, Succeeds());
  EXPECT_EQ(exit->report.Find("cgroup")->reason, "switched off");
  EXPECT_THAT(exit->err, HasSubstr("Function not implemented"));
  spec_.disabled_layers.clear();
  spec_.cgroups.membership += "-absent";
  exit = RunJailed(spec_, argv);
  ASSERT_THAT(exit, Succeeds());
  EXPECT_THAT(exit->report.Find("cgroup")->reason, HasSubstr("not delegated"));
}

}  // namespace
}  // namespace dossier::sandbox
