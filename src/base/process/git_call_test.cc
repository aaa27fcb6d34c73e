#include "base/process/git_call.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "base/files/file.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

class GitCallTest : public ::testing::Test {
 protected:
  GitCallTest() {
    setenv("HOME", home_.path().c_str(), 1);
    EXPECT_TRUE(MakeFolders(root()));
    Sh("git init -q -b main . && git config user.name A && git config user.email a@b && "
       "echo one > file && git add file && git commit -qm one && touch -d 2001-01-01 file");
  }

  std::string root() const { return home_.path() + "/repository"; }
  std::string marker() const { return home_.path() + "/ran"; }

  // Git as anybody runs it.
  void Sh(const std::string& line) const {
    const auto done = RunProcess({.argv = {"sh", "-c", line}, .folder = root()});
    EXPECT_TRUE(done && done->exit_code == 0) << line << (done ? done->err : "");
  }
  ProcessResult Call(std::vector<std::string> arguments) const {
    auto done = CallGit({.folder = root(), .arguments = std::move(arguments)});
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : ProcessResult{};
  }

  TempFolder home_ = *TempFolder::Make("git-call");
};

TEST_F(GitCallTest, FiltersOfAnyNameDoNotRun) {  // FLT-81
  for (const char* name : {"x", "a=b", "a.b.c", "UPPER", "", "sp ace", "quo\\\"te"}) {
    SCOPED_TRACE(name);
    const std::string attribute = ReplaceAll(ReplaceAll(name, "\\", ""), " ", "");
    ASSERT_TRUE(WriteFileAtomic(root() + "/.gitattributes", "* filter=" + attribute + "\n"));
    const std::string config = root() + "/.git/config";
    const std::string before = *ReadFile(config);
    ASSERT_TRUE(WriteFileAtomic(
        config, before + fmt::format("[filter \"{}\"]\n\tclean = \"touch {}; cat\"\n"
                                     "\tsmudge = \"touch {}; cat\"\n\trequired = true\n",
                                     name, marker(), marker())));
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"status"},
                                                      {"add", "-A"},
                                                      {"ls-files", "-m"},
                                                      {"checkout", "-f", "HEAD", "--", "file"},
                                                      {"update-index", "--refresh"}}) {
      Sh("touch -d 2001-01-01 file");
      Call(arguments);
      EXPECT_FALSE(Exists(marker())) << arguments[0];
    }
    ASSERT_TRUE(WriteFileAtomic(config, before));
  }
}

// Git compares such entries with their files before it writes the index, whichever command does.
TEST_F(GitCallTest, AnIndexThatIsOlderThanItsEntriesRunsNoFilter) {  // FLT-81
  Sh("echo '* filter=x' > .gitattributes && echo three > file && git add -A && "
     "touch -d 2001-01-01 .git/index && git config filter.x.clean 'touch " +
     marker() + "; cat'");
  EXPECT_EQ(Call({"write-tree"}).exit_code, 0);
  EXPECT_FALSE(Exists(marker()));
}

TEST_F(GitCallTest, AFilterThatIsRequiredIsNoErrorEither) {  // FLT-81
  Sh("git config filter.x.clean false && git config filter.x.required true && "
     "echo '* filter=x' > .gitattributes");
  EXPECT_EQ(Call({"add", "-A"}).exit_code, 0);
  EXPECT_EQ(Call({"cat-file", "blob", ":file"}).out, "one\n");
}

TEST_F(GitCallTest, MergesAreGitsOwn) {  // FLT-113
  Sh("seq 1 20 > file && git add -A && git commit -qm base && git checkout -qb side && "
     "sed -i '1 s/.*/first/' file && git commit -qam side && git checkout -q main && "
     "sed -i '20 s/.*/last/' file && git commit -qam last && "
     "echo '* merge=x' > .git/info/attributes && "
     "git config merge.x.driver 'touch " +
     marker() + "; true'");
  const ProcessResult merged = Call({"merge-tree", "--write-tree", "main", "side"});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  const std::string tree(TrimSpace(merged.out));
  const std::string text = Call({"cat-file", "blob", tree + ":file"}).out;
  EXPECT_TRUE(text.starts_with("first\n2\n") && text.ends_with("19\nlast\n")) << text;
  EXPECT_FALSE(Exists(marker()));
}

TEST_F(GitCallTest, AConflictUnderADriverIsAConflict) {  // FLT-113
  Sh("git checkout -qb side && echo two > file && git commit -qam two && git checkout -q main && "
     "echo three > file && git commit -qam three && echo '* merge=x' > .git/info/attributes && "
     "git config merge.x.driver true");
  EXPECT_EQ(Call({"merge-tree", "--write-tree", "main", "side"}).exit_code, 1);
}

TEST_F(GitCallTest, NothingOfOursLeadsGitElsewhere) {  // FLT-118
  for (const char* name : {"GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_WORK_TREE",
                           "GIT_CONFIG_GLOBAL", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND"}) {
    setenv(name, "/nowhere", 1);
  }
  const ProcessResult status = Call({"status", "--porcelain"});
  for (const char* name : {"GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_WORK_TREE",
                           "GIT_CONFIG_GLOBAL", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND"}) {
    unsetenv(name);
  }
  EXPECT_EQ(status.exit_code, 0) << status.err;
}

TEST_F(GitCallTest, SignersAreTheUsersOwn) {  // FLT-81
  Sh("git config gpg.program 'touch " + marker() +
     "' && "
     "git config --global gpg.program /usr/local/bin/mine");
  const auto settings = [&](GitCall::Starts starts) {
    const auto spec = PlanGitCall(
        {.folder = root(), .arguments = {"commit-tree", "HEAD^{tree}"}, .starts = starts});
    EXPECT_TRUE(spec);
    return Join(*spec->environment, "\n");
  };
  const std::string signing = settings(GitCall::Starts::kSigner);
  EXPECT_NE(signing.find("=/usr/local/bin/mine"), std::string::npos);
  EXPECT_EQ(signing.find("touch"), std::string::npos);
  EXPECT_EQ(settings(GitCall::Starts::kNothing).find("/mine"), std::string::npos);
}

TEST_F(GitCallTest, SettingsThatGitCannotReadAreItsComplaint) {
  Sh("echo '[broken' >> .git/config");
  EXPECT_NE(Call({"status"}).err.find("bad config"), std::string::npos);
  EXPECT_THAT(PlanGitCall({.folder = root(), .arguments = {"status"}}),
              FailsWith(ErrorCode::kFailed, "bad config"));
}

TEST_F(GitCallTest, OthersKeepWhatTheUserHasSet) {  // FLT-81
  Sh("git config --global filter.lfs.clean 'lfs clean' && git config filter.mine.clean evil && "
     "git config --global alias.st status && git config alias.st '!evil' && "
     "git config diff.external evil && git config core.sshCommand evil");
  const std::vector<GitSetting> walls = GitWallsFor(root());
  EXPECT_THAT(walls, Contains(Pair("filter.mine.clean", "")));
  EXPECT_THAT(walls, Contains(Pair("alias.st", "status")));
  EXPECT_THAT(walls, Contains(Pair("core.sshcommand", "ssh")));
  EXPECT_THAT(walls, Not(Contains(Pair("filter.lfs.clean", ::testing::_))));
  for (const auto& [key, value] : walls) EXPECT_EQ(value.find("evil"), std::string::npos) << key;
  EXPECT_THAT(GitWallsFor(home_.path()), IsEmpty());
}

TEST(AddGitWallsTest, SettingsThatAreThereStay) {
  std::vector<std::string> environment = {"A=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x.y",
                                          "GIT_CONFIG_VALUE_0=z", "GIT_PROXY_COMMAND=mine"};
  AddGitWalls({{"core.fsmonitor", "false"}}, &environment);
  EXPECT_THAT(environment,
              ElementsAre("A=1", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_VALUE_0=z",
                          "GIT_PROXY_COMMAND=mine", "GIT_CONFIG_COUNT=2",
                          "GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false"));
}

}  // namespace
}  // namespace dossier
