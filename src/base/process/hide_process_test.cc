#include "base/process/hide_process.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
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
}  // namespace dossier
