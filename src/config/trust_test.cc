#include "config/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "testing/result_matchers.h"

namespace dossier::config {
namespace {

using ::dossier::testing::FailsWith;

class TrustTest : public ::testing::Test {
 protected:
  Result<TempFolder> folder_ = TempFolder::Make();
  TrustStore store_{folder_->path() + "/state", SystemClock()};
};

TEST_F(TrustTest, AnApprovalIsOfAPathAndItsBytes) {  // CON-15
  EXPECT_TRUE(store_.List()->empty()) << "no file yet";
  ASSERT_TRUE(store_.Approve("/repo/dossier.yml", "one"));
  ASSERT_TRUE(store_.Approve("/other/dossier.yml", "one"));
  ASSERT_TRUE(store_.Approve("/repo/dossier.yml", "two"));
  const auto found = store_.Find("/repo/dossier.yml");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->sha256, Sha256Hex("two"));
  EXPECT_EQ(*store_.Bytes(**found), "two");
  EXPECT_EQ(store_.List()->size(), 2u);
  EXPECT_TRUE(*store_.Revoke("/repo/dossier.yml"));
  EXPECT_FALSE(*store_.Revoke("/repo/dossier.yml"));
  EXPECT_FALSE(store_.Find("/repo/dossier.yml")->has_value());
}

// A layout may name a file of any ending as its template.
TEST_F(TrustTest, AllFilesOfPromptsAreSeen) {  // CON-15
  const std::string project = folder_->path() + "/.dossier";
  ASSERT_TRUE(MakeFolders(project + "/prompts/deep"));
  ASSERT_TRUE(WriteFileAtomic(project + "/prompts/deep/note.txt", "one"));
  const auto assets = ReadProjectAssets(project);
  ASSERT_TRUE(assets && *assets);
  EXPECT_THAT((*assets)->names, ::testing::ElementsAre("prompts/deep/note.txt"));
  ASSERT_EQ(symlink("/tmp", (project + "/prompts/sub").c_str()), 0);
  EXPECT_THAT(ReadProjectAssets(project), FailsWith(ErrorCode::kConfig, "sub is no regular file"));
}

TEST_F(TrustTest, OnlyTheOwnerReadsIt) {  // D17
  ASSERT_TRUE(store_.Approve("/repo/dossier.yml", "one"));
  struct stat info{};
  ASSERT_EQ(stat(store_.file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(TrustTest, ADamagedFileTrustsNobody) {  // CON-15
  ASSERT_TRUE(store_.Approve("/repo/dossier.yml", "one"));
  for (const char* text :
       {"", "[]", "{\"version\":2,\"files\":[]}",
        "{\"version\":1,\"files\":[{\"path\":\"/a\",\"sha256\":\"../../x\"}]}"}) {
    ASSERT_TRUE(WriteFileAtomic(store_.file(), text));
    EXPECT_THAT(store_.Find("/a"), FailsWith(ErrorCode::kDamaged, "remove it")) << text;
  }
}

TEST_F(TrustTest, ApprovalsAtOnceAreAllKept) {  // DESIGN 4.6
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      TrustStore own(folder_->path() + "/state", SystemClock());
      EXPECT_TRUE(own.Approve(fmt::format("/repo{}/dossier.yml", i), "x"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_.List()->size(), 8u);
}

TEST_F(TrustTest, RootsTrustWhatIsBelowThem) {  // CON-15
  ASSERT_TRUE(MakeFolders(folder_->path() + "/project/repo"));
  const std::string root = folder_->path() + "/project";
  char real[4096];
  ASSERT_TRUE(realpath(root.c_str(), real));
  const std::string file = std::string(real) + "/repo/dossier.yml";
  EXPECT_TRUE(IsBelowTrustRoot(file, root));
  EXPECT_TRUE(IsBelowTrustRoot(file, "/no/such:" + root + "/"));
  EXPECT_FALSE(IsBelowTrustRoot(file, root + "/rep"));
  EXPECT_FALSE(IsBelowTrustRoot(std::string(real) + "shop/dossier.yml", root));
  EXPECT_FALSE(IsBelowTrustRoot(file, "."));
  EXPECT_FALSE(IsBelowTrustRoot(file, ""));
}

}  // namespace
}  // namespace dossier::config
