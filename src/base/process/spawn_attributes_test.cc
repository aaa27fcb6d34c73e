#include "base/process/spawn_attributes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dossier {
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
