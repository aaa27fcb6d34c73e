#include "research/files/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

Clock::Wall At(std::int64_t seconds) { return Clock::Wall(std::chrono::seconds(seconds)); }

class RunFolderTest : public ::testing::Test {
 protected:
  std::string Make(std::string_view name, std::int64_t attempt, std::int64_t seconds,
                   std::string_view id) {
    const auto folder = MakeRunFolder({.out = temp_.path() + "/runs",
                                       .name = std::string(name),
                                       .attempt = attempt,
                                       .time = At(seconds)});
    EXPECT_TRUE(folder) << folder.error().message;
    EXPECT_TRUE(WriteFileAtomic(*folder + "/run.json", ToJson(JsonObject{{"run", id}})));
    return *folder;
  }
  std::string out() const { return temp_.path() + "/runs"; }

  TempFolder temp_ = *TempFolder::Make("run_folder");
};

TEST_F(RunFolderTest, ANameHasTimeTitleAndAttempt) {
  EXPECT_EQ(RunFolderName("Matrix Opt!", 3, At(1'769'622'371)),
            "2026-01-28_17-46-11_Matrix_Opt_attempt_3");
  EXPECT_EQ(RunNameOf("../../etc"), "etc");
  EXPECT_EQ(RunNameOf("§§"), "run");
  EXPECT_EQ(RunNameOf(std::string(500, 'a')).size(), 60u);
  const auto parts = ParseRunFolderName("2026-01-28_17-46-11_a_attempt_b_attempt_3");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->name, "a_attempt_b");
  EXPECT_EQ(parts->attempt, 3);
  for (const std::string_view name :
       {"", "a", "2026-01-28_17-46-11_a", "2026-01-28_17-46-11_a_attempt_x",
        "2026-01-28 17-46-11_a_attempt_1", "2026-01-28_17-46-11_attempt_1"}) {
    EXPECT_FALSE(ParseRunFolderName(name)) << name;
  }
}

TEST_F(RunFolderTest, ASecondRunOfTheSameSecondHasAFolderOfItsOwn) {
  EXPECT_NE(Make("a", 0, 100, "x"), Make("a", 0, 100, "y"));
  EXPECT_EQ(ListRuns(out()).size(), 2u);
  const std::string later = Make("A", 0, 100, "z");  // sorted by name alone it would come first
  EXPECT_EQ(FindRun(out(), ""), later);
}

TEST_F(RunFolderTest, ThePreviousAttemptIsTheGreatestLowerOne) {  // RSP-25
  const std::string first = Make("a", 0, 100, "1");
  const std::string second = Make("a", 2, 90, "2");
  Make("b", 3, 110, "3");
  EXPECT_EQ(PreviousAttempt(Make("a", 5, 120, "4")), second);
  EXPECT_EQ(PreviousAttempt(second), first);
  EXPECT_EQ(PreviousAttempt(first), "");
  EXPECT_EQ(PreviousAttempt(temp_.path()), "");
}

TEST_F(RunFolderTest, ARunIsFoundByFolderByBeginningAndAsTheLatest) {
  EXPECT_THAT(FindRun(out(), ""), FailsWith(ErrorCode::kNotFound, "dossier research run IDEA"));
  const std::string first = Make("a", 0, 100, "r1a");
  const std::string second = Make("b", 0, 200, "r1b");
  EXPECT_EQ(FindRun(out(), ""), second);
  EXPECT_EQ(FindRun(out(), first), first);
  EXPECT_EQ(FindRun(out(), first + "/"), first);
  EXPECT_EQ(FindRun(out(), "r1a"), first);
  EXPECT_EQ(FindRun(out(), "1970-01-01_00-03"), second);
  EXPECT_THAT(FindRun(out(), "r1"), FailsWith(ErrorCode::kNotFound, "more than one"));
  EXPECT_THAT(FindRun(out(), "zz"), FailsWith(ErrorCode::kNotFound, "a_attempt_0"));
  EXPECT_THAT(FindRun(out(), temp_.path()),
              FailsWith(ErrorCode::kNotFound, temp_.path() + ": no run is in this folder"));
}

TEST_F(RunFolderTest, ALockedRunNamesItsHolder) {  // section 6: run locked
  const std::string folder = Make("a", 0, 100, "r");
  EXPECT_FALSE(RunLock::HolderOf(folder));
  {
    const auto lock = RunLock::Take(folder, *SystemClock());
    ASSERT_TRUE(lock) << lock.error().message;
    const auto holder = RunLock::HolderOf(folder);
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->pid, getpid());
    EXPECT_FALSE(holder->host.empty());
    EXPECT_THAT(
        RunLock::Take(folder, *SystemClock()),
        FailsWith(ErrorCode::kLocked, fmt::format("process {} on {}", getpid(), holder->host)));
  }
  EXPECT_FALSE(RunLock::HolderOf(folder));
  EXPECT_TRUE(RunLock::Take(folder, *SystemClock()));
}

}  // namespace
}  // namespace dossier::research
