#include "ask/documents/out_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/hash.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using How = OutFolder::How;

class OutFolderTest : public ::testing::Test {
 protected:
  const TempFolder folder_ = *TempFolder::Make();
  const std::string path_ = folder_.path() + "/deep/results";
  const std::unique_ptr<OutFolder> out_ = *OutFolder::Open(path_);
  std::vector<std::string> lost_;
};

TEST_F(OutFolderTest, FilesAreListedWithTheirHashes) {  // REC-83
  EXPECT_THAT(out_->Write("b.txt", How::kNew, "one"), Succeeds());
  EXPECT_THAT(out_->Write("b.txt", How::kAppend, " two"), Succeeds());
  EXPECT_THAT(out_->Write("a é.csv", How::kAppend, ""), Succeeds());
  EXPECT_THAT(out_->Write("c", How::kNew, "long before"), Succeeds());
  EXPECT_THAT(out_->Write("c", How::kNew, "now"), Succeeds());
  const auto files = out_->Collect(&lost_);
  EXPECT_EQ(
      ToJson(Json(OutFilesJson(files))),
      ToJson(Json(JsonArray{
          {{"name", "a é.csv"},
           {"path", path_ + "/a é.csv"},
           {"bytes", 0},
           {"sha256", Sha256Hex("")}},
          {{"name", "b.txt"},
           {"path", path_ + "/b.txt"},
           {"bytes", 7},
           {"sha256", Sha256Hex("one two")}},
          {{"name", "c"}, {"path", path_ + "/c"}, {"bytes", 3}, {"sha256", Sha256Hex("now")}}})));
  EXPECT_TRUE(lost_.empty());
}

TEST_F(OutFolderTest, NamesThatAreNoPlainNamesAreRefused) {  // REC-83
  const std::string long_name(201, 'a');
  for (const std::string_view name :
       {std::string_view(""), std::string_view("../x"), std::string_view("a/b"),
        std::string_view("/etc/passwd"), std::string_view("a\\b"), std::string_view(".bashrc"),
        std::string_view("-rf"), std::string_view("~"), std::string_view(".."),
        std::string_view("a\nb"), std::string_view("a\0b", 3), std::string_view("\x1b[2J"),
        std::string_view("invoice\u202Efdp.exe"), std::string_view("a\u200Bb"),
        std::string_view("\xff"), std::string_view(" a"), std::string_view("a."),
        std::string_view(long_name)}) {
    EXPECT_THAT(out_->Write(name, How::kNew, "x"),
                FailsWith(ErrorCode::kInvalidArgument, "no file is written: the name"))
        << name;
  }
  EXPECT_TRUE(std::filesystem::is_empty(path_));
}

TEST_F(OutFolderTest, WhatOthersPutThereIsNeitherFollowedNorOverwritten) {  // REC-83
  const std::string victim = folder_.path() + "/victim";
  ASSERT_THAT(WriteFileAtomic(victim, "mine"), Succeeds());
  ASSERT_EQ(symlink(victim.c_str(), (path_ + "/link").c_str()), 0);
  ASSERT_THAT(WriteFileAtomic(path_ + "/theirs", "theirs"), Succeeds());
  EXPECT_FALSE(out_->Write("link", How::kNew, "x"));
  EXPECT_FALSE(out_->Write("link", How::kAppend, "x"));
  EXPECT_FALSE(out_->Write("theirs", How::kNew, "x"));
  // A file of ours was replaced by a link or another file.
  for (const std::string name : {"linked", "swapped"}) {
    ASSERT_THAT(out_->Write(name, How::kNew, "ours"), Succeeds());
    ASSERT_EQ(unlink((path_ + "/" + name).c_str()), 0);
  }
  ASSERT_EQ(symlink(victim.c_str(), (path_ + "/linked").c_str()), 0);
  ASSERT_THAT(WriteFileAtomic(path_ + "/swapped", "ours"), Succeeds());
  EXPECT_FALSE(out_->Write("linked", How::kAppend, "x"));
  EXPECT_THAT(out_->Write("swapped", How::kNew, "x"),
              FailsWith(ErrorCode::kIo, "no longer the file of this run"));
  EXPECT_TRUE(out_->Collect(&lost_).empty());
  EXPECT_EQ(lost_.size(), 2u);
  EXPECT_EQ(*ReadFile(victim, 100), "mine");
  EXPECT_EQ(*ReadFile(path_ + "/theirs", 100), "theirs");
}

TEST_F(OutFolderTest, NoMoreThanAGibibyteAndAThousandFiles) {  // REC-83
  const std::string block(256 << 20, 'x');
  for (int i = 0; i < 3; ++i) ASSERT_THAT(out_->Write("big", How::kAppend, block), Succeeds());
  EXPECT_THAT(out_->Write("big", How::kAppend, block), Succeeds());
  EXPECT_THAT(out_->Write("one more", How::kNew, "x"),
              FailsWith(ErrorCode::kLimit, "more than 1,073,741,824 bytes"));
  EXPECT_THAT(out_->Write("big", How::kNew, "small again"), Succeeds());
  EXPECT_THAT(out_->Write("one more", How::kNew, "x"), Succeeds());
  for (int i = 0; i < 998; ++i) {
    ASSERT_THAT(out_->Write(std::to_string(i), How::kNew, ""), Succeeds());
  }
  EXPECT_THAT(out_->Write("last", How::kNew, "x"), FailsWith(ErrorCode::kLimit, "1,000 already"));
}

TEST_F(OutFolderTest, AFolderWithFilesIsRefused) {  // REC-83
  EXPECT_TRUE(OutFolder::Open(path_));
  ASSERT_THAT(out_->Write("a", How::kNew, "x"), Succeeds());
  EXPECT_THAT(OutFolder::Open(path_), FailsWith(ErrorCode::kUsage, "holds files already"));
  const auto again = OutFolder::Open(path_, OutFolder::Held::kOfThisRun);  // REC-69
  ASSERT_TRUE(again);
  EXPECT_THAT((*again)->Write("a", How::kAppend, "y"), Succeeds());
  EXPECT_EQ(*ReadFile(path_ + "/a"), "y");
  std::filesystem::create_symlink("/etc/passwd", path_ + "/link");
  EXPECT_FALSE((*again)->Write("link", How::kNew, "y"));
  EXPECT_THAT(OutFolder::Open(path_ + "/a"), FailsWith(ErrorCode::kUsage, "no folder"));
}

}  // namespace
}  // namespace dossier::ask
