#include "base/files/git_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/process/process.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

namespace fs = std::filesystem;
using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

class GitFoldersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(FindProgram("git")) << "scripts/setup installs it";
    Git({"init", "-q", path("own")});
    Commit("own");
  }

  std::string path(const std::string& name) const { return Canonical(folder_.path()) + "/" + name; }
  void Git(std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b", "-c",
                                 "protocol.file.allow=always"});
    const auto done = RunProcess({.argv = words});
    ASSERT_TRUE(done && done->exit_code == 0) << (done ? done->err : done.error().message);
  }
  void Commit(const std::string& name) {
    Git({"-C", path(name), "commit", "-q", "--allow-empty", "-m", "one"});
  }
  void Put(const std::string& name, std::string_view text) {
    fs::create_directories(fs::path(path(name)).parent_path());
    ASSERT_THAT(WriteFileAtomic(path(name), text), Succeeds());
  }

  TempFolder folder_ = *TempFolder::Make();
};

TEST_F(GitFoldersTest, WorkTreesAndSubmodulesLieElsewhereAndPointBack) {
  Git({"-C", path("own"), "worktree", "add", "-q", "-b", "linked", path("linked")});
  Git({"init", "-q", path("above")});
  Git({"-C", path("above"), "submodule", "--quiet", "add", path("own"), "sub"});
  for (const char* name : {"own", "linked", "above", "above/sub"}) {
    const auto found = FindGitFolders(path(name));
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->root, path(name));
    EXPECT_THAT(CheckGitFiles(*found), Succeeds()) << name;
  }
}

// FLT-83: a project must not show the user's other repositories.
TEST_F(GitFoldersTest, AnothersRepositoryIsNone) {
  Git({"-C", path("own"), "worktree", "add", "-q", "-b", "linked", path("linked")});
  Put("file/.git", "gitdir: " + path("own/.git") + "\n");
  Put("tree/.git", "gitdir: " + path("own/.git/worktrees/linked") + "\n");
  fs::create_directories(path("link"));
  fs::create_directory_symlink(path("own/.git"), path("link/.git"));
  Put("common/.git/HEAD", "ref: refs/heads/master\n");
  Put("common/.git/commondir", path("own/.git") + "\n");
  Put("common/.git/gitdir", path("common/.git") + "\n");
  for (const char* name : {"file", "tree", "link", "common"}) {
    EXPECT_FALSE(FindGitFolders(path(name))) << name;
    EXPECT_THAT(NoWorkTree(path(name)), HasSubstr("/.git leads to " + path(""))) << name;
  }
}

TEST_F(GitFoldersTest, ReferencesAreNoLinksToOthers) {  // FLT-83
  for (const char* name : {"refs", "HEAD", "refs/heads/x"}) {
    fs::remove_all(path("mine"));
    Git({"init", "-q", path("mine")});
    Commit("mine");
    const std::string place = path("mine/.git/") + name;
    fs::remove_all(place);
    fs::create_symlink(path("own/.git/") + (std::string(name) == "refs/heads/x" ? "HEAD" : name),
                       place);
    const auto found = FindGitFolders(path("mine"));
    ASSERT_TRUE(found) << name;
    EXPECT_THAT(CheckGitFiles(*found), FailsWith(ErrorCode::kRefused, "out of its repository"))
        << name;
  }
}

}  // namespace
}  // namespace dossier
