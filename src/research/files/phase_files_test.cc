#include "research/files/phase_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"
#include "research/files/run_folder.h"
#include "testing/result_matchers.h"
#include "testing/without_root_powers.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// RSP-23: links that a program leaves in its workspace lead nowhere when its next phase begins.
class WorkspaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(MakeFolders(workspace_), Succeeds());
    ASSERT_THAT(MakeFolders(outside_), Succeeds());
    ASSERT_THAT(WriteFileAtomic(outside_ + "/secret", "x"), Succeeds());
  }
  static Artifacts OneFile(const std::string& path) {
    Artifacts artifacts;
    artifacts.files.push_back({.path = path, .content = "text"});
    return artifacts;
  }

  TempFolder temp_ = *TempFolder::Make("workspace");
  const std::string workspace_ = temp_.path() + "/w", outside_ = temp_.path() + "/outside";
};

TEST_F(WorkspaceTest, AFileOfOursTakesThePlaceOfWhateverIsThere) {
  struct Case {
    std::string_view name;
    void (*plant)(const std::string& path, const std::string& outside);
  };
  const Case cases[] = {
      {"link",
       [](const auto& path, const auto& out) { fs::create_symlink(out + "/secret", path); }},
      {"dangling",
       [](const auto& path, const auto& out) { fs::create_symlink(out + "/new", path); }},
      {"folder", [](const auto& path, const auto&) { fs::create_directories(path + "/deep"); }},
      {"pipe", [](const auto& path, const auto&) { mkfifo(path.c_str(), 0600); }},
      {"to_a_pipe",
       [](const auto& path, const auto& out) {
         mkfifo((out + "/fifo").c_str(), 0600);
         fs::create_symlink(out + "/fifo", path);
       }},
      {"nothing", [](const auto&, const auto&) {}},
  };
  for (const Case& c : cases) {
    const std::string name(c.name);
    c.plant(workspace_ + "/" + name, outside_);
    EXPECT_THAT(WriteOwnFile(workspace_, name, "ours"), Succeeds()) << name;
    EXPECT_EQ(ReadFile(workspace_ + "/" + name).value_or(""), "ours") << name;
  }
  EXPECT_EQ(ReadFile(outside_ + "/secret").value_or(""), "x");
  EXPECT_FALSE(Exists(outside_ + "/new"));
}

TEST_F(WorkspaceTest, OnlyRegularFilesInsideAreRead) {
  ASSERT_THAT(WriteFileAtomic(workspace_ + "/file", "ours"), Succeeds());
  fs::create_symlink("file", workspace_ + "/inner");
  fs::create_symlink(outside_ + "/secret", workspace_ + "/outer");
  fs::create_directory_symlink(outside_, workspace_ + "/folder");
  mkfifo((workspace_ + "/pipe").c_str(), 0600);
  EXPECT_EQ(ReadWorkspaceFile(workspace_, "file", 10).value_or(""), "ours");
  EXPECT_EQ(ReadWorkspaceFile(workspace_, "inner", 10).value_or(""), "ours");
  for (const std::string_view path : {"outer", "folder/secret", "pipe", "."}) {
    EXPECT_THAT(ReadWorkspaceFile(workspace_, std::string(path), 10),
                FailsWith(ErrorCode::kInvalidArgument,
                          fmt::format("{} is no file of the workspace", path)));
  }
  EXPECT_THAT(ReadWorkspaceFile(workspace_, "absent", 10), FailsWith(ErrorCode::kNotFound, ""));
  EXPECT_THAT(ReadWorkspaceFile(workspace_, "file", 2), FailsWith(ErrorCode::kTooLong, ""));
}

TEST_F(WorkspaceTest, TheFolderOfResultsIsMadeAnewWhereALinkIs) {
  for (const std::string& target : {outside_, outside_ + "/absent"}) {
    fs::remove_all(workspace_ + "/working");
    fs::create_directory_symlink(target, workspace_ + "/working");
    ASSERT_THAT(PrepareWorkspace(OneFile("a.c"), workspace_), Succeeds());
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(workspace_ + "/working")));
    EXPECT_TRUE(Exists(outside_ + "/secret"));
  }
}

TEST_F(WorkspaceTest, APipeInPlaceOfAFileIsNotWaitedFor) {
  mkfifo((workspace_ + "/a.c").c_str(), 0600);
  ASSERT_THAT(PrepareWorkspace(OneFile("a.c"), workspace_), Succeeds());
  EXPECT_EQ(ReadFile(workspace_ + "/a.c").value_or(""), "text");
}

TEST_F(WorkspaceTest, FoldersThatShutTheirOwnerOutAreCopiedAsFarAsTheyCanBe) {
  const ::dossier::testing::WithoutRootPowers shut_out;
  for (const std::string_view name : {"read_only", "shut", "listed"}) {
    ASSERT_THAT(MakeFolders(fmt::format("{}/{}/in", workspace_, name)), Succeeds());
    ASSERT_THAT(WriteFileAtomic(fmt::format("{}/{}/in/file", workspace_, name), "x"), Succeeds());
  }
  ASSERT_THAT(WriteFileAtomic(workspace_ + "/secret", "x"), Succeeds());
  chmod((workspace_ + "/secret").c_str(), 0);
  chmod((workspace_ + "/read_only/in").c_str(), 0500);
  chmod((workspace_ + "/read_only").c_str(), 0500);
  chmod((workspace_ + "/shut").c_str(), 0);
  chmod((workspace_ + "/listed").c_str(), 0400);
  const std::string copy = temp_.path() + "/copy";
  EXPECT_THAT(CopyWorkspace(workspace_, copy), Succeeds());
  EXPECT_EQ(ReadFile(copy + "/read_only/in/file").value_or(""), "x");
  EXPECT_EQ(fs::status(copy + "/read_only").permissions(), fs::perms(0500));
  EXPECT_FALSE(Exists(copy + "/secret"));
  for (const std::string& folder : {workspace_, copy}) {  // so that they can be removed
    for (const std::string_view name : {"read_only", "read_only/in", "shut", "listed"}) {
      chmod(fmt::format("{}/{}", folder, name).c_str(), 0700);
    }
  }
}

TEST_F(WorkspaceTest, FoldersNestedBeyondTheLongestPathFailNoCopy) {  // FLT-68
  ASSERT_THAT(WriteFileAtomic(workspace_ + "/result", "x"), Succeeds());
  const std::string name(100, 'd');
  UniqueFd folder(open(workspace_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 45; ++i) {
    ASSERT_EQ(mkdirat(folder.get(), name.c_str(), 0700), 0);
    folder = UniqueFd(openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  const std::string copy = temp_.path() + "/copy";
  EXPECT_THAT(CopyWorkspace(workspace_, copy), Succeeds());
  EXPECT_EQ(ReadFile(copy + "/result").value_or(""), "x");
  EXPECT_THAT(RemoveAll(workspace_), Succeeds());
}

TEST_F(WorkspaceTest, AFileInPlaceOfAFolderThatIsNeededIsAFaultOfTheProgram) {  // RSP-27
  EXPECT_THAT(PrepareWorkspace(OneFile("working"), workspace_),
              FailsWith(ErrorCode::kInvalidArgument, "\"working\": a file stands in the way"));
  Artifacts artifacts = OneFile("data");
  artifacts.expected_outputs = {"data/x.npy"};
  EXPECT_THAT(PrepareWorkspace(artifacts, workspace_),
              FailsWith(ErrorCode::kInvalidArgument, "\"data\": a file stands in the way"));
}

TEST_F(WorkspaceTest, APlaceIsInsideWhateverItIsCalled) {
  fs::create_directories(workspace_ + "/a");
  fs::create_directory_symlink("..", workspace_ + "/a/up");
  const fs::path root = fs::canonical(workspace_);
  EXPECT_EQ(PlaceInside(root, "."), root);
  EXPECT_EQ(PlaceInside(root, "a/./up/new"), root / "new");
  EXPECT_EQ(PlaceInside(root, "a/up/.."), root / "a");  // judged by its names
  EXPECT_EQ(PlaceInside(root, "../outside"), std::nullopt);
  EXPECT_EQ(PlaceInside(root, "/etc"), std::nullopt);
}

}  // namespace
}  // namespace dossier::research
