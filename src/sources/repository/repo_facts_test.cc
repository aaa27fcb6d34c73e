#include "sources/repository/repo_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/files/file.h"
#include "base/process/git_call.h"
#include "sources/header/header_source.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RepoFactsTest : public ::testing::Test {
 protected:
  // Runs git and returns its output without the newline.
  std::string Git(std::vector<std::string> arguments) {
    return GitIn(root(), std::move(arguments));
  }
  std::string GitIn(const std::string& folder, std::vector<std::string> arguments) {
    const auto done = CallGit(
        {.folder = folder,
         .arguments = std::move(arguments),
         .environment = {"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
                         "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL=/dev/null"},
         .starts = GitCall::Starts::kTransport});
    EXPECT_TRUE(done && done->exit_code == 0) << (done ? done->err : done.error().message);
    return done ? done->out.substr(0, done->out.find('\n')) : "";
  }
  void Commit(const std::string& subject) { Git({"commit", "-q", "--allow-empty", "-m", subject}); }
  void Init() { Git({"init", "-q", "-b", "main"}); }
  std::string root() const { return folder_.path(); }

  TempFolder folder_ = *TempFolder::Make("repo");
};

TEST_F(RepoFactsTest, BranchAndCommitAreGitsOwn) {  // REP-9
  Init();
  Commit("one");
  const RepoFacts facts = RepoWatch(root()).Get();
  EXPECT_EQ(facts, (RepoFacts{.branch = "main", .head = Git({"rev-parse", "--short", "HEAD"})}));
}

TEST_F(RepoFactsTest, OddStatesHaveNames) {  // REP-9, A8
  const RepoFacts none = RepoWatch(root()).Get();
  EXPECT_EQ(none.branch, "HEAD");
  EXPECT_EQ(none.head, "HEAD");
  EXPECT_THAT(none.problem, HasSubstr("is in no git repository"));

  Git({"init", "-q", "-b", "feature/x"});
  EXPECT_EQ(RepoWatch(root()).Get(), (RepoFacts{.branch = "feature/x"}));  // unborn

  Commit("one");
  Git({"tag", "feature/x"});
  const std::string head = Git({"rev-parse", "--short", "HEAD"});
  EXPECT_EQ(RepoWatch(root()).Get(), (RepoFacts{.branch = "feature/x", .head = head}));

  Git({"checkout", "-q", "--detach"});
  EXPECT_EQ(RepoWatch(root()).Get(), (RepoFacts{.head = head}));

  Git({"worktree", "add", "-q", "-b", "linked", root() + "/linked"});
  RepoWatch linked(root() + "/linked");
  EXPECT_EQ(linked.Get(), (RepoFacts{.branch = "linked", .head = head}));
  EXPECT_EQ(linked.root(), root() + "/linked");
}

TEST_F(RepoFactsTest, AHundredHeadersStartGitOnceAndACommitShows) {  // REP-12, A9
  Init();
  Commit("one");
  RepoWatch watch(root());
  const std::string before = watch.Get().head;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(watch.Get().head, before);
  EXPECT_LE(watch.git_starts(), 3u);
  Commit("two");
  EXPECT_EQ(watch.Get().head, Git({"rev-parse", "--short", "HEAD"}));
  EXPECT_NE(watch.Get().head, before);
  Git({"pack-refs", "--all"});
  Git({"checkout", "-q", "-b", "other"});
  EXPECT_EQ(watch.Get().branch, "other");
  Git({"commit", "-q", "--amend", "--allow-empty", "-m", "three"});
  EXPECT_EQ(watch.Get().head, Git({"rev-parse", "--short", "HEAD"}));
}

TEST_F(RepoFactsTest, ManyThreadsShareOneAnswer) {  // REP-12
  Init();
  Commit("one");
  RepoWatch watch(root());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { watch.Get(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(watch.git_starts(), 1u);
}

TEST_F(RepoFactsTest, WhatIsAskedForIsRead) {  // REP-19
  Init();
  Commit("one: \"x\"");
  Commit("two");
  RepoWatch watch(root());
  RepoFacts facts = watch.Get({.dirty = true, .upstream = true, .commits = true});
  EXPECT_EQ(facts.dirty, false);
  EXPECT_EQ(facts.upstream, std::nullopt);
  EXPECT_THAT(facts.commits, ElementsAre("two", "one: \"x\""));
  Git({"branch", "up", "HEAD~1"});
  Git({"branch", "-q", "-u", "up"});
  ASSERT_TRUE(WriteFileAtomic(root() + "/a b.txt", "x"));
  facts = watch.Get({.changed = true, .upstream = true});
  EXPECT_EQ(facts.dirty, true);
  EXPECT_THAT(facts.changed, ElementsAre("a b.txt"));
  EXPECT_EQ(facts.upstream, (Upstream{.ahead = 1, .behind = 0}));
}

TEST_F(RepoFactsTest, EveryCommitCountsAndIsReadAsUtf8) {  // REP-7, REP-19
  Init();
  Git({"config", "i18n.logOutputEncoding", "ISO-8859-1"});
  Commit("one");
  Git({"commit", "-q", "--allow-empty", "--allow-empty-message", "-m", ""});
  Commit("Größe");
  EXPECT_THAT(RepoWatch(root()).Get({.commits = true}).commits, ElementsAre("Größe", "", "one"));
}

TEST_F(RepoFactsTest, WithoutACommitNothingIsAskedInVain) {  // REP-19, A8
  Init();
  RepoWatch watch(root());
  const RepoFacts facts = watch.Get({.upstream = true, .commits = true});
  EXPECT_EQ(watch.git_starts(), 1u);
  EXPECT_EQ(facts, (RepoFacts{.branch = "main"}));
}

TEST_F(RepoFactsTest, OnlyChangedFilesAreLookedForInNewFolders) {  // REP-15, REP-19
  Init();
  Commit("one");
  ASSERT_TRUE(MakeFolders(root() + "/new"));
  ASSERT_TRUE(WriteFileAtomic(root() + "/new/a", "x"));
  ASSERT_TRUE(WriteFileAtomic(root() + "/new/b", "x"));
  EXPECT_THAT(RepoWatch(root()).Get({.dirty = true}).changed, ElementsAre("new/"));
  EXPECT_THAT(RepoWatch(root()).Get({.changed = true}).changed, ElementsAre("new/a", "new/b"));
}

// Puts a git first on PATH that hangs in one of its commands.
class SlowGit {
 public:
  SlowGit(const std::string& folder, std::string_view command) : path_(getenv("PATH")) {
    const std::string script = fmt::format(
        "#!/bin/sh\ncase \"$*\" in *' {} '*) exec sleep 60;; esac\nPATH='{}'\nexec git \"$@\"\n",
        command, path_);
    EXPECT_TRUE(WriteFileAtomic(folder + "/git", script, 0700));
    setenv("PATH", fmt::format("{}:{}", folder, path_).c_str(), 1);
  }
  ~SlowGit() { setenv("PATH", path_.c_str(), 1); }

 private:
  const std::string path_;
};

TEST_F(RepoFactsTest, AnAnswerThatDoesNotComeIsAProblem) {  // REP-9, REP-19
  Init();
  Commit("one");
  const TempFolder programs = *TempFolder::Make("programs");
  for (const std::string_view command : {"status", "rev-list", "log"}) {
    const SlowGit slow(programs.path(), command);
    RepoWatch watch(root(), {}, Millis(1'000));
    const RepoFacts facts = watch.Get({.dirty = true, .upstream = true, .commits = true});
    EXPECT_EQ(facts.problem, fmt::format("git {} did not end within 1 s", command));
  }
}

TEST_F(RepoFactsTest, AGitThatHangsIsWaitedForOnce) {  // FLT-122
  Init();
  Commit("one");
  const TempFolder programs = *TempFolder::Make("programs");
  const SlowGit slow(programs.path(), "rev-parse");
  RepoWatch watch(root(), {}, Millis(500));
  const RepoFacts facts = watch.Get({.dirty = true, .upstream = true, .commits = true});
  EXPECT_EQ(facts.problem, "git rev-parse did not end within 0 s");
  EXPECT_EQ(watch.git_starts(), 1u);
}

TEST_F(RepoFactsTest, ABareRepositoryIsNamed) {  // FLT-122
  Git({"init", "-q", "--bare", "."});
  EXPECT_EQ(RepoWatch(root()).Get().problem,
            root() + " is a bare repository: it has no files; work in a clone of it");
}

TEST_F(RepoFactsTest, NothingOfTheRepositoryIsExecuted) {  // REP-11
  Init();
  Commit("one");
  Git({"config", "core.fsmonitor", "touch " + root() + "/ran"});
  Git({"config", "core.hooksPath", root()});
  ASSERT_TRUE(WriteFileAtomic(root() + "/file", "x"));
  RepoWatch(root()).Get({.changed = true, .upstream = true, .commits = true});
  EXPECT_FALSE(Exists(root() + "/ran"));
}

TEST_F(RepoFactsTest, OurOwnGitVariablesDoNotCount) {  // REP-11
  Init();
  Commit("one");
  setenv("GIT_DIR", "/nowhere", 1);
  const RepoFacts facts = RepoWatch(root()).Get();
  unsetenv("GIT_DIR");
  EXPECT_EQ(facts.branch, "main");
  EXPECT_EQ(facts.problem, "");
}

TEST_F(RepoFactsTest, AGitThatFailsIsAProblemAndNoEnd) {  // REP-9, section 6
  Init();
  Commit("one");
  Git({"config", "core.repositoryFormatVersion", "99"});
  const RepoFacts facts = RepoWatch(root()).Get();
  EXPECT_EQ(facts.head, "HEAD");
  EXPECT_THAT(facts.problem, HasSubstr("git rev-parse: "));
}

TEST_F(RepoFactsTest, AHeaderIsCollectedFromAFolderBelow) {  // section 3, A8
  Init();
  ASSERT_TRUE(MakeFolders(root() + "/src/deep"));
  ASSERT_TRUE(MakeFolders(root() + "/config"));
  ASSERT_TRUE(WriteFileAtomic(root() + "/config/tasks.edn",
                              "[{:id \"fact-001\" :summary \"s\" :targets [\"src\"]}]"));
  Commit("one");
  HeaderSource source(root() + "/src/deep", {});
  const auto state = source.Collect({.task_id = "fact-001"});
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->header.branch, "main");
  EXPECT_THAT(state->header.targets, ElementsAre("src"));
  EXPECT_THAT(state->warnings, ElementsAre(HasSubstr("there is no config/policy.edn")));
  const auto other = source.Collect({.targets = std::vector<std::string>{std::string(300, 'x')},
                                     .age_step = Millis(60'000),
                                     .now = Clock::Wall(std::chrono::seconds(179))});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_THAT(other->header.targets, ElementsAre(std::string(199, 'x') + "…"));  // REP-7
  EXPECT_EQ(other->now, Clock::Wall(std::chrono::seconds(120)));                 // REP-6
  EXPECT_THAT(source.Collect({.task_id = "fact-01"}),
              dossier::testing::FailsWith(ErrorCode::kNotFound,
                                          "there is no task fact-01; did you mean "
                                          "fact-001?"));
}

}  // namespace
}  // namespace dossier::sources
