#include "sandbox/jail/control_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"
#include "sandbox/jail/jail.h"
#include "testing/jail_folder.h"
#include "testing/result_matchers.h"
#include "testing/without_root_powers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr auto kHost = ControlFiles::View::kHost;
constexpr auto kAll = ControlFiles::Depth::kAll;
constexpr auto kTop = ControlFiles::Depth::kTop;

class ControlFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make("dossier-control");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
  }

  std::string Place(std::string_view name) const {
    return fmt::format("{}/{}", folder_->path(), name);
  }
  void Write(const std::string& name, std::string_view text = "x\n") const {
    const std::string path = Place(name);
    ASSERT_THAT(MakeFolders(path.substr(0, path.rfind('/'))), Succeeds());
    ASSERT_THAT(WriteFileAtomic(path, text), Succeeds());
  }
  bool There(std::string_view name) const {
    struct stat info;
    return lstat(Place(name).c_str(), &info) == 0;
  }
  void Move(std::string_view from, std::string_view to) const {
    ASSERT_EQ(rename(Place(from).c_str(), Place(to).c_str()), 0);
  }

  ControlFiles Find() const { return ControlFiles::Find({{folder_->path(), folder_->path()}}); }
  std::vector<std::string> Found(const ControlFiles& files) const {
    std::vector<std::string> names;
    for (const auto& file : files.found()) names.push_back(file.host.substr(Place("").size()));
    return names;
  }

  std::optional<TempFolder> folder_;
};

TEST_F(ControlFilesTest, ThoseOfAllDepthsAreFoundButNoLinks) {  // FLT-86
  Write(".git/config");
  Write(".git/modules/a/HEAD");
  Write("dossier.yml");
  Write("src/DOSSIER.YML");
  Write("src/deep/lib/.git", "gitdir: ../x\n");
  Write("src/.dossier/prompts/x");
  Write("bare/HEAD");
  Write("bare/objects/x");
  Write("bare/refs/x");
  Write("linked/HEAD");
  Write("linked/commondir");
  Write("data/HEAD");
  Write("data/objects/x");
  Write("plain.git/x");
  ASSERT_EQ(symlink(Place("data").c_str(), Place("data/.git").c_str()), 0);
  const ControlFiles files = Find();
  EXPECT_TRUE(files.complete());
  EXPECT_THAT(Found(files),
              UnorderedElementsAre(".git", "dossier.yml", "src/DOSSIER.YML", "src/deep/lib/.git",
                                   "src/.dossier", "bare", "linked"));
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), IsEmpty());  // the link is as known as the others
  EXPECT_TRUE(There("data/.git"));
}

TEST_F(ControlFilesTest, WhoeverNamesOneMeansIt) {  // FLT-86
  Write(".git/modules/a/HEAD");
  Write(".git/modules/a/objects/x");
  Write(".git/modules/a/refs/x");
  const std::string git = Place(".git");
  EXPECT_THAT(ControlFiles::Find({{git, git}}).found(), IsEmpty());
}

TEST_F(ControlFilesTest, NewOnesGetAnotherNameAtAnyDepth) {  // FLT-86
  Write("src/a.txt");
  Write("old/.git/config");
  const ControlFiles files = Find();
  Write(".git/hooks/pre-commit");
  Write("dossier.yml");
  Write("src/.dossier/dossier.yml");
  Write("src/bare/HEAD");
  Write("src/bare/objects/x");
  Write("src/bare/refs/x");
  ASSERT_EQ(symlink("elsewhere", Place("src/.git").c_str()), 0);
  EXPECT_THAT(files.SetAsideNew(kHost, kTop),
              UnorderedElementsAre(Place(".git") + " is now .git.set-aside-1",
                                   Place("dossier.yml") + " is now dossier.yml.set-aside-1"));
  Write(".git/again");
  const auto lines = files.SetAsideNew(kHost, kAll);
  EXPECT_THAT(lines, Contains(Place(".git") + " is now .git.set-aside-2"));
  EXPECT_THAT(lines, Contains(Place("src/bare/HEAD") + " is now HEAD.set-aside-1"));
  for (const char* name : {".git", "dossier.yml", "src/.dossier", "src/.git", "src/bare/HEAD"}) {
    EXPECT_FALSE(There(name)) << name;
  }
  // Nobody finds the content of a folder that was set aside either.
  EXPECT_TRUE(There("src/.dossier.set-aside-1/dossier.yml.set-aside-1"));
  EXPECT_TRUE(There(".git.set-aside-1/hooks/pre-commit"));
  EXPECT_TRUE(There("old/.git/config"));
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), IsEmpty());
}

TEST_F(ControlFilesTest, ARepositoryThatIsSetAsideIsNoneUnderItsNewNameEither) {  // FLT-86
  const ControlFiles files = Find();
  Write(".git/HEAD");
  Write(".git/objects/x");
  Write(".git/refs/x");
  EXPECT_EQ(files.SetAsideNew(kHost, kAll).size(), 2u);
  EXPECT_TRUE(There(".git.set-aside-1/HEAD.set-aside-1"));
}

TEST_F(ControlFilesTest, AnotherFolderInThePlaceOfOneIsSeenThrough) {  // FLT-86
  Write("sub/.git/config");
  ASSERT_EQ(symlink("sub", Place(".git").c_str()), 0);
  const ControlFiles files = Find();
  Move("sub", "moved");
  Write("sub/.git/config", "planted");
  ASSERT_EQ(unlink(Place(".git").c_str()), 0);
  ASSERT_EQ(symlink("sub", Place(".git").c_str()), 0);
  const auto lines = files.SetAsideNew(kHost, kAll);
  EXPECT_THAT(lines,
              UnorderedElementsAre(HasSubstr("/sub/.git is now"), HasSubstr("/.git is now")));
  EXPECT_TRUE(There("moved/.git/config"));  // the user's own, elsewhere
}

TEST_F(ControlFilesTest, WhatTheUserReplacesStays) {  // FLT-86: an editor writes a new file
  Write("dossier.yml", "one");
  const ControlFiles files = Find();
  Write("dossier.yml", "two");
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), IsEmpty());
  EXPECT_EQ(*ReadFile(Place("dossier.yml")), "two");
}

TEST_F(ControlFilesTest, AClosedFolderHidesNothing) {  // FLT-86
  const ControlFiles files = Find();
  Write("closed/in/.git/config");
  ASSERT_EQ(chmod(Place("closed/in").c_str(), 0111), 0);
  ASSERT_EQ(chmod(Place("closed").c_str(), 0), 0);
  const dossier::testing::WithoutRootPowers as_a_user;
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), ElementsAre(HasSubstr("/closed/in/.git is now")));
}

TEST_F(ControlFilesTest, TheFolderItselfMayBeClosedToo) {  // FLT-86
  const ControlFiles files = Find();
  Write(".git/config");
  ASSERT_EQ(chmod(Place("").c_str(), 0), 0);
  const dossier::testing::WithoutRootPowers as_a_user;
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), ElementsAre(HasSubstr("/.git is now")));
}

TEST_F(ControlFilesTest, TheNewNameCannotBeTaken) {  // FLT-86
  const ControlFiles files = Find();
  for (int i = 0; i < 30; ++i) Write(fmt::format(".git.set-aside-{}", i));
  Write(".git/config");
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), ElementsAre(HasSubstr("/.git is now")));
  EXPECT_FALSE(There(".git"));
}

TEST_F(ControlFilesTest, LinksLeadNowhere) {  // FLT-86
  const auto other = TempFolder::Make("dossier-control-other");
  ASSERT_THAT(other, Succeeds());
  const ControlFiles files = Find();
  ASSERT_THAT(MakeFolders(other->path() + "/.git"), Succeeds());
  ASSERT_EQ(symlink(other->path().c_str(), Place("link").c_str()), 0);
  EXPECT_THAT(files.SetAsideNew(kHost, kAll), IsEmpty());
  EXPECT_TRUE(Exists(other->path() + "/.git"));
}

// The same through the jail.

class JailControlFilesTest : public ControlFilesTest {
 protected:
  Exit Shell(std::string script) {
    spec_.write = {folder_->path()};
    spec_.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent"};
    const std::string argv[] = {"sh", "-c", std::move(script)};
    auto exit = RunJailed(spec_, argv);
    if (exit) return std::move(*exit);
    ADD_FAILURE() << exit.error().message;
    return {};
  }
  void SetUp() override {
    ControlFilesTest::SetUp();
    dossier::testing::FitForPrograms(folder_->path());
  }
  void GiveToAnother() { dossier::testing::GiveToAnother(folder_->path()); }
  bool Walled() { return Shell("true").report.Applied("namespaces"); }

  JailSpec spec_;
};

TEST_F(JailControlFilesTest, WhatIsThereCanOnlyBeRead) {  // FLT-86
  Write(".git/config", "old\n");
  Write(".dossier/prompts/x", "old\n");
  Write("dossier.yml", "old\n");
  Write("vendor/lib/.git/config", "old\n");
  Write("vendor/lib/code.c", "old\n");
  Write("src/bare/HEAD", "old\n");
  Write("src/bare/objects/x", "old\n");
  Write("src/bare/refs/x", "old\n");
  if (!Walled()) GTEST_SKIP() << "needs namespaces";
  const Exit exit = Shell(
      "cat .git/config; mkdir .git/hooks; echo new > .git/config; echo new > .dossier/prompts/x; "
      "echo new > dossier.yml; echo new > vendor/lib/.git/config; echo new > src/bare/config; "
      "mv .git g; rm -rf .dossier; rm -f dossier.yml; mv dossier.yml d; ln dossier.yml hard; "
      "echo new > d2; mv d2 dossier.yml; chmod 777 .git/config; rm -rf vendor/lib/.git; "
      "echo new > vendor/lib/code.c; echo new > src/new.c; echo done");
  EXPECT_EQ(exit.out, "old\ndone\n") << exit.err;
  EXPECT_EQ(exit.set_aside, 0) << exit.err;
  for (const char* name : {".git/config", ".dossier/prompts/x", "dossier.yml",
                           "vendor/lib/.git/config", "src/bare/HEAD"}) {
    EXPECT_EQ(ReadFile(Place(name)).value_or("gone"), "old\n") << name;
  }
  EXPECT_FALSE(There(".git/hooks"));
  EXPECT_FALSE(There("src/bare/config"));
  EXPECT_EQ(ReadFile(Place("vendor/lib/code.c")).value_or(""), "new\n");
  EXPECT_TRUE(There("src/new.c"));
  EXPECT_THAT(exit.report.gaps, IsEmpty());
}

TEST_F(JailControlFilesTest, WhatIsNotThereCannotBeMade) {  // FLT-86
  GiveToAnother();
  for (const char* disabled : {"", "namespaces"}) {
    spec_.disabled_layers = {disabled};
    const Exit exit = Shell(
        "mkdir -p .git/hooks .dossier/prompts src; echo evil > .git/hooks/pre-commit; "
        "echo evil > dossier.yml; git init -q src/new; mkdir shut; git init -q shut/x; "
        "chmod 0 shut; echo done");
    EXPECT_EQ(exit.out, "done\n") << exit.err;
    EXPECT_GE(exit.set_aside, 5) << disabled;
    EXPECT_THAT(exit.err, HasSubstr("dossier: a program in a jail may not make this: "));
    EXPECT_THAT(exit.err, HasSubstr(" is now "));
    for (const char* name : {".git", ".dossier", "dossier.yml", "src/new/.git", "shut/x/.git"}) {
      EXPECT_FALSE(There(name)) << name << " " << disabled;
    }
    EXPECT_TRUE(There("src/new"));
    for (const auto& entry : std::filesystem::directory_iterator(folder_->path())) {
      ASSERT_THAT(RemoveAll(entry.path().string()), Succeeds());
    }
  }
}

TEST_F(JailControlFilesTest, AtTheTopItDoesNotLastUntilTheEnd) {  // FLT-86: a prompt that runs git
  const Exit exit = Shell("mkdir -p .git/hooks; while [ -e .git ]; do sleep 0.01; done; echo gone");
  EXPECT_EQ(exit.out, "gone\n");
  EXPECT_EQ(exit.set_aside, 1);
}

TEST_F(JailControlFilesTest, AProgramThatIsStoppedLeavesNoneEither) {  // FLT-86
  spec_.limits.wall = Millis(1'000);
  const Exit exit = Shell("mkdir -p a/b/.git/hooks; trap '' TERM; while :; do sleep 1000; done");
  EXPECT_TRUE(exit.timed_out());
  EXPECT_FALSE(There("a/b/.git"));
  EXPECT_TRUE(There("a/b/.git.set-aside-1"));
}

TEST_F(JailControlFilesTest, AFolderThatIsNamedItselfMayBeWritten) {  // FLT-86
  Write(".git/config", "old\n");
  for (const char* name : {".git", ".git/config"}) dossier::testing::FitForPrograms(Place(name));
  spec_.mounts = {{Place(".git"), Place(".git"), JailMount::Access::kWrite}};
  EXPECT_EQ(Shell("echo new > .git/config").set_aside, 0);
  EXPECT_EQ(*ReadFile(Place(".git/config")), "new\n");
}

TEST_F(JailControlFilesTest, WithoutNamespacesTheReportSaysWhatIsOpen) {  // FLT-86, FLT-89
  constexpr const char* kOpen =
      ".git, .dossier and dossier.yml of the folders that may be written can be changed";
  GiveToAnother();
  spec_.disabled_layers = {"namespaces"};
  EXPECT_THAT(Shell("true").report.gaps,
              UnorderedElementsAre("file names visible",
                                   "modes and times of the user's files can be changed"));
  Write(".git/config");
  const std::string argv[] = {"true"};
  EXPECT_THAT(RunJailed(spec_, argv),
              FailsWith(ErrorCode::kUnavailable, ".git can be changed"));
  spec_.mode = IsolationMode::kDegraded;
  EXPECT_THAT(Shell("true").report.gaps, Contains(kOpen));
}

TEST_F(JailControlFilesTest, AFolderMadeForTheProgramMayHoldThem) {  // FLT-86: research clones
  Write("work/x");
  dossier::testing::FitForPrograms(Place("work"));
  spec_.mounts = {{Place("work"), Place("work"), JailMount::Access::kWriteAll}};
  spec_.folder = Place("work");
  const std::string argv[] = {"sh", "-c", "git init -q ."};
  spec_.environment = {"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
  const auto exit = RunJailed(spec_, argv);
  ASSERT_THAT(exit, Succeeds());
  EXPECT_EQ(exit->status, 0) << exit->err;
  EXPECT_TRUE(There("work/.git/HEAD"));
}

}  // namespace
}  // namespace dossier::sandbox
