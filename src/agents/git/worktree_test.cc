#include "agents/git/worktree.h"

#include <fmt/format.h>

#include <set>
#include <thread>

#include "testing/result_matchers.h"
#include "testing/test_repository.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A git that prints what `script` prints, for cases that no real one here produces.
std::string FakeGit(const TestRepository& repository, const std::string& script) {
  const std::string path = repository.folder() + "/fake-git";
  repository.Write(path, "#!/bin/sh\n" + script + "\n");
  chmod(path.c_str(), 0755);
  return path;
}

std::string UndoneIn(const Git& git) { return git.folders().common + "/dossier/undone"; }

TEST(GitTest, AMissingAnOldAndARefusingGitAreToldApart) {  // section 6
  const TestRepository repository;
  const GitFolders folders = *FindGitFolders(repository.root());
  EXPECT_THAT(Git::Open(folders, {.program = "no-such-git"}),
              FailsWith(ErrorCode::kFailed, "no-such-git is not on PATH"));
  EXPECT_THAT(
      Git::Open(folders, {.program = FakeGit(repository, "echo git version 2.37.9")}),
      FailsWith(ErrorCode::kFailed, "git version 2.37.9 is too old: install git 2.38 or newer"));
  GitFolders elsewhere = folders;
  elsewhere.common = repository.folder();
  EXPECT_THAT(Git::Open(elsewhere), FailsWith(ErrorCode::kFailed, "not a git repository"));
}

TEST(GitTest, NothingInheritedLeadsItElsewhere) {  // REP-11
  const TestRepository repository;
  setenv("GIT_DIR", "/nowhere", 1);
  setenv("GIT_AUTHOR_NAME", "Mallory", 1);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  const Git git =
      repository.OpenGit({.program = FakeGit(repository,
                                             "[ $2 = -c ] || exec git \"$@\"\n"
                                             "case \"$*\" in *version*|*rev-parse*) exec git "
                                             "\"$@\";; esac\nenv; echo \"$@\"")});
  unsetenv("GIT_DIR");
  unsetenv("GIT_AUTHOR_NAME");
  unsetenv("LC_ALL");
  const std::string seen = *git.Ask(
      {.git_dir = "/g", .work_tree = repository.root(), .index = "/i"}, {.arguments = {"status"}});
  for (const char* part :
       {"GIT_DIR=/g\n", "GIT_INDEX_FILE=/i\n", "LC_ALL=C\n", "GIT_OPTIONAL_LOCKS=0\n",
        "GIT_TERMINAL_PROMPT=0\n", "=core.fsmonitor\n", "=core.hooksPath\n"}) {
    EXPECT_NE(seen.find(part), std::string::npos) << part << " in " << seen;
  }
  EXPECT_EQ(seen.find("/nowhere"), std::string::npos);
  EXPECT_EQ(seen.find("Mallory"), std::string::npos);
  EXPECT_EQ(seen.find("de_DE"), std::string::npos);
}

TEST(GitTest, ACallThatHangsIsEnded) {
  const TestRepository repository;
  const std::string program =
      FakeGit(repository, "case \"$*\" in *status*) exec sleep 60;; esac\nexec git \"$@\"");
  const Git git = repository.OpenGit({.program = program, .timeout = Millis(200)});
  EXPECT_THAT(git.Ask(git.Common(), {.arguments = {"status"}}),
              FailsWith(ErrorCode::kTimeout, "git status took longer"));
}

TEST(WorktreeTest, IsAFullDetachedCheckoutThatIsGoneAfterwards) {  // REP-33
  const TestRepository repository;
  repository.Sh(
      "git config core.sparseCheckout true && mkdir -p .git/info && "
      "echo /docs/ > .git/info/sparse-checkout");
  const Git git = repository.OpenGit();
  std::string path, admin;
  {
    const Worktree worktree = repository.MakeWorktree(git);
    path = worktree.path();
    admin = worktree.admin();
    EXPECT_EQ(repository.Read(path + "/src/a.txt"), TestRepository::Lines(1, 40));
    EXPECT_EQ(repository.Sh("git rev-parse --abbrev-ref HEAD", path), "HEAD");
    EXPECT_EQ(worktree.tree(), repository.Sh("git rev-parse main^{tree}"));
  }
  EXPECT_FALSE(Exists(path));
  EXPECT_FALSE(Exists(admin));
  repository.ExpectSound();
}

// Git fails at another worktree's folder that is half made or half removed.
TEST(WorktreeTest, ManyAreMadeAndRemovedAtOnce) {  // REP-33, REP-A23
  const TestRepository repository;
  const Git git = repository.OpenGit();
  const StateFolder state = repository.OpenState();
  const std::string commit = repository.Head();
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 6; ++worker) {
    threads.emplace_back([&, worker] {
      for (int round = 0; round < 6; ++round) {
        const auto made =
            Worktree::Make(git, state,
                           {.path = fmt::format("{}/many/w{}", repository.folder(), worker),
                            .commit = commit,
                            .run = fmt::format("run-{}", worker)});
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_TRUE(Exists(made->path() + "/src/a.txt"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(repository.Sh("git worktree list | wc -l"), "1");
}

TEST(WorktreeTest, PathsAreBelowTheCacheAndApartByRepositoryRunAndRole) {  // REP-33
  const TestRepository repository;
  const Git git = repository.OpenGit();
  setenv("XDG_CACHE_HOME", "/cache", 1);
  const std::string engineer = *WorktreePath(git, "run-1", 3, Role::kEngineer);
  const std::string reviewer = *WorktreePath(git, "run-1", 3, Role::kReviewer);
  unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(engineer.starts_with("/cache/dossier/worktrees/repository-")) << engineer;
  EXPECT_TRUE(engineer.ends_with("/run-1/w3")) << engineer;
  EXPECT_EQ(reviewer, engineer + "-review");
}

TEST(WorktreeTest, TheAgentFolderIsEmptiedWhateverItIs) {  // REP-33: a committed APPROVED
  const TestRepository repository;
  repository.Write(".agent/APPROVED", "yes\n");
  repository.Sh("git add -A && git commit -qm approved");
  repository.Write(repository.folder() + "/outside/precious", "kept\n");
  const Git git = repository.OpenGit();
  const Worktree worktree = repository.MakeWorktree(git);
  const std::string outside = repository.folder() + "/outside";
  for (const std::string& line : {std::string("true"), std::string("rm -rf .agent"),
                                  std::string("rm -rf .agent && echo > .agent"),
                                  "rm -rf .agent && ln -s " + outside + " .agent",
                                  std::string("mkdir -p .agent/x/y && chmod 0 .agent/x")}) {
    repository.Sh(line, worktree.path());
    ASSERT_THAT(worktree.ResetAgentFolder(), Succeeds()) << line;
    EXPECT_EQ(repository.Sh("stat -c %F .agent; ls -A .agent", worktree.path()), "directory");
  }
  EXPECT_EQ(repository.Read(outside + "/precious"), "kept\n");
}

TEST(WorktreeTest, RemovalGoesByTheRecordWhateverTheEngineWrote) {  // REP-33
  const TestRepository repository;
  repository.Write(repository.folder() + "/outside/precious", "kept\n");
  const Git git = repository.OpenGit();
  {
    const Worktree worktree = repository.MakeWorktree(git);
    const std::string outside = repository.folder() + "/outside";
    repository.Sh("echo 'gitdir: " + outside + "' > .git && ln -s " + outside + " out",
                  worktree.path());
    repository.Sh("echo " + outside + "/.git > gitdir", worktree.admin());
    repository.Sh("mkdir -p locked/in && chmod 0 locked", worktree.path());
  }
  EXPECT_EQ(repository.Read(repository.folder() + "/outside/precious"), "kept\n");
  EXPECT_EQ(repository.Sh("git worktree list | wc -l"), "1");
}

TEST(WorktreeTest, WhatAKilledRunLeftIsReplacedOrRemoved) {  // REP-33, REP-51
  const TestRepository repository;
  const Git git = repository.OpenGit();
  std::string path;
  {
    Worktree left = repository.MakeWorktree(git);
    repository.Write(left.path() + "/rest", "of a killed run\n");
    path = left.path();
    left.Keep();
  }
  ASSERT_TRUE(Exists(path + "/rest"));
  {
    Worktree again = repository.MakeWorktree(git);
    EXPECT_FALSE(Exists(path + "/rest"));
    EXPECT_EQ(repository.Sh("git worktree list | wc -l"), "1");
    again.Keep();
  }
  EXPECT_THAT(RemoveRecordedWorktrees(repository.OpenState(), "run-1"), Succeeds());
  EXPECT_FALSE(Exists(path));
  EXPECT_EQ(repository.Sh("git worktree list | wc -l"), "1");
}

TEST(WorktreeTest, AGitFileThatLeadsElsewhereIsFoundAndPutBack) {  // REP-34
  const TestRepository repository;
  const Git git = repository.OpenGit();
  const Worktree worktree = repository.MakeWorktree(git);
  EXPECT_EQ(*worktree.HadOwnGitFile(), true);
  for (const char* line : {"echo gitdir: /tmp > .git", "rm .git", "rm .git && git init -q .",
                           "rm -rf .git && ln -s /etc .git"}) {
    repository.Sh(line, worktree.path());
    EXPECT_EQ(*worktree.HadOwnGitFile(), false) << line;
    EXPECT_EQ(*worktree.HadOwnGitFile(), true) << line;
  }
  EXPECT_EQ(repository.Sh("git status --porcelain", worktree.path()), "");
}

TEST(GitDirGuardTest, ForeignChangesAreFoundAndUndone) {  // REP-34, REP-A20
  struct Case {
    std::string line, foreign;
  };
  const Case kCases[] = {
      {"git config user.name Mallory", "config"},
      {"rm .git/config", "config"},
      {"chmod 600 .git/config", "config"},
      {"echo 'touch /tmp/no' > .git/hooks/pre-commit", "hooks/pre-commit"},
      {"mkdir -p .git/hooks/deep && touch .git/hooks/deep/x", "hooks/deep"},
      {"rm -rf .git/hooks", "hooks"},
      {"rm -rf .git/hooks && ln -s /etc .git/hooks", "hooks"},
      {"echo '*.cc' > .git/info/exclude", "info/exclude"},
      {"echo '* -diff' > .git/info/attributes", "info/attributes"},
      {"echo /tmp/objects > .git/objects/info/alternates", "objects/info/alternates"},
      {"touch .git/config.worktree", "config.worktree"},
      {"git update-ref refs/dossier/run-1/x/1 main", "refs/dossier/run-1/x/1"},
      {"git update-ref -d refs/dossier/run-1/own/1", "refs/dossier/run-1/own/1"},
      {"git update-ref refs/dossier/run-1/own/1 main~1", "refs/dossier/run-1/own/1"},
      {"git update-ref refs/dossier/run-0/old/1 main~1", "refs/dossier/run-0/old/1"},
  };
  const TestRepository repository;
  repository.Sh(
      "git commit -q --allow-empty -m two && git update-ref refs/dossier/run-0/old/1 main");
  repository.Sh(
      "mkdir -p .git/hooks .git/info && touch .git/info/exclude && "
      "echo sample > .git/hooks/sample && chmod 755 .git/hooks/sample");
  const Git git = repository.OpenGit();
  const auto guard = std::move(*GitDirGuard::Take(git, "run-1", UndoneIn(git)));
  ASSERT_THAT(guard->WriteRef("refs/dossier/run-1/own/1", repository.Head()), Succeeds());
  EXPECT_THAT(guard->Check()->foreign, IsEmpty());
  const std::string state =
      "cd .git && find config hooks info objects/info -printf '%p %m %l\\n' "
      "-type f -exec cat {} + | sort; cd .. && git for-each-ref";
  const std::string before = repository.Sh(state);
  for (const Case& c : kCases) {
    repository.Sh(c.line);
    const auto report = guard->Check();
    ASSERT_THAT(report, Succeeds()) << c.line;
    EXPECT_THAT(report->foreign, Contains(Field(&ForeignChange::path, c.foreign))) << c.line;
    EXPECT_EQ(repository.Sh(state), before) << c.line;
    EXPECT_THAT(guard->Check()->foreign, IsEmpty()) << c.line;
  }
}

// The person who works beside a run may have made the change: nothing of it is lost.
TEST(GitDirGuardTest, WhatIsUndoneIsKept) {  // REP-34
  const TestRepository repository;
  repository.Sh("mkdir -p .git/hooks");
  const Git git = repository.OpenGit();
  const auto guard = std::move(*GitDirGuard::Take(git, "run-1", UndoneIn(git)));
  std::vector<std::string> kept;
  for (const char* text : {"mine", "mine again"}) {
    repository.Sh(
        fmt::format("echo '# {}' >> .git/config && echo '{}' > .git/hooks/x", text, text));
    const GuardReport report = *guard->Check();
    ASSERT_EQ(report.foreign.size(), 2u);
    for (const ForeignChange& change : report.foreign) {
      EXPECT_THAT(repository.Sh("cat " + change.kept), HasSubstr(text)) << change.path;
      kept.push_back(change.kept);
    }
  }
  EXPECT_EQ(std::set(kept.begin(), kept.end()).size(), 4u);
  EXPECT_THAT(repository.Sh("cat " + kept[0]), Not(HasSubstr("again")));
}

TEST(GitDirGuardTest, OtherRunsWorkAndMovedBranchesStay) {  // REP-34
  const TestRepository repository;
  const Git git = repository.OpenGit();
  const auto guard = std::move(*GitDirGuard::Take(git, "run-1", UndoneIn(git)));
  repository.Sh("git update-ref refs/dossier/run-2/x/1 main && git branch topic");
  GuardReport report = *guard->Check();
  EXPECT_THAT(report.foreign, IsEmpty());
  EXPECT_THAT(report.moved_branches, ElementsAre("refs/heads/topic"));
  repository.Sh("git update-ref -d refs/dossier/run-2/x/1 && git commit -q --allow-empty -m two");
  report = *guard->Check();
  EXPECT_THAT(report.foreign, IsEmpty());
  EXPECT_THAT(report.moved_branches, ElementsAre("refs/heads/main"));
  const std::string next = repository.Sh("git commit-tree -p main -m three main^{tree}");
  guard->Expect("refs/heads/main", next);
  repository.Sh("git update-ref refs/heads/main " + next);
  EXPECT_THAT(guard->Check()->moved_branches, IsEmpty());
  EXPECT_EQ(repository.Sh("git for-each-ref --format='%(refname)' refs/heads"),
            "refs/heads/main\nrefs/heads/topic");
}

}  // namespace
}  // namespace dossier::agents
