#include "base/files/append_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

TEST(OpenForAppendTest, WritesBehindWhatIsThere) {
  const TempFolder folder = *TempFolder::Make();
  const std::string path = folder.path() + "/log";
  for (const char* line : {"a\n", "b\n"}) {
    const auto fd = OpenForAppend(path, 0600);
    ASSERT_THAT(fd, Succeeds());
    ASSERT_THAT(WriteAll(fd->get(), line), Succeeds());
  }
  EXPECT_EQ(*ReadFile(path), "a\nb\n");
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(OpenForAppendTest, NothingThatMayBeAnotherFileIsOpened) {  // FLT-88
  const TempFolder folder = *TempFolder::Make();
  const std::string victim = folder.path() + "/victim", log = folder.path() + "/log";
  ASSERT_THAT(WriteFileAtomic(victim, "mine\n"), Succeeds());
  ASSERT_EQ(symlink(victim.c_str(), log.c_str()), 0);
  EXPECT_THAT(OpenForAppend(log, 0600), FailsWith(ErrorCode::kRefused, "log is a link"));
  ASSERT_EQ(unlink(log.c_str()), 0);
  ASSERT_EQ(link(victim.c_str(), log.c_str()), 0);
  EXPECT_THAT(OpenForAppend(log, 0600), FailsWith(ErrorCode::kRefused, "a second name"));
  ASSERT_EQ(unlink(log.c_str()), 0);
  ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
  EXPECT_THAT(OpenForAppend(log, 0600), FailsWith(ErrorCode::kConfig, "no regular file"));
  EXPECT_THAT(OpenForAppend(folder.path() + "/none/log", 0600),
              FailsWith(ErrorCode::kNotFound, "none/log"));
}

}  // namespace
}  // namespace dossier
