#include "base/process/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/process/supervised_process.h"

namespace dossier {
namespace {

// In a child, so that this process stays as it is: whether `body` says yes.
bool InChild(const std::function<bool()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return status == 0;
}

bool IsHidden() { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0; }
void Show() { prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

// Root sees everything.
bool BecomeUser() {
  constexpr uid_t kUser = 12345;
  return geteuid() != 0 ||
         (setresgid(kUser, kUser, kUser) == 0 && setresuid(kUser, kUser, kUser) == 0);
}

TEST(HideProcessTest, WhateverIsStartedFindsAHostThatIsHidden) {  // FLT-89
  EXPECT_TRUE(InChild([] {
    Show();
    return RunProcess({.argv = {"true"}}).has_value() && IsHidden();
  }));
  EXPECT_TRUE(InChild([] {
    Show();
    return SupervisedProcess::Start({.argv = {"true"}}).has_value() && IsHidden();
  }));
}

TEST(FileLimitTest, OursIsRaisedAndThatOfAProgramStays) {
  EXPECT_TRUE(InChild([] {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 100;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    const auto soft = [] { return RunProcess({.argv = {"sh", "-c", "ulimit -Sn"}})->out; };
    if (soft() != "100\n") return false;  // as long as ours is not raised
    AllowManyFiles();
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur == limit.rlim_max && limit.rlim_max > 100 && soft() == "100\n";
  }));
}

TEST(HideProcessTest, AProgramCannotReadTheEnvironmentOfItsHost) {  // FLT-89
  const auto reads = [](std::string_view file) {
    const auto ran = RunProcess({.argv = {"sh", "-c", fmt::format("cat /proc/$PPID/{}", file)}});
    return ran && ran->exit_code == 0;
  };
  EXPECT_TRUE(InChild([&] {
    if (!BecomeUser()) return false;
    Show();
    return !reads("environ") && reads("stat");
  }));
}

TEST(HideProcessTest, AForkCanForgetItsCommandLine) {  // FLT-89
  const std::string before = ReadFile("/proc/self/cmdline", 1 << 20).value_or("");
  ASSERT_NE(before.find("test"), std::string::npos);
  EXPECT_TRUE(InChild([] {
    HideCommandLine();
    const std::string line = ReadFile("/proc/self/cmdline", 1 << 20).value_or("");
    const std::string variables = ReadFile("/proc/self/environ", 1 << 20).value_or("x");
    return line.starts_with("dossier") && line.find("test") == std::string::npos &&
           variables.find('=') == std::string::npos;
  }));
  EXPECT_EQ(ReadFile("/proc/self/cmdline", 1 << 20).value_or(""), before);
}

}  // namespace

namespace {

// Exit status of a shell that sends `signal` to itself, or -signal if it died of it.
int StatusAfter(const char* signal, const posix_spawnattr_t* attributes) {
  const std::string script = std::string("kill -") + signal + " $$; exit 7";
  const char* argv[] = {"/bin/sh", "-c", script.c_str(), nullptr};
  pid_t pid = 0;
  EXPECT_EQ(
      posix_spawn(&pid, argv[0], nullptr, attributes, const_cast<char* const*>(argv), environ), 0);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(SpawnAttributesTest, AChildHasNeitherOurBlockedNorOurIgnoredSignals) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(StatusAfter("TERM", nullptr), 7);  // what it would keep
  EXPECT_EQ(StatusAfter("PIPE", nullptr), 7);
  const SpawnAttributes attributes(SpawnGroup::kOurs);
  EXPECT_EQ(StatusAfter("TERM", attributes.get()), -SIGTERM);
  EXPECT_EQ(StatusAfter("PIPE", attributes.get()), -SIGPIPE);
  signal(SIGPIPE, old);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(SpawnAttributesTest, TheGroupIsOursOrItsOwn) {
  for (const SpawnGroup group : {SpawnGroup::kOurs, SpawnGroup::kOwn}) {
    const SpawnAttributes attributes(group);
    const char* argv[] = {"/bin/cat", nullptr};  // waits until its stdin ends
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, argv[0], &actions, attributes.get(), const_cast<char* const*>(argv),
                          environ),
              0);
    EXPECT_EQ(getpgid(pid), group == SpawnGroup::kOwn ? pid : getpgrp());
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
    posix_spawn_file_actions_destroy(&actions);
  }
}

}  // namespace

}  // namespace dossier
