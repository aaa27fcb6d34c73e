#include "base/files/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/cancel.h"
#include "base/deadline.h"
#include "base/files/descriptor_lines.h"
#include "base/files/missing_file.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

class RegularFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  TempFolder folder_ = *TempFolder::Make("regular");
};

TEST_F(RegularFileTest, APipeIsRefusedAndNotWaitedFor) {  // FLT-83
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadRegularFile(Path("pipe"), 10), FailsWith(ErrorCode::kConfig, "no regular file"));
  EXPECT_THAT(ReadRegularFile("/dev/zero", 10), FailsWith(ErrorCode::kConfig, "no regular file"));
  EXPECT_THAT(ReadRegularFile(folder_.path(), 10),
              FailsWith(ErrorCode::kConfig, "no regular file"));
  EXPECT_THAT(ReadRegularFile(Path("none"), 10), FailsWith(ErrorCode::kNotFound, "none"));
}

TEST_F(RegularFileTest, SizesHold) {
  ASSERT_TRUE(WriteFileAtomic(Path("file"), "0123456789"));
  EXPECT_EQ(*ReadRegularFile(Path("file"), 10), "0123456789");
  EXPECT_THAT(ReadRegularFile(Path("file"), 9), FailsWith(ErrorCode::kTooLong, "larger than 9"));
}

TEST_F(RegularFileTest, WhatOthersMayWriteIsRefused) {  // FLT-83, FLT-88
  ASSERT_TRUE(WriteFileAtomic(Path("file"), "x"));
  EXPECT_EQ(*ReadOwnedFile(Path("file"), 10), "x");
  chmod(Path("file").c_str(), 0666);
  EXPECT_THAT(ReadOwnedFile(Path("file"), 10), FailsWith(ErrorCode::kRefused, "chmod go-w"));
  if (geteuid() != 0) return;
  chmod(Path("file").c_str(), 0644);
  ASSERT_EQ(chown(Path("file").c_str(), 12345, 12345), 0);
  EXPECT_THAT(ReadOwnedFile(Path("file"), 10),
              FailsWith(ErrorCode::kRefused, "belongs to another user"));
  EXPECT_THAT(CheckOwnPath(Path("file"), PathKind::kFile),
              FailsWith(ErrorCode::kRefused, "belongs to another user"));
}

TEST_F(RegularFileTest, ALinkIsNotTheUsersOwnPlace) {  // FLT-88
  ASSERT_EQ(symlink("/etc", Path("link").c_str()), 0);
  EXPECT_THAT(CheckOwnPath(Path("link"), PathKind::kFolder),
              FailsWith(ErrorCode::kRefused, "is a link"));
  EXPECT_THAT(CheckOwnPath(folder_.path(), PathKind::kFolder), Succeeds());
  EXPECT_THAT(CheckOwnPath(Path("none"), PathKind::kFolder), Succeeds());
}

}  // namespace

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

// Deeper than a path can say, and than there are descriptors.
TEST(RemoveAllTest, FoldersOfAnyDepthAndShutOnesGo) {  // FLT-68
  TempFolder folder = *TempFolder::Make("remove");
  const std::string top = folder.path() + "/top";
  ASSERT_TRUE(MakeFolders(top));
  int at = open(top.c_str(), O_RDONLY | O_DIRECTORY);
  for (int depth = 0; depth < 10'000; ++depth) {
    ASSERT_EQ(mkdirat(at, "shut", 0700), 0);
    ASSERT_EQ(mkdirat(at, "d", 0700), 0);
    const int file = openat(at, "file", O_CREAT | O_WRONLY, 0400);
    const int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(fchmodat(at, "shut", 0, 0), 0);
    close(file);
    close(at);
    at = next;
  }
  close(at);
  ASSERT_EQ(symlink("/", (top + "/link").c_str()), 0);
  EXPECT_THAT(RemoveAll(top), Succeeds());
  EXPECT_FALSE(Exists(top));
  EXPECT_THAT(RemoveAll(top), Succeeds());
  ASSERT_EQ(symlink(folder.path().c_str(), top.c_str()), 0);
  EXPECT_THAT(RemoveAll(top), Succeeds());
  EXPECT_TRUE(Exists(folder.path()));
  EXPECT_THAT(RemoveAll("/proc/self/status"), FailsWith(ErrorCode::kPermission, "status"));
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

TEST(MissingFileTest, TheNearestNameOrTheMissingFolderIsTold) {
  const auto folder = TempFolder::Make("missing");
  ASSERT_TRUE(folder);
  const std::string path = folder->path();
  ASSERT_TRUE(WriteFileAtomic(path + "/orders.csv", "a\n"));
  EXPECT_EQ(*ReadNamedFile(path + "/orders.csv"), "a\n");
  EXPECT_EQ(ReadNamedFile(path + "/order.csv").error().message,
            path + "/order.csv: no such file or folder; did you mean orders.csv?");
  EXPECT_EQ(ReadNamedFile(path + "/zzz").error().message, path + "/zzz: no such file or folder");
  EXPECT_EQ(ReadNamedFile(path + "/old/x").error().message,
            path + "/old/x: there is no folder " + path + "/old");
  EXPECT_EQ(ReadNamedFile(path).error().message, ReadFile(path).error().message);
}

TEST(FileLockTest, OneHolderAtATimeAndALookTakesNothing) {  // HSE-22
  const auto folder = TempFolder::Make("lock");
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/x.lock";
  EXPECT_FALSE(FileLock::IsHeld(path)) << "there is no file yet";
  {
    const auto lock = FileLock::Take(path, Millis(0), {});
    ASSERT_THAT(lock, Succeeds());
    EXPECT_TRUE(FileLock::IsHeld(path));
    EXPECT_THAT(FileLock::Take(path, Millis(0), {}), FailsWith(ErrorCode::kLocked, path));
    CancelSource stop;
    stop.Cancel("enough");
    EXPECT_THAT(FileLock::Take(path, Millis(60'000), stop.token()),
                FailsWith(ErrorCode::kCancelled, "enough"));
  }
  EXPECT_FALSE(FileLock::IsHeld(path));
  EXPECT_THAT(FileLock::Take(path, Millis(0), {}), Succeeds());
  std::filesystem::create_symlink(path, folder->path() + "/link");
  EXPECT_THAT(FileLock::Take(folder->path() + "/link", Millis(0), {}),
              FailsWith(ErrorCode::kDamaged, "symbolic link"));
}

TEST(FileLockTest, ALockWhoseFileItsHolderRemovedIsTakenOnANewOne) {  // HSE-22
  const auto folder = TempFolder::Make("lock");
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/x.lock";
  auto gone = FileLock::Take(path, Millis(0), {});
  ASSERT_THAT(gone, Succeeds());
  ASSERT_THAT(RemoveAll(path), Succeeds());
  EXPECT_THAT(FileLock::Take(path, Millis(0), {}), Succeeds());
}

TEST(DescriptorLinesTest, ALineThatIsTooLongIsPassedOverAndReadingGoesOn) {  // HSE-22
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  ASSERT_TRUE(WriteAll(out.get(), "one\n" + std::string(100, 'x') + "\n\nlast"));
  out.Reset();
  DescriptorLines lines(in.get(), {}, 10, ": send a path");
  EXPECT_EQ(**lines.Next(), "one");
  EXPECT_THAT(lines.Next(), FailsWith(ErrorCode::kTooLong, "10 bytes: send a path"));
  EXPECT_EQ(**lines.Next(), "");
  EXPECT_EQ(**lines.Next(), "last");
  EXPECT_FALSE(*lines.Next());
}

TEST(DeadlineTest, TheTokenIsCancelledByTimeByHandOrByItsParent) {  // HSE-22
  const Deadline past({}, Millis(0), "time is up");
  while (!past.token().cancelled()) std::this_thread::yield();
  EXPECT_TRUE(past.passed());
  EXPECT_EQ(past.token().reason(), "time is up");
  CancelSource parent;
  Deadline open(parent.token(), std::nullopt, "time is up");
  Deadline far(parent.token(), Millis(3'600'000), "time is up");
  EXPECT_FALSE(far.passed());
  far.Cancel("by hand");
  EXPECT_EQ(far.token().reason(), "by hand");
  parent.Cancel("all");
  EXPECT_EQ(open.token().reason(), "all");
  EXPECT_FALSE(open.passed());
}

}  // namespace

}  // namespace dossier
