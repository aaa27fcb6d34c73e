#include "agents/merge/merge.h"

#include <sys/wait.h>

#include <thread>

#include "agents/merge/checkout.h"
#include "agents/merge/ledger.h"
#include "agents/merge/recover.h"
#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"
#include "testing/test_repository.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MergeTest : public ::testing::Test {
 protected:
  MergeTest() { policy_.allow_symlinks = true; }

  // Returns the patch that `line` makes in a new worktree on main.
  Patch Propose(const std::string& line, const std::string& task = "fact-001") {
    const Worktree worktree = repository_.MakeWorktree(git_);
    EXPECT_THAT(worktree.ResetAgentFolder(), Succeeds());
    repository_.Sh(line, worktree.path());
    auto patch = TakePatch(worktree, git_, {.run = "run-1", .task = task});
    EXPECT_THAT(patch, Succeeds());
    return std::move(*patch);
  }

  MergeRequest Request(const Patch& patch, const std::string& task = "fact-001") const {
    return {.run = "run-1",
            .task = task,
            .ref = "refs/heads/main",
            .base = patch.base,
            .candidate = patch.candidate,
            .patch_sha256 = patch.sha256,
            .policy = &policy_,
            .ledger_root = repository_.root(),
            .now = Clock::Wall(std::chrono::seconds(1761745380)),
            .index_wait = Millis(100)};
  }

  MergeOutcome Merge(const MergeRequest& request) const {
    auto outcome = agents::Merge(request, git_, state_, {});
    EXPECT_THAT(outcome, Succeeds());
    return outcome ? std::move(*outcome) : MergeOutcome{};
  }

  // Expects that `patch` is refused with `status`, and that no byte, ref or index entry changes.
  MergeOutcome ExpectRefused(const MergeRequest& request, MergeStatus status) const {
    const auto before = repository_.Snapshot();
    const MergeOutcome outcome = Merge(request);
    EXPECT_EQ(outcome.status, status) << outcome.reason;
    EXPECT_EQ(repository_.Snapshot(), before);
    EXPECT_FALSE(Exists(state_.MergeIntent()));
    EXPECT_EQ(outcome.commit, "");
    return outcome;
  }

  int LedgerLines() const {
    int lines = 0;
    const std::string ledger = repository_.Read(state_.path() + "/finished_to_review.md");
    for (const std::string_view line : Split(ledger, '\n')) lines += line.starts_with("- ");
    return lines;
  }

  // A git that behaves as `script` says for the calls that the test is about.
  Git Scripted(const std::string& script) const {
    const std::string path = repository_.folder() + "/scripted-git";
    repository_.Write(path, "#!/bin/sh\n" + script + "\nexec git \"$@\"\n");
    chmod(path.c_str(), 0755);
    return repository_.OpenGit({.program = path});
  }

  TestRepository repository_;
  Git git_ = repository_.OpenGit();
  StateFolder state_ = repository_.OpenState();
  sources::ChangePolicy policy_;
};

TEST_F(MergeTest, OneCommitWithSubjectTrailersAndLedger) {  // REP-43, REP-46, REP-A13
  ASSERT_THAT(MakeFolders(repository_.Path("agent_notes")), Succeeds());
  const std::string base = repository_.Head();
  const Patch patch = Propose(
      "echo new > new.txt; git mv src/a.txt src/moved.txt; chmod +x src/b.txt; "
      "ln -s src/b.txt link; rm src/tool.sh; printf '\\000' > src/picture.bin");
  MergeRequest request = Request(patch);
  request.note = "ready_for_review/2025-10-29__fact-001__x.md";
  const MergeOutcome outcome = Merge(request);
  ASSERT_EQ(outcome.status, MergeStatus::kMerged) << outcome.reason;
  EXPECT_EQ(outcome.commit, repository_.Head());
  EXPECT_EQ(repository_.Sh("git log -1 --format='%s|%P|%T|%an'"),
            "agent:fact-001 merge|" + base + "|" + patch.tree + "|Ada");
  EXPECT_EQ(repository_.Sh("git log -1 --format='%(trailers:only)'"),
            "Dossier-Run: run-1\nDossier-Patch-SHA256: " + patch.sha256);
  EXPECT_EQ(repository_.Sh("git status --porcelain"), "?? finished_to_review.md");
  EXPECT_EQ(repository_.Read("finished_to_review.md"),
            "- 2025-10-29 13:43Z | APPROVED | fact-001 | "
            "ready_for_review/2025-10-29__fact-001__x.md | patch_sha256=" +
                patch.sha256 + "\n");
  EXPECT_FALSE(Exists(state_.MergeIntent()));
  EXPECT_THAT(repository_.Sh("git reflog -1"), HasSubstr("agent:fact-001 merge"));
  repository_.ExpectSound();
}

TEST_F(MergeTest, OtherLocalWorkStaysAndIsInNoCommit) {  // REP-44, REP-A21
  const Patch patch = Propose("sed -i 's/^1$/one/' src/a.txt; echo new > new.txt");
  repository_.Sh(
      "echo staged > staged.txt && git add staged.txt && echo more >> staged.txt && "
      "echo x >> src/b.txt && echo untracked > untracked.txt && rm src/tool.sh && "
      "git rm -q --cached src/picture.bin && touch src/a.txt");
  const std::string status = repository_.Sh("git status --porcelain");
  const MergeOutcome outcome = Merge(Request(patch));
  ASSERT_EQ(outcome.status, MergeStatus::kMerged) << outcome.reason;
  EXPECT_EQ(repository_.Sh("git status --porcelain"), status);
  EXPECT_EQ(repository_.Sh("git diff-tree -r --name-only --no-commit-id HEAD"),
            "new.txt\nsrc/a.txt");
  EXPECT_EQ(repository_.Read("new.txt"), "new\n");
}

TEST_F(MergeTest, WhatIsInTheWayRefusesAndNoByteChanges) {  // REP-44, REP-A21
  struct Case {
    std::string what, line, path;
  };
  const Case kCases[] = {
      {"a local change", "echo mine >> src/a.txt", "src/a.txt"},
      {"a staged change", "echo mine >> src/a.txt && git add src/a.txt", "src/a.txt"},
      {"an untracked file", "echo mine > new.txt", "new.txt"},
      {"an ignored file", "echo secret > secret.o", "secret.o"},
      {"a file for a folder", "echo mine > deep", "deep"},
      {"a folder for a file", "mkdir new.txt && echo mine > new.txt/x.o", "new.txt"},
      {"a deletion", "rm src/a.txt && echo x > src/a.txt", "src/a.txt"},
  };
  const Patch patch = Propose(
      "echo x >> src/a.txt; echo new > new.txt; mkdir deep; echo d > deep/er; "
      "echo o > secret.o; git add -f secret.o; sed -i /o/d .gitignore; git add .");
  const std::string ignore = repository_.Read(".gitignore");
  for (const Case& c : kCases) {
    repository_.Sh(c.line);
    const MergeOutcome outcome = ExpectRefused(Request(patch), MergeStatus::kApplyFailed);
    EXPECT_THAT(outcome.paths, ::testing::Contains(c.path)) << c.what << ": " << outcome.reason;
    repository_.Sh("git reset -q --hard && git clean -qfdx");
  }
  EXPECT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
}

TEST_F(MergeTest, AnEditBetweenTheCheckAndTheMoveStaysInItsPlace) {  // REP-44
  const Patch patch = Propose("echo two > src/a.txt; echo new > new.txt; echo two > src/b.txt");
  const Git scripted = Scripted(fmt::format(
      "case \"$*\" in *'update-ref -m'*) (cd '{}' && unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE && "
      "echo mine > new.txt && echo staged > src/a.txt && git add src/a.txt);; esac",
      repository_.root()));
  const auto outcome = agents::Merge(Request(patch), scripted, state_, {});
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_EQ(outcome->status, MergeStatus::kApplyFailed);
  EXPECT_THAT(outcome->reason, HasSubstr(repository_.root() + "/new.txt"));
  EXPECT_EQ(repository_.Read("new.txt"), "mine\n");
  EXPECT_EQ(repository_.Read("src/a.txt"), "staged\n");
  EXPECT_EQ(repository_.Sh("git show :src/a.txt"), "staged");
  EXPECT_EQ(repository_.Sh("git status --porcelain"), "M  src/a.txt\n?? new.txt");
}

TEST_F(MergeTest, AnOperationInProgressOrAHeldIndexRefuses) {  // REP-44
  const Patch patch = Propose("echo new > new.txt");
  constexpr std::pair<const char*, const char*> kOperations[] = {
      {"MERGE_HEAD", "merge"},
      {"CHERRY_PICK_HEAD", "cherry-pick"},
      {"rebase-merge/head-name", "rebase"},
      {"rebase-apply/applying", "am"}};
  for (const auto& [file, command] : kOperations) {
    repository_.Write(fmt::format(".git/{}", file), repository_.Head() + "\n");
    EXPECT_THAT(ExpectRefused(Request(patch), MergeStatus::kApplyFailed).reason,
                HasSubstr(fmt::format("give it up (`git {} --abort`)", command)));
    repository_.Sh("rm -rf .git/*_HEAD .git/rebase-*");
  }
  repository_.Write(".git/index.lock", "");
  EXPECT_THAT(ExpectRefused(Request(patch), MergeStatus::kApplyFailed).reason,
              HasSubstr("index.lock"));
  repository_.Sh("rm .git/index.lock");
  repository_.Write(".git/refs/heads/main.lock", "");
  EXPECT_THAT(ExpectRefused(Request(patch), MergeStatus::kApplyFailed).reason, HasSubstr("lock"));
  repository_.Sh("rm .git/refs/heads/main.lock");
  // A rebase of main in another worktree would return to the old commit.
  repository_.Sh(
      "git checkout -q --detach && git worktree add -q ../other main && "
      "git -C ../other checkout -q --detach && mkdir .git/worktrees/other/rebase-merge && "
      "echo refs/heads/main > .git/worktrees/other/rebase-merge/head-name");
  EXPECT_THAT(ExpectRefused(Request(patch), MergeStatus::kApplyFailed).reason,
              HasSubstr("a rebase is in progress"));
}

TEST_F(MergeTest, ABranchThatNobodyHasCheckedOutMovesAlone) {  // REP-44
  const Patch patch = Propose("echo new > new.txt");
  repository_.Sh("git checkout -q -b other && echo mine > new.txt");
  ASSERT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Read("new.txt"), "mine\n");
  EXPECT_EQ(repository_.Sh("git show main:new.txt"), "new");
  EXPECT_EQ(repository_.Sh("git symbolic-ref HEAD"), "refs/heads/other");
}

TEST_F(MergeTest, TheCheckoutMayBeALinkedWorktreeButNotTwo) {  // REP-44
  const Patch patch = Propose("echo new > new.txt");
  repository_.Sh("git checkout -q -b other && git worktree add -q ../linked main");
  ASSERT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Read(repository_.folder() + "/linked/new.txt"), "new\n");
  EXPECT_EQ(repository_.Sh("git status --porcelain", repository_.folder() + "/linked"), "");
  const Patch second = Propose("echo two > two.txt");
  repository_.Sh("git worktree add -q -f ../twice main");
  EXPECT_THAT(ExpectRefused(Request(second), MergeStatus::kApplyFailed).reason, HasSubstr("twice"));
}

TEST_F(MergeTest, ALinkedWorktreeMayBeNamedByARelativePath) {  // REP-44: as git 2.48 writes it
  const Patch patch = Propose("echo new > new.txt");
  repository_.Sh("git checkout -q -b other && git worktree add -q ../linked main");
  repository_.Sh("echo ../../../../linked/.git > .git/worktrees/linked/gitdir");
  const auto checkouts = FindCheckouts(git_, "refs/heads/main");
  ASSERT_THAT(checkouts, Succeeds());
  ASSERT_EQ(checkouts->size(), 1U);
  EXPECT_EQ(checkouts->front().root, repository_.folder() + "/linked");
  ASSERT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Sh("git status --porcelain", repository_.folder() + "/linked"), "");
}

TEST_F(MergeTest, TheMainCheckoutOfASubmoduleIsFoundFromALinkedWorktree) {  // REP-44
  repository_.Sh(
      "mkdir ../modules && mv .git ../modules/sub && echo gitdir: ../modules/sub > .git && "
      "git config core.worktree \"../../$(basename $PWD)\" && git worktree add -q -b other "
      "../linked");
  const auto folders = FindGitFolders(repository_.folder() + "/linked");
  ASSERT_TRUE(folders);
  const auto git = Git::Open(*folders);
  ASSERT_THAT(git, Succeeds());
  const auto checkouts = FindCheckouts(*git, "refs/heads/main");
  ASSERT_THAT(checkouts, Succeeds());
  ASSERT_EQ(checkouts->size(), 1U);
  EXPECT_EQ(checkouts->front().root, repository_.root());
}

TEST_F(MergeTest, AnEnginesAdminFolderIsNoCheckout) {  // REP-34
  const Patch patch = Propose("echo new > new.txt");
  repository_.Sh("git checkout -q -b other");
  repository_.Write(repository_.folder() + "/precious/.git", "x");
  const Worktree hostile = repository_.MakeWorktree(git_, "w7");
  repository_.Write(hostile.admin() + "/HEAD", "ref: refs/heads/main\n");
  repository_.Write(hostile.admin() + "/gitdir", repository_.folder() + "/precious/.git\n");
  EXPECT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Sh("ls -A", repository_.folder() + "/precious"), ".git");
}

TEST_F(MergeTest, WithoutAnIdentityNothingIsTouched) {  // REP-43, REP-A22
  const Patch patch = Propose("echo new > new.txt");
  repository_.Sh("git config --unset user.name; git config --unset user.email");
  EXPECT_NE(ExpectRefused(Request(patch), MergeStatus::kCommitFailed).reason, "");
  repository_.Sh(
      "git config user.name A && git config user.email a@a && git config commit.gpgSign true "
      "&& git config gpg.program /bin/false");
  ExpectRefused(Request(patch), MergeStatus::kCommitFailed);
}

TEST_F(MergeTest, RepositoryHooksDoNotRun) {  // REP-43
  const Patch patch = Propose("echo new > new.txt");
  for (const char* hook : {"pre-commit", "commit-msg", "post-commit", "reference-transaction",
                           "post-checkout", "post-index-change", "post-merge"}) {
    repository_.Write(fmt::format(".git/hooks/{}", hook),
                      "#!/bin/sh\ntouch " + repository_.folder() + "/ran\nexit 1\n");
  }
  repository_.Sh("chmod +x .git/hooks/*");
  EXPECT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_FALSE(Exists(repository_.folder() + "/ran"));
}

TEST_F(MergeTest, ATipThatMovedElsewhereIsMergedInto) {  // REP-43
  const Patch patch = Propose("sed -i 's/^1$/one/' src/a.txt");
  repository_.Sh("echo other > other.txt && git add -A && git commit -qm other");
  const std::string tip = repository_.Head();
  ASSERT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Sh("git rev-parse HEAD^"), tip);
  EXPECT_EQ(repository_.Read("other.txt"), "other\n");
  EXPECT_TRUE(repository_.Read("src/a.txt").starts_with("one\n"));
}

TEST_F(MergeTest, AConflictNamesItsPathsAndTouchesNothing) {  // REP-43, REP-A23
  const Patch patch = Propose("sed -i 's/^1$/one/' src/a.txt");
  repository_.Sh("sed -i 's/^1$/uno/' src/a.txt && git commit -qam uno");
  EXPECT_THAT(ExpectRefused(Request(patch), MergeStatus::kConflict).paths,
              ElementsAre("src/a.txt"));
}

TEST_F(MergeTest, ATipThatChangedAFileOfThePatchIsReviewedAgain) {  // REP-43, REP-A24
  const Patch patch = Propose("sed -i 's/^1$/one/' src/a.txt");
  repository_.Sh("sed -i 's/^39$/last/' src/a.txt && git commit -qam last");
  MergeRequest request = Request(patch);
  request.folder = *state_.Attempt("run-1", "fact-001", 1);
  const MergeOutcome again = ExpectRefused(request, MergeStatus::kReviewAgain);
  EXPECT_THAT(again.paths, ElementsAre("src/a.txt"));
  EXPECT_EQ(again.again.base, repository_.Head());
  EXPECT_NE(again.again.sha256, patch.sha256);
  EXPECT_THAT(repository_.Read(again.again.file), HasSubstr("+one"));
  EXPECT_THAT(repository_.Read(again.again.file), ::testing::Not(HasSubstr("+last")));
  ASSERT_EQ(Merge(Request(again.again)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Sh("head -1 src/a.txt; tail -1 src/a.txt"), "one\nlast");
}

TEST_F(MergeTest, AFileThatTheMergePutsElsewhereIsReviewedAgain) {  // REP-43: approved at its path
  repository_.Sh("git config merge.directoryRenames true");
  const Patch patch = Propose("echo new > src/new.txt");
  repository_.Sh("git mv src lib && git commit -qm lib");
  const MergeOutcome again = ExpectRefused(Request(patch), MergeStatus::kReviewAgain);
  EXPECT_THAT(again.paths, ElementsAre("lib/new.txt"));
  ASSERT_EQ(Merge(Request(again.again)).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Read("lib/new.txt"), "new\n");
}

TEST_F(MergeTest, ThePolicyHoldsOnTheMergedDiff) {  // REP-38: again on the diff tip to merged
  const Patch patch = Propose("echo new > new.txt");
  policy_.deny = {"new.txt"};
  const MergeOutcome outcome = ExpectRefused(Request(patch), MergeStatus::kPolicyViolation);
  EXPECT_THAT(outcome.policy.denied, ElementsAre("new.txt"));
}

TEST_F(MergeTest, WhatWasNotApprovedIsNotMerged) {  // REP-44
  const Patch patch = Propose("echo new > new.txt");
  const Patch other = Propose("echo evil > new.txt", "other");
  const auto before = repository_.Snapshot();
  MergeRequest request = Request(patch);
  request.candidate = other.candidate;
  EXPECT_THAT(agents::Merge(request, git_, state_, {}),
              FailsWith(ErrorCode::kCheckFailed, "not the approved one"));
  request = Request(patch);
  request.ref = "refs/heads/nowhere";
  EXPECT_THAT(agents::Merge(request, git_, state_, {}),
              FailsWith(ErrorCode::kNotFound, "refs/heads/nowhere"));
  EXPECT_EQ(repository_.Snapshot(), before);
  ASSERT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
  EXPECT_THAT(ExpectRefused(Request(patch), MergeStatus::kApplyFailed).reason,
              HasSubstr("holds this change already"));
}

TEST_F(MergeTest, MergesOfManyThreadsAreSerial) {  // REP-43, REP-A23
  std::vector<Patch> patches;
  for (int i = 0; i < 8; ++i) {
    patches.push_back(Propose(fmt::format("echo {} > file{}.txt", i, i), fmt::format("t{}", i)));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_EQ(Merge(Request(patches[i], fmt::format("t{}", i))).status, MergeStatus::kMerged);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(repository_.Sh("git rev-list --count main"), "9");
  EXPECT_EQ(LedgerLines(), 8);
  EXPECT_EQ(repository_.Sh("git status --porcelain"), "");
}

TEST_F(MergeTest, ALockHeldByAnotherMergeEndsInTime) {  // REP-2: 16
  const Patch patch = Propose("echo new > new.txt");
  const auto lock = FileLock::Take(state_.MergeLock(), Millis(0), {});
  MergeRequest request = Request(patch);
  request.lock_wait = Millis(50);
  EXPECT_THAT(agents::Merge(request, git_, state_, {}),
              FailsWith(ErrorCode::kLocked, "merge.lock"));
}

TEST(LedgerTest, AnIdCannotBreakTheLine) {  // REP-46, section 5
  EXPECT_EQ(LedgerLine({.time = Clock::Wall(std::chrono::seconds(1761745380)),
                        .task = "a|b\nc",
                        .patch_sha256 = "00"}),
            "- 2025-10-29 13:43Z | APPROVED | a%7Cb%0Ac | - | patch_sha256=00");
}

TEST(LedgerTest, ALineIsAppendedOnce) {  // REP-46
  const auto folder = TempFolder::Make();
  const std::string file = folder->path() + "/ledger.md";
  struct Case {
    std::string before, after;
  };
  const Case kCases[] = {
      {"", "- line\n"},
      {"# Ledger\n", "# Ledger\n- line\n"},
      {"# no newline", "# no newline\n- line\n"},
      {"- line\n", "- line\n"},
      {"- line\n- other\n", "- line\n- other\n"},
      {"- other\n- li", "- other\n- line\n"},
      {"- other\n- line", "- other\n- line\n"},
  };
  for (const Case& c : kCases) {
    ASSERT_THAT(WriteFileAtomic(file, c.before), Succeeds());
    EXPECT_THAT(AppendLedger(file, "- line"), Succeeds());
    EXPECT_EQ(*ReadFile(file), c.after) << c.before;
    EXPECT_THAT(AppendLedger(file, "- line"), Succeeds());
    EXPECT_EQ(*ReadFile(file), c.after) << c.before;
  }
}

class RecoverTest : public MergeTest {
 protected:
  RecoveryReport Recover() const {
    auto report = agents::Recover(git_, state_, {});
    EXPECT_THAT(report, Succeeds());
    return report ? std::move(*report) : RecoveryReport{};
  }

  // Merges in a child process, which `kill_after` or a fault point ends.
  void MergeAndDie(const MergeRequest& request, const std::string& fault,
                   std::optional<std::chrono::microseconds> kill_after = std::nullopt) const {
    const pid_t pid = fork();
    if (pid == 0) {
      if (!fault.empty()) setenv("DOSSIER_TEST_FAULT", fault.c_str(), 1);
      const auto outcome = agents::Merge(request, git_, state_, {});
      _exit(outcome && outcome->status == MergeStatus::kMerged ? 0 : 1);
    }
    if (kill_after) {
      std::this_thread::sleep_for(*kill_after);
      kill(pid, SIGKILL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (!fault.empty()) {
      EXPECT_TRUE(WIFSIGNALED(status)) << fault;
    }
  }

  void ExpectMergedOnce(const Patch& patch, const std::string& commits) const {
    EXPECT_EQ(repository_.Sh("git rev-list --count main"), commits);
    EXPECT_EQ(repository_.Sh("git rev-parse main^{tree}"), patch.tree);
    EXPECT_EQ(repository_.Sh("git status --porcelain"), "");
    EXPECT_EQ(LedgerLines(), std::stoi(commits) - 1);
    EXPECT_FALSE(Exists(state_.MergeIntent()));
    EXPECT_EQ(repository_.Sh("find .git -name '*.lock' ! -path '*/dossier/*'"), "");
    repository_.ExpectSound();
  }
};

constexpr const char* kChanges =
    "sed -i 's/^1$/one/' src/a.txt; echo new > new.txt; git mv src/b.txt src/moved.txt; "
    "rm src/tool.sh; mkdir -p deep/er; echo d > deep/er/file; ln -s new.txt link";

TEST_F(RecoverTest, NoOpenMergeIsNothingToDo) { EXPECT_EQ(Recover().kind, RecoveryKind::kNothing); }

#ifndef NDEBUG
TEST_F(RecoverTest, AMergeKilledAtAnyPointIsMergedOnce) {  // REP-45, REP-A25
  const std::string points[] = {"after-intent", "after-prepare", "after-tree", "after-ref",
                                "after-ledger"};
  int commits = 1;
  for (const std::string& point : points) {
    const Patch patch = Propose(commits == 1 ? kChanges : fmt::format("echo {} > new.txt", point));
    MergeAndDie(Request(patch), point);
    const RecoveryReport report = Recover();
    EXPECT_EQ(report.kind, RecoveryKind::kMerged) << point << report.reason;
    EXPECT_EQ(report.task, "fact-001");
    EXPECT_EQ(report.commit, repository_.Head());
    EXPECT_THAT(report.rescued, IsEmpty());
    ExpectMergedOnce(patch, fmt::format("{}", ++commits));
    EXPECT_EQ(Recover().kind, RecoveryKind::kNothing);
  }
}

TEST_F(RecoverTest, ABranchThatWentElsewhereIsLeftAlone) {  // REP-45
  const Patch patch = Propose("echo new > new.txt");
  MergeAndDie(Request(patch), "after-intent");
  repository_.Sh("git commit -q --allow-empty -m elsewhere");
  const auto before = repository_.Snapshot();
  EXPECT_THAT(agents::Recover(git_, state_, {}),
              FailsWith(ErrorCode::kFailed, "nothing was touched"));
  EXPECT_EQ(repository_.Snapshot(), before);
  EXPECT_TRUE(Exists(state_.MergeIntent()));
}

TEST_F(RecoverTest, ABranchThatWentOnFromTheMergeIsFinished) {  // REP-45: a descendant
  const Patch patch = Propose("echo new > new.txt");
  MergeAndDie(Request(patch), "after-ref");
  repository_.Sh("git commit -q --allow-empty -m later");
  EXPECT_EQ(Recover().kind, RecoveryKind::kMerged);
  EXPECT_EQ(LedgerLines(), 1);
  EXPECT_EQ(repository_.Sh("git rev-list --count main"), "3");
}

TEST_F(RecoverTest, TheNextMergeEndsTheOpenOneFirst) {  // REP-45
  const Patch first = Propose("echo new > new.txt");
  MergeAndDie(Request(first), "after-tree");
  const Patch second = Propose("echo two > two.txt", "fact-002");
  ASSERT_EQ(Merge(Request(second, "fact-002")).status, MergeStatus::kMerged);
  EXPECT_EQ(repository_.Sh("git log --format=%s"),
            "agent:fact-002 merge\nagent:fact-001 merge\nbase");
  EXPECT_EQ(LedgerLines(), 2);
}
#endif

TEST_F(RecoverTest, AGitKilledInsideReadTreeIsMadeGood) {  // REP-45, REP-A26
  const Patch patch = Propose(kChanges);
  // Half of the files exist, the index is locked, and the locks of branch and HEAD remain, as after
  // a power cut.
  const Git scripted = Scripted(
      "case \"$*\" in *'read-tree -m -u'*) echo one > src/a.txt; echo new > new.txt; "
      "rm src/tool.sh; echo by hand > src/b.txt; touch .git/index.lock .git/HEAD.lock; kill -9 "
      "$$;; "
      "esac");
  EXPECT_THAT(agents::Merge(Request(patch), scripted, state_, {}),
              FailsWith(ErrorCode::kFailed, "stays for `resume`"));
  EXPECT_TRUE(Exists(state_.MergeIntent()));
  repository_.Sh("touch .git/HEAD.lock .git/refs/heads/main.lock");
  const RecoveryReport report = Recover();
  ASSERT_EQ(report.kind, RecoveryKind::kMerged) << report.reason;
  ExpectMergedOnce(patch, "2");
  EXPECT_EQ(repository_.Read(state_.path() + "/rescued/run-1/src/b.txt"), "by hand\n");
  // Content that was neither old nor new: the torn file, and the edit by hand.
  EXPECT_THAT(report.rescued, ElementsAre(state_.path() + "/rescued/run-1/src/a.txt",
                                          state_.path() + "/rescued/run-1/src/b.txt"));
}

TEST_F(RecoverTest, AReadTreeThatFailsIsRolledBack) {  // REP-44, step 4
  const Patch patch = Propose(kChanges);
  const Git scripted = Scripted(
      "case \"$*\" in *'read-tree -m -u'*) git read-tree -m -u $(git rev-parse HEAD) \"$(eval "
      "echo \\${$#})\"; echo \"error: Entry 'x' is no good\" >&2; exit 128;; esac");
  const std::string before = repository_.Sh("git status --porcelain; git ls-files -s");
  const auto outcome = agents::Merge(Request(patch), scripted, state_, {});
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_EQ(outcome->status, MergeStatus::kApplyFailed);
  EXPECT_THAT(outcome->paths, ElementsAre("x"));
  EXPECT_EQ(repository_.Sh("git status --porcelain; git ls-files -s"), before);
  EXPECT_EQ(repository_.Sh("git rev-list --count main"), "1");
  EXPECT_FALSE(Exists(state_.MergeIntent()));
  EXPECT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
}

TEST_F(RecoverTest, AHookThatFailsLeavesTheIntentForTheNextStart) {  // REP-50
  const Patch patch = Propose("echo new > new.txt");
  int merged = 0;
  MergeHooks hooks;
  hooks.merged = [&](const Intent& intent) -> Status {
    EXPECT_EQ(intent.task, "fact-001");
    if (++merged == 1) return MakeError(ErrorCode::kIo, "disk full");
    return {};
  };
  EXPECT_THAT(agents::Merge(Request(patch), git_, state_, hooks),
              FailsWith(ErrorCode::kIo, "disk full"));
  EXPECT_EQ(LedgerLines(), 0);
  ASSERT_THAT(agents::Recover(git_, state_, hooks), Succeeds());
  EXPECT_EQ(merged, 2);
  ExpectMergedOnce(patch, "2");
}

TEST_F(RecoverTest, AMergeKilledAtRandomLosesNothing) {  // REP-45
  Random random(42);
  int commits = 1;
  for (int round = 0; round < 25; ++round) {
    const Patch patch =
        Propose(fmt::format("{}; echo {} > round.txt", round == 0 ? kChanges : "true", round));
    repository_.Sh(fmt::format("echo {} > mine.o", round));
    MergeAndDie(Request(patch), "", std::chrono::microseconds(random.Below(120'000)));
    const RecoveryReport report = Recover();
    EXPECT_NE(report.kind, RecoveryKind::kNotMerged) << report.reason;
    EXPECT_THAT(report.rescued, IsEmpty());
    if (repository_.Sh("git rev-list --count main") == fmt::format("{}", commits)) {
      // Killed before the intent: nothing was touched.
      EXPECT_EQ(repository_.Sh("git status --porcelain"), "");
      ASSERT_EQ(Merge(Request(patch)).status, MergeStatus::kMerged);
    }
    ExpectMergedOnce(patch, fmt::format("{}", ++commits));
    EXPECT_EQ(repository_.Read("mine.o"), fmt::format("{}\n", round));
  }
}

TEST_F(RecoverTest, ADamagedRecordIsNamed) {
  repository_.Write(state_.MergeIntent(), "{\"v\":1");
  EXPECT_THAT(agents::Recover(git_, state_, {}),
              FailsWith(ErrorCode::kDamaged, "merge-intent.json"));
}

}  // namespace
}  // namespace dossier::agents
