#include "base/process/supervised_process.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "base/cancel.h"
#include "base/process/child.h"

namespace dossier {
namespace {

// From here on this process and its children cannot signal all processes of the user: were the code
// under test to try, whoever runs the tests would lose their session.
bool RefuseSignalsToAll() {
  constexpr auto kNumber = static_cast<unsigned>(offsetof(seccomp_data, nr));
  constexpr auto kTarget = static_cast<unsigned>(offsetof(seccomp_data, args[0]));
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_kill, 0, 3),
                        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kTarget),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// All on one processor: the program runs before those that started it can go on.
void UseOneProcessor() {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &one);
    static_cast<void>(sched_setaffinity(0, sizeof(one), &one));
    return;
  }
}

// How often a program that kills its parent at once was not brought to an end.
int RoundsWithoutEnd(int rounds) {
  int without_end = 0;
  for (int round = 0; round < rounds; ++round) {
    auto process = SupervisedProcess::Start({.argv = {"/bin/sh", "-c", "kill -9 $PPID"}});
    if (!process) return rounds;
    pollfd wait{process->report(), POLLIN, 0};
    constexpr int kLongest = 20'000;  // milliseconds; it takes one or two
    if (poll(&wait, 1, kLongest) <= 0) ++without_end;
  }
  return without_end;
}

TEST(SupervisedProcessTest, AProgramThatKillsItsParentAtOnceEndsNobodyElse) {  // REP-35, CON-25
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!RefuseSignalsToAll()) _exit(77);
    UseOneProcessor();
    _exit(RoundsWithoutEnd(/*rounds=*/200));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "rounds without an end";
}

TEST(RunSupervisedTest, KeepsWhatAProgramPrintsUpToTheLimit) {  // REC-65
  const auto ran = RunSupervised({.argv = {"/bin/sh", "-c", "cat; echo error >&2; exit 3"},
                                  .input = "12345",
                                  .max_output = 4});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 3);
  EXPECT_EQ(ran->out, "1234");
  EXPECT_EQ(ran->out_dropped, 1u);
  EXPECT_EQ(ran->err, "erro");
  EXPECT_FALSE(ran->timed_out);
  EXPECT_FALSE(RunSupervised({.argv = {"/no/such/program"}}));
}

TEST(RunSupervisedTest, AtTheLimitAllDescendantsEnd) {  // REC-65
  const auto ran =
      RunSupervised({.argv = {"/bin/sh", "-c", "setsid sleep 4711 & echo $!; exec sleep 4711"},
                     .timeout = Millis(500)});
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->timed_out);
  const pid_t left = std::stoi("0" + ran->out);
  ASSERT_GT(left, 1);
  EXPECT_EQ(SendSignal(left, 0), -1);
}

TEST(RunSupervisedTest, ItCanBeCancelled) {  // REC-65
  CancelSource source;
  source.Cancel("enough");
  const auto ran = RunSupervised({.argv = {"sleep", "4711"}}, {}, source.token());
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::kCancelled);
}

TEST(SendSignalTest, WhatIsNoProcessGetsNothing) {
  for (const pid_t none : {0, -1, -42}) {
    EXPECT_EQ(SendSignal(none, 0), -1) << none;
    EXPECT_EQ(SendGroupSignal(none, 0), -1) << none;
  }
  EXPECT_EQ(SendGroupSignal(1, 0), -1);
  EXPECT_EQ(SendSignal(getpid(), 0), 0);
}

}  // namespace
}  // namespace dossier
