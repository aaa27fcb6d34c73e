#include "base/files/regular_file.h"

#include <sys/stat.h>
#include <unistd.h>

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
}  // namespace dossier
