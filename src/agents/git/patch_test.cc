#include "agents/git/patch.h"

#include "agents/git/diff_output.h"
#include "agents/git/path_rules.h"
#include "base/hash.h"
#include "base/random.h"
#include "testing/result_matchers.h"
#include "testing/test_repository.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PatchTest : public ::testing::Test {
 protected:
  PatchTest() : worktree_(repository_.MakeWorktree(git_)) {
    EXPECT_THAT(worktree_.ResetAgentFolder(), Succeeds());
  }

  PatchOptions Options(EngineOutput output = EngineOutput::kWorktree) const {
    return {.run = "run-1",
            .task = "fact-001",
            .attempt = 1,
            .folder = *repository_.OpenState().Attempt("run-1", "fact-001", 1),
            .output = output};
  }
  Patch Take(EngineOutput output = EngineOutput::kWorktree) const {
    auto patch = TakePatch(worktree_, git_, Options(output));
    EXPECT_THAT(patch, Succeeds());
    return patch ? std::move(*patch) : Patch{};
  }
  void Engine(const std::string& line) const { repository_.Sh(line, worktree_.path()); }
  void Diff(const std::string& text) const {
    repository_.Write(worktree_.path() + "/.agent/patch.diff", text);
  }
  std::vector<std::string> Paths(const Patch& patch) const {
    std::vector<std::string> paths;
    for (const PathChange& change : patch.changes) paths.push_back(change.path);
    return paths;
  }
  // Checks that the patch's tree, written as plain files, equals the work tree.
  void ExpectTreeIsWorktree(const Patch& patch) const {
    const std::string out = repository_.folder() + "/out";
    repository_.Sh("rm -rf " + out + " && mkdir " + out + " && git -c tar.umask=user archive " +
                   patch.tree + " | tar x -C " + out);
    EXPECT_EQ(repository_.Sh("diff -r --no-dereference -x .git -x .agent -x '*.o' " + out + " " +
                             worktree_.path() + " && cd " + out +
                             " && find . -printf '%P %m %l\\n' | sort > ../one && cd " +
                             worktree_.path() +
                             " && find . \\( -name .git -o -name .agent -o -name '*.o' \\) -prune "
                             "-o -printf '%P %m %l\\n' | sort > " +
                             repository_.folder() + "/two && diff " + repository_.folder() +
                             "/one " + repository_.folder() + "/two"),
              "");
  }

  TestRepository repository_;
  Git git_ = repository_.OpenGit();
  Worktree worktree_;
};

TEST_F(PatchTest, TheTreeIsTheWorktreeWhateverWasStagedOrCommitted) {  // REP-37, REP-A14
  const std::string line =
      "echo new > new.txt; git mv src/a.txt src/renamed.txt; chmod +x src/b.txt; "
      "printf 'a\\000b' > src/picture.bin; ln -s src/b.txt link; rm src/tool.sh; "
      "echo x > 'quote\"d name'; printf 'no newline' > bare.txt; "
      "git add new.txt && git -c user.name=E -c user.email=e@e commit -qm own; "
      "echo half > half.txt; git add half.txt; echo more >> half.txt; "
      "echo ignored > x.o; mkdir empty; mkdir -p deep/er; echo deep > deep/er/file; rmdir empty";
  Engine(line);
  const Patch patch = Take();
  EXPECT_THAT(patch.violations, IsEmpty());
  ExpectTreeIsWorktree(patch);
  EXPECT_THAT(Paths(patch), ElementsAre("bare.txt", "deep/er/file", "half.txt", "link", "new.txt",
                                        "quote\"d name", "src/a.txt", "src/b.txt",
                                        "src/picture.bin", "src/renamed.txt", "src/tool.sh"));
  EXPECT_EQ(patch.ignored_files, 1u);
  EXPECT_EQ(patch.stat, (PatchStat{.files = 10, .added = 7, .deleted = 1}));
  EXPECT_EQ(patch.changes[9].old_path, "src/a.txt");
  EXPECT_TRUE(patch.changes[8].binary);
  EXPECT_EQ(patch.changes[7].new_mode, 0100755u);
  EXPECT_EQ(patch.changes[3].link_target, "src/b.txt");
  // The text is exactly that of the command in the specification.
  const std::string text = *ReadFile(patch.file);
  EXPECT_EQ(patch.sha256, Sha256Hex(text));
  EXPECT_EQ(patch.sha256,
            repository_
                .Sh("git diff-tree -r -p --binary --full-index -M50% --no-ext-diff --no-textconv "
                    "--no-color --src-prefix=a/ --dst-prefix=b/ " +
                    patch.base + " " + patch.tree + " | sha256sum")
                .substr(0, 64));
  EXPECT_EQ(repository_.Sh("git rev-parse refs/dossier/run-1/fact-001/1 " + patch.candidate +
                           "^{tree} " + patch.candidate + "^"),
            patch.candidate + "\n" + patch.tree + "\n" + patch.base);
  EXPECT_TRUE(patch.candidate != repository_.Head());
}

TEST_F(PatchTest, NoChangeIsNoPatch) {  // REP-37: missing-patch
  Engine("touch src/a.txt; echo x > .agent/notes.txt");
  const Patch patch = Take();
  EXPECT_THAT(patch.changes, IsEmpty());
  EXPECT_EQ(patch.candidate, "");
  EXPECT_EQ(patch.tree, worktree_.tree());
}

TEST_F(PatchTest, AChangeOfTheSameSizeInTheSameSecondIsSeen) {  // REP-37: a racy index
  Engine("sed -i 's/^7$/8/' src/a.txt && touch -r src/b.txt src/a.txt");
  EXPECT_THAT(Paths(Take()), ElementsAre("src/a.txt"));
}

TEST_F(PatchTest, BitsOfAnIndexThatHideChangesDoNotCount) {  // REP-34
  Engine(
      "git update-index --assume-unchanged src/a.txt; git update-index --skip-worktree src/b.txt;"
      "echo x >> src/a.txt; echo x >> src/b.txt; git config core.fileMode false || true");
  EXPECT_THAT(Paths(Take()), ElementsAre("src/a.txt", "src/b.txt"));
}

TEST_F(PatchTest, CommittedFilesOfTheAgentFolderStayAsTheyAre) {  // REP-33, REP-37
  repository_.Write(".agent/APPROVED", "yes\n");
  repository_.Sh("git add -A && git commit -qm approved");
  const Worktree worktree = repository_.MakeWorktree(git_, "w2");
  ASSERT_THAT(worktree.ResetAgentFolder(), Succeeds());
  repository_.Write(worktree.path() + "/.agent/other", "x\n");
  repository_.Write(worktree.path() + "/new.txt", "x\n");
  const auto patch = TakePatch(worktree, git_, Options());
  ASSERT_THAT(patch, Succeeds());
  EXPECT_THAT(Paths(*patch), ElementsAre("new.txt"));
}

TEST_F(PatchTest, AttributesOfTheWorktreeHideNoLine) {  // REP-38: the limits
  Engine(
      "printf '* -diff\\n*.bin diff\\n' > .gitattributes; echo x >> src/a.txt; "
      "printf '\\000\\001' > src/picture.bin");
  const Patch patch = Take();
  ASSERT_THAT(Paths(patch), ElementsAre(".gitattributes", "src/a.txt", "src/picture.bin"));
  EXPECT_FALSE(patch.changes[1].binary);
  EXPECT_EQ(patch.changes[1].added, 1u);
  EXPECT_TRUE(patch.changes[2].binary);
}

TEST_F(PatchTest, TwoFilesThatAreAlikeCountEachForItself) {
  Engine("cp src/a.txt one.txt; cp src/a.txt two.txt; rm src/a.txt");
  const Patch patch = Take();
  EXPECT_THAT(Paths(patch), ElementsAre("one.txt", "src/a.txt", "two.txt"));
  EXPECT_EQ(patch.stat.files, 2u);
  EXPECT_EQ(patch.changes[1].new_mode, 0u);
}

TEST_F(PatchTest, TooMuchIsRefusedBeforeItIsHashed) {  // REP-37: too-large
  Engine("mkdir many; i=0; while [ $i -le 5000 ]; do : > many/$i; i=$((i+1)); done");
  Patch patch = Take();
  ASSERT_THAT(patch.violations, SizeIs(1));
  EXPECT_EQ(patch.violations[0],
            (Violation{.rule = "too-large", .value = "5001 untracked files", .limit = "5000"}));
  Engine("rm many/0");
  EXPECT_THAT(Take().violations, IsEmpty());
  Engine("rm -r many; truncate -s 67108865 huge");
  patch = Take();
  ASSERT_THAT(patch.violations, SizeIs(1));
  EXPECT_EQ(patch.violations[0].value, "67108865 untracked bytes");
  EXPECT_EQ(patch.candidate, "");
}

TEST_F(PatchTest, APatchOverItsLimitIsNotKept) {  // REP-38: max-patch-bytes
  Engine("seq 1 2000 > new.txt");
  const std::uint64_t size = Take().bytes;
  PatchOptions options = Options();
  options.max_patch_bytes = size;
  EXPECT_THAT(TakePatch(worktree_, git_, options)->violations, IsEmpty());
  options.max_patch_bytes = size - 1;
  const Patch patch = *TakePatch(worktree_, git_, options);
  ASSERT_THAT(patch.violations, SizeIs(1));
  EXPECT_EQ(patch.violations[0].rule, "too-large");
  EXPECT_EQ(patch.file, "");
}

TEST_F(PatchTest, WhatNoCommitMayHoldIsAViolation) {  // REP-38, REP-A16
  struct Case {
    std::string line, rule, path;
  };
  const Case kCases[] = {
      {"mkdir .gIt && echo x > .gIt/x", "path", ".gIt/x"},
      {"mkdir 'git~1' && echo x > 'git~1/x'", "path", "git~1/x"},
      {"mkdir \"$(printf '.g\\342\\200\\214it')\" && touch \"$(printf '.g\\342\\200\\214it')/x\"",
       "path", ".g\u200Cit/x"},
      {"touch \"$(printf 'a\\001b')\"", "path",
       "a\x01"
       "b"},
      {"git init -q nested", "submodule", "nested"},
      {"rm src/a.txt && mkfifo src/a.txt", "path", ""},
  };
  for (const Case& c : kCases) {
    Engine(c.line);
    const Patch patch = Take();
    ASSERT_THAT(patch.violations, SizeIs(1)) << c.line;
    EXPECT_EQ(patch.violations[0].rule, c.rule) << c.line;
    EXPECT_EQ(patch.violations[0].path, c.path) << c.line;
    Engine("git clean -qffdx && git checkout -q . && mkdir -p .agent");
  }
}

TEST_F(PatchTest, ARepositoryOfItsOwnIsASubmodule) {  // REP-38
  Engine(
      "git init -q nested && cd nested && echo x > x && git add x && "
      "git -c user.name=E -c user.email=e@e commit -qm x");
  const Patch patch = Take();
  ASSERT_THAT(Paths(patch), ElementsAre("nested"));
  EXPECT_EQ(patch.changes[0].new_mode, kModeSubmodule);
}

TEST_F(PatchTest, ALinkIsFollowedThroughTheLinksOfTheTree) {  // REP-38
  repository_.Sh("ln -s /etc out && git add out && git commit -qm out");
  const Worktree worktree = repository_.MakeWorktree(git_, "w2");
  repository_.Sh("ln -s ../out/passwd src/inner; ln -s a.txt src/good", worktree.path());
  const auto patch = TakePatch(worktree, git_, Options());
  ASSERT_THAT(patch, Succeeds());
  ASSERT_THAT(Paths(*patch), ElementsAre("src/good", "src/inner"));
  EXPECT_EQ(patch->changes[0].link_way_out, "");
  EXPECT_EQ(patch->changes[1].link_way_out, "out");
}

TEST_F(PatchTest, ADamagedRepositoryAndFilesOfASubmoduleAreNoPlainFiles) {  // FLT-118
  repository_.Sh("git update-index --add --cacheinfo 160000," + repository_.Head() +
                 ",lib && git commit -qm lib");
  const Worktree worktree = repository_.MakeWorktree(git_, "w2");
  repository_.Sh("mkdir -p vendor/.git lib && echo x > vendor/x && echo x > lib/x",
                 worktree.path());
  const auto patch = TakePatch(worktree, git_, Options());
  ASSERT_THAT(patch, Succeeds());
  ASSERT_THAT(patch->violations, SizeIs(2));
  for (const Violation& one : patch->violations) EXPECT_EQ(one.rule, "submodule");
  EXPECT_EQ(patch->candidate, "");
}

TEST_F(PatchTest, AValueOfTheRunIsFoundBeforeGitStoresIt) {  // FLT-111
  const SecretValues secrets({{"KEY", "s3cret-value"}, {"MODE", "on"}});
  PatchOptions options = Options();
  options.secrets = &secrets;
  Engine("printf 'one\ntwo s3cret-value\n' > src/new.txt && echo on > src/b.txt");
  const auto patch = TakePatch(worktree_, git_, options);
  ASSERT_THAT(patch, Succeeds());
  ASSERT_THAT(patch->violations, SizeIs(1));
  EXPECT_EQ(patch->violations[0].rule, "secret");
  EXPECT_EQ(patch->violations[0].path, "src/new.txt");
  EXPECT_EQ(patch->violations[0].value, "line 2 holds the value of KEY");
  const std::string blob =
      repository_.Sh("printf 'one\ntwo s3cret-value\n' | git hash-object --stdin");
  EXPECT_EQ(repository_.Sh("git cat-file -e " + blob + " 2>/dev/null || echo absent"), "absent");
}

TEST_F(PatchTest, WhatAFilterWouldChangeIsRefused) {  // FLT-113
  repository_.Sh("git config filter.x.clean 'touch " + repository_.folder() + "/ran; cat'");
  Engine("echo '*.dat filter=x' > .gitattributes && echo x > x.dat && echo y > y.txt");
  const Patch patch = Take();
  ASSERT_THAT(patch.violations, SizeIs(1));
  EXPECT_EQ(patch.violations[0].rule, "filter");
  EXPECT_EQ(patch.violations[0].path, "x.dat");
  EXPECT_FALSE(Exists(repository_.folder() + "/ran"));
}

// Git would ask it for its state, using the configuration that the engine wrote.
TEST_F(PatchTest, ARepositoryInPlaceOfASubmoduleRunsNothing) {  // REP-34
  const std::string sub = repository_.folder() + "/sub", ran = repository_.folder() + "/ran";
  repository_.Sh(
      "git init -q " + sub + " && cd " + sub +
      " && echo x > x && git add x && git -c user.name=E -c user.email=e@e commit -qm x");
  repository_.Sh("git update-index --add --cacheinfo 160000,$(git -C " + sub +
                 " rev-parse HEAD),lib && git commit -qm lib && mkdir -p lib");
  const Worktree worktree = repository_.MakeWorktree(git_, "w2");
  const auto engine = [&](const std::string& line) {
    repository_.Sh(line, worktree.path());
    auto patch = TakePatch(worktree, git_, Options());
    EXPECT_THAT(patch, Succeeds());
    EXPECT_THAT(patch->violations, IsEmpty());
    EXPECT_FALSE(Exists(ran)) << line;
    return Paths(*patch);
  };
  EXPECT_THAT(
      engine("git clone -q " + sub + " lib && cd lib && git config filter.x.clean 'touch " + ran +
             "; cat' && echo '* filter=x' > .git/info/attributes && "
             "touch -d 2001-01-01 x && echo y > ../y"),
      ElementsAre("y"));
  // Its commit counts, as for any submodule.
  EXPECT_THAT(engine("cd lib && git -c filter.x.clean=cat -c user.name=E -c user.email=e@e commit "
                     "-q --allow-empty -m 2"),
              ElementsAre("lib", "y"));
}

TEST_F(PatchTest, TrackedFilesThatGrowWithoutEndAreNotHashed) {  // REP-37: too-large
  Engine("truncate -s 200G src/a.txt");
  const Patch patch = Take();
  ASSERT_THAT(patch.violations, SizeIs(1));
  EXPECT_EQ(patch.violations[0].rule, "too-large");
  EXPECT_EQ(patch.candidate, "");
}

constexpr const char* kGoodDiff =
    "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
    "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n"
    "@@ -0,0 +1 @@\n+new\n";

TEST_F(PatchTest, APatchFileIsAppliedWhereNothingElseChanged) {  // REP-37, REP-A15
  for (const EngineOutput output : {EngineOutput::kWorktree, EngineOutput::kPatchFile}) {
    Diff(kGoodDiff);
    const Patch patch = Take(output);
    EXPECT_EQ(patch.apply_problem, "");
    EXPECT_THAT(Paths(patch), ElementsAre("new.txt", "src/a.txt"));
    EXPECT_EQ(patch.source, PatchSource::kPatchFile);
    ExpectTreeIsWorktree(patch);
    Engine("git checkout -q . && git clean -qfdx && mkdir -p .agent");
  }
}

TEST_F(PatchTest, APatchFileBesideOtherChangesIsAClaim) {  // REP-37
  Diff(kGoodDiff);
  Engine("echo x > other.txt");
  EXPECT_THAT(Paths(Take()), ElementsAre("other.txt"));
  EXPECT_THAT(Paths(Take(EngineOutput::kPatchFile)),
              ElementsAre("new.txt", "other.txt", "src/a.txt"));
}

TEST_F(PatchTest, APatchFileThatReachesOutOfTheTreeIsRefused) {  // REP-A15
  repository_.Write(repository_.folder() + "/worktrees/x", "precious\n");
  const auto add = [](const std::string& path) {
    return "--- /dev/null\n+++ " + path + "\n@@ -0,0 +1 @@\n+evil\n";
  };
  const std::string diffs[] = {
      add("b/../x"),
      add("/x"),
      add("b//x"),
      add("b/.git/config"),
      add("b/src/.GIT/hooks/x"),
      add("\"b/../x\""),
      kGoodDiff + add("b/../x"),
      "diff --git a/src/a.txt b/../x\nsimilarity index 100%\nrename from src/a.txt\nrename to "
      "../x\n",
      "diff --git a/src/a.txt b/src/../../x\nsimilarity index 100%\ncopy from src/a.txt\ncopy to "
      "src/../../x\n",
  };
  const auto before = repository_.Snapshot();
  for (const std::string& diff : diffs) {
    Diff(diff);
    const Patch patch = Take(EngineOutput::kPatchFile);
    EXPECT_FALSE(patch.violations.empty() && patch.apply_problem.empty()) << diff;
    EXPECT_THAT(patch.changes, IsEmpty()) << diff;
    EXPECT_EQ(repository_.Sh("git status --porcelain | grep -v .agent || true", worktree_.path()),
              "")
        << diff;
    EXPECT_EQ(repository_.Read(repository_.folder() + "/worktrees/x"), "precious\n");
  }
  EXPECT_EQ(repository_.Snapshot(), before);
}

TEST_F(PatchTest, APatchFileBehindALinkOrThatDoesNotApplyChangesNothing) {  // REP-A15
  Engine("ln -s /etc out");
  Diff("--- /dev/null\n+++ b/out/evil\n@@ -0,0 +1 @@\n+evil\n");
  EXPECT_NE(Take(EngineOutput::kPatchFile).apply_problem.find("symbolic link"), std::string::npos);
  EXPECT_FALSE(Exists("/etc/evil"));
  Engine("rm out");
  for (const std::string diff :
       {"I could not do it.\n", "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-9\n+8\n"}) {
    Diff(diff);
    const Patch patch = Take();
    EXPECT_NE(patch.apply_problem, "");
    EXPECT_EQ(patch.candidate, "");
  }
  // A link is not a patch file.
  Diff("");
  repository_.Write(repository_.folder() + "/good.diff", kGoodDiff);
  Engine("rm .agent/patch.diff && ln -s " + repository_.folder() + "/good.diff .agent/patch.diff");
  EXPECT_THAT(Take().changes, IsEmpty());
}

TEST_F(PatchTest, AFalseFileListIsAWarning) {  // REP-37: meta-mismatch
  Engine("echo x > new.txt; echo '{\"files\":[\"new.txt\"]}' > .agent/meta.json");
  EXPECT_THAT(Take().warnings, IsEmpty());
  Engine("echo '{\"files\":[\"other.txt\"]}' > .agent/meta.json");
  const Patch patch = Take();
  ASSERT_THAT(patch.warnings, SizeIs(1));
  EXPECT_TRUE(patch.warnings[0].starts_with("meta-mismatch: ")) << patch.warnings[0];
  EXPECT_THAT(Paths(patch), ElementsAre("new.txt"));
  for (const char* broken : {"{", "[]", "{\"files\":7}"}) {
    Engine(fmt::format("echo '{}' > .agent/meta.json", broken));
    EXPECT_THAT(Take().warnings, IsEmpty());
  }
}

TEST(DiffHeadersTest, LinesOfHunksAreNoHeaders) {
  EXPECT_THAT(DiffHeaderPaths("--- a/x\t2020\n+++ /y\n@@ -1,2 +1,2 @@\n--- /z\n+++ /w\n x\n"
                              "\\ No newline at end of file\n--- /v\n"),
              ElementsAre("a/x", "/y", "/v"));
  EXPECT_THAT(DiffHeaderPaths("rename from ../a\nrename to \"b\"\ncopy to c\n"),
              ElementsAre("../a", "\"b\"", "c"));
}

TEST(DiffOutputTest, AnyBytesAreReadOrRefused) {
  constexpr char kGood[] =
      ":100644 100644 aa bb M\0x\0:100644 000000 aa 00 D\0y\0001\t0\tx\0-\t-\ty\0\0diff";
  const std::string good(kGood, sizeof(kGood) - 1);
  const auto diff = ParseDiffOutput(good);
  ASSERT_THAT(diff, Succeeds());
  EXPECT_EQ(good.substr(diff->text_at), "diff");
  EXPECT_THAT(diff->changes, SizeIs(2));
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string broken = good;
    for (std::uint64_t i = random.Below(4); i > 0; --i) {
      const std::size_t at = random.Below(broken.size());
      if (random.Below(2) == 0)
        broken.erase(at, random.Below(4));
      else
        broken[at] = static_cast<char>(random.Below(256));
      if (broken.empty()) break;
    }
    const auto parsed = ParseDiffOutput(broken);
    EXPECT_LE(parsed ? parsed->text_at : 0, broken.size());
  }
}

TEST(PathRulesTest, PathsThatSomeSystemTakesForGitsFolderAreRefused) {  // REP-38
  for (const char* good : {"a", "src/a.cc", ".github/x", ".gitignore", ".gitmodules", "git", "a..b",
                           "..a", "git~2", ".git2/x", "naïve/東京.md", "a b", ".gitx/y"}) {
    EXPECT_EQ(PathProblem(good), nullptr) << good;
  }
  for (const char* bad : {"",
                          "/a",
                          "../a",
                          "a/../b",
                          "a/..",
                          "a//b",
                          "./a",
                          "a/",
                          ".git",
                          ".git/x",
                          "a/.GIT/x",
                          ".gIt",
                          "git~1",
                          "GIT~1/x",
                          ".git./x",
                          ".git /x",
                          ".git. . /x",
                          ".git::$INDEX_ALLOCATION/x",
                          "a\\.git\\x",
                          "a\\..\\x",
                          ".g\u200Cit/x",
                          "\uFEFF.git/x",
                          ".gi\u206At",
                          "a\nb",
                          "a\tb",
                          "a\x7F",
                          "a\u0085b",
                          "\x1B[31m"}) {
    EXPECT_NE(PathProblem(bad), nullptr) << bad;
  }
}

TEST(PathRulesTest, LinksStayInTheTree) {  // REP-38: never one that leaves the tree
  struct Case {
    const char *path, *target;
    bool inside;
  };
  constexpr Case kCases[] = {
      {"l", "a", true},           {"l", "a/b", true},           {"d/l", "../a", true},
      {"d/e/l", "../../a", true}, {"l", "./a", true},           {"l", "/etc/passwd", false},
      {"l", "..", false},         {"d/l", "../..", false},      {"d/l", "../../a", false},
      {"l", "a/..", false},       {"d/l", "x/../../..", false}, {"l", ".git/config", false},
      {"l", "", false},           {"d/l", "..", true},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(LinkStaysInside(c.path, c.target), c.inside) << c.path << " -> " << c.target;
  }
}

}  // namespace
}  // namespace dossier::agents
