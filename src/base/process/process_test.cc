#include "base/process/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/files/file.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;

TEST(ProcessTest, GivesBackOutputErrorsAndExitCode) {
  auto result = RunProcess({.argv = {"sh", "-c", "cat; echo err >&2; exit 3"}, .input = "in\n"});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->out, "in\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_FALSE(result->timed_out);
}

TEST(ProcessTest, FolderEnvironmentAndEmptyInput) {
  auto folder = TempFolder::Make();
  auto result = RunProcess({.argv = {"/bin/sh", "-c", "pwd; echo $A; echo ${HOME-none}; cat"},
                            .folder = folder->path(),
                            .environment = {{"A=x y"}}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, folder->path() + "\nx y\nnone\n");
}

TEST(ProcessTest, AMissingProgramOrFolderIsNotFound) {
  EXPECT_THAT(RunProcess({.argv = {"no-such-program-anywhere"}}),
              FailsWith(ErrorCode::kNotFound, "no-such-program-anywhere"));
  EXPECT_THAT(RunProcess({.argv = {"/no/such"}}), FailsWith(ErrorCode::kNotFound, "/no/such"));
  EXPECT_THAT(RunProcess({.argv = {"true"}, .folder = "/no/such"}),
              FailsWith(ErrorCode::kNotFound, "true"));
  EXPECT_THAT(RunProcess({}), FailsWith(ErrorCode::kInvalidArgument, "argv"));
  EXPECT_THAT(RunProcess({.argv = {"true", std::string("a\0b", 3)}}),
              FailsWith(ErrorCode::kInvalidArgument, "NUL"));
  EXPECT_THAT(RunProcess({.argv = {"/etc/passwd"}}), FailsWith(ErrorCode::kPermission, "passwd"));
}

TEST(ProcessTest, OutputAboveTheLimitIsCountedNotKept) {
  auto result =
      RunProcess({.argv = {"sh", "-c", "head -c 300000 /dev/zero; head -c 7 /dev/zero >&2"},
                  .max_output = 1000});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.size(), 1000u);
  EXPECT_EQ(result->out_dropped, 299'000u);
  EXPECT_EQ(result->err.size(), 7u);
  EXPECT_EQ(result->err_dropped, 0u);
}

TEST(ProcessTest, LargeInputThatNobodyReadsIsNoError) {
  auto result = RunProcess({.argv = {"true"}, .input = std::string(1 << 20, 'x')});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 0);
  result = RunProcess({.argv = {"wc", "-c"}, .input = std::string(1 << 20, 'x')});
  EXPECT_EQ(result->out, "1048576\n");
}

TEST(ProcessTest, TheTimeoutEndsTheWholeGroupEvenIfItIgnoresTerm) {
  // The grandchild keeps the pipe: it must be killed with the group.
  auto result = RunProcess({.argv = {"sh", "-c", "trap '' TERM; sleep 600 & echo $!; sleep 600"},
                            .timeout = Millis(100)});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, SIGKILL);
  const pid_t grandchild = std::stoi(result->out);
  // It is a zombie of init's or gone.
  for (int i = 0; i < 1000 && kill(grandchild, 0) == 0; ++i) {
    auto state = ReadFile("/proc/" + std::to_string(grandchild) + "/stat");
    if (!state || state->find(") Z") != std::string::npos) break;
    std::this_thread::yield();
  }
  auto state = ReadFile("/proc/" + std::to_string(grandchild) + "/stat");
  EXPECT_TRUE(!state || state->find(") Z") != std::string::npos);
}

TEST(ProcessTest, CancellingEndsIt) {
  CancelSource source;
  std::thread canceller([&] { source.Cancel("enough"); });
  EXPECT_THAT(RunProcess({.argv = {"sleep", "600"}}, source.token()),
              FailsWith(ErrorCode::kCancelled, "enough"));
  canceller.join();
}

TEST(ProcessTest, AGrandchildInTheBackgroundIsNotWaitedFor) {
  auto result = RunProcess({.argv = {"sh", "-c", "sleep 600 & echo $!"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 0);
  kill(std::stoi(result->out), SIGKILL);
}

// It ends when it writes to a pipe that nobody reads any more.
TEST(ProcessTest, AGrandchildThatNeverPausesIsNotWaitedFor) {
  const auto result = RunProcess({.argv = {"/bin/sh", "-c", "echo key; yes & exit 0"}});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->out, ::testing::StartsWith("key\n"));
  EXPECT_EQ(result->exit_code, 0);
}

TEST(ProcessTest, ADetachedProgramIsNotOurChildAndWritesToItsLog) {
  auto folder = TempFolder::Make();
  const std::string log = folder->path() + "/log";
  auto pid = StartDetached({.argv = {"sh", "-c", "echo started; exec sleep 600"}}, log);
  ASSERT_TRUE(pid) << pid.error().message;
  EXPECT_EQ(getsid(*pid) == getsid(0), false);
  while (ReadFile(log).value_or("") != "started\n") std::this_thread::yield();
  kill(*pid, SIGKILL);
  while (kill(*pid, 0) == 0) {
    auto state = ReadFile("/proc/" + std::to_string(*pid) + "/stat");
    if (!state || state->find(") Z") != std::string::npos) break;
    std::this_thread::yield();
  }
  EXPECT_THAT(StartDetached({.argv = {"/no/such"}}, log),
              FailsWith(ErrorCode::kNotFound, "/no/such"));
}

TEST(ProcessTest, ProgramsAreFoundOnlyInAbsoluteFoldersOfPath) {
  EXPECT_TRUE(FindProgram("sh").has_value());
  EXPECT_FALSE(FindProgram("").has_value());
  EXPECT_FALSE(FindProgram("no-such-program-anywhere").has_value());
}

}  // namespace
}  // namespace dossier
