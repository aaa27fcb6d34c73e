#include "base/files/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;

std::ptrdiff_t NamesIn(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(ReplaceFileTest, PartsStandOneAfterTheOtherAndNothingElseIsLeft) {
  const auto folder = *TempFolder::Make();
  const std::string path = folder.path() + "/out.txt";
  for (const Durability durability : {Durability::kSurvivesCrash, Durability::kSurvivesPowerLoss}) {
    ASSERT_TRUE(WriteFileAtomic(path, "what was there before, and longer"));
    ASSERT_TRUE(ReplaceFile(path, {"one ", "", "two"}, {.mode = 0600, .durability = durability}));
    EXPECT_EQ(*ReadFile(path), "one two");
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(NamesIn(folder.path()), 1);
  }
}

TEST(ReplaceFileTest, AFailureNamesTheFileNotATemporaryOne) {
  EXPECT_THAT(ReplaceFile("/nowhere/out.txt", {"x"}, {}),
              FailsWith(ErrorCode::kNotFound, "/nowhere/out.txt: "));
  const auto folder = *TempFolder::Make();
  ASSERT_TRUE(MakeFolders(folder.path() + "/taken"));
  EXPECT_EQ(ReplaceFile(folder.path() + "/taken", {"x"}, {}).error().message,
            folder.path() + "/taken: Is a directory");
  EXPECT_EQ(NamesIn(folder.path()), 1);
}

TEST(ReadFileTest, FilesThatSayTheyAreEmptyAndFilesOfAnySizeAreReadWhole) {
  EXPECT_GT(ReadFile("/proc/self/status")->size(), 100u);
  const auto folder = *TempFolder::Make();
  const std::string path = folder.path() + "/x";
  for (const std::size_t size : {0, 1, 15, 16, 4096, 65535, 65536, 70000, 200000}) {
    const std::string text(size, 'x');
    ASSERT_TRUE(WriteFileAtomic(path, text));
    const auto read = ReadFile(path);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, text);
    if (size > 0) {
      EXPECT_LE(read->capacity(), size + 16);
    }
  }
}

}  // namespace
}  // namespace dossier
