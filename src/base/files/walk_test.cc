#include "base/files/walk.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/random.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using Verdict = IgnoreFile::Verdict;
using PathKind = IgnoreFile::PathKind;

class WalkTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, std::string_view text = "x") {
    const std::string full = root() + "/" + path;
    ASSERT_TRUE(MakeFolders(full.substr(0, full.rfind('/'))));
    ASSERT_TRUE(WriteFileAtomic(full, text));
  }
  std::string root() const { return folder_.path(); }

  // Found files relative to the root of the walk, with spaces between.
  std::string Walk(const WalkOptions& options = {}) {
    const auto result = WalkFolder(root(), options);
    if (!result) return result.error().message;
    std::string out;
    for (const std::string& path : result->files) {
      out += (out.empty() ? "" : " ") + path.substr(root().size() + 1);
    }
    return out;
  }

  TempFolder folder_ = std::move(*TempFolder::Make("walk"));
};

TEST(IgnoreFileTest, PatternsMeanWhatGitSays) {  // INS-130
  struct Case {
    std::string_view rules, path;
    PathKind kind;
    Verdict verdict;
  };
  constexpr auto kFile = PathKind::kFile, kFolder = PathKind::kFolder;
  constexpr auto kIgnored = Verdict::kIgnored, kNone = Verdict::kNone, kKept = Verdict::kKept;
  constexpr Case kCases[] = {
      {"*.o", "a.o", kFile, kIgnored},
      {"*.o", "deep/down/a.o", kFile, kIgnored},
      {"*.o", "a.oo", kFile, kNone},
      {"/a.o", "a.o", kFile, kIgnored},
      {"/a.o", "b/a.o", kFile, kNone},
      {"b/a.o", "b/a.o", kFile, kIgnored},
      {"b/a.o", "c/b/a.o", kFile, kNone},
      {"out/", "out", kFolder, kIgnored},
      {"out/", "out", kFile, kNone},
      {"out/", "x/out", kFolder, kIgnored},
      {"*.o\n!keep.o", "keep.o", kFile, kKept},
      {"!keep.o\n*.o", "keep.o", kFile, kIgnored},
      {"# comment\n\n   \n", "# comment", kFile, kNone},
      {"\\#x", "#x", kFile, kIgnored},
      {"\\!x", "!x", kFile, kIgnored},
      {"a/**/b", "a/b", kFile, kIgnored},
      {"a/**/b", "a/x/y/b", kFile, kIgnored},
      {"**/b", "b", kFile, kIgnored},
      {"**/b", "x/y/b", kFile, kIgnored},
      {"a/**", "a/x/y", kFile, kIgnored},
      {"a/**", "a", kFolder, kNone},
      {"a/*", "a/b/c", kFile, kNone},
      {"f?o", "foo", kFile, kIgnored},
      {"a?b/c", "a/b/c", kFile, kNone},
      {"[a-c]x", "bx", kFile, kIgnored},
      {"[!a-c]x", "bx", kFile, kNone},
      {"[]x]", "]", kFile, kIgnored},
      {"name  ", "name", kFile, kIgnored},
      {"name\\ ", "name ", kFile, kIgnored},
      {"a.o\r\n", "a.o", kFile, kIgnored},
      {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", kFile, kNone},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(IgnoreFile(c.rules).Match(c.path, c.kind), c.verdict) << c.rules << " | " << c.path;
  }
}

TEST_F(WalkTest, PathsComeInByteOrderWithoutHiddenAndIgnoredOnes) {  // INS-130
  for (const char* path : {"b.txt", "a/z.txt", "a.txt", "a-b/x", ".hidden", ".dir/x", "build/o.o",
                           "sub/keep.log", "sub/drop.log", "sub/deep/drop.log"}) {
    Write(path);
  }
  Write(".gitignore", "build/\n*.log\n");
  Write("sub/.gitignore", "!keep.log\n");
  EXPECT_EQ(Walk(), "a-b/x a.txt a/z.txt b.txt sub/keep.log");
  EXPECT_EQ(Walk({.hidden = HiddenFiles::kInclude}),
            ".dir/x .gitignore .hidden a-b/x a.txt a/z.txt b.txt sub/.gitignore sub/keep.log");
  EXPECT_EQ(Walk({.ignore = IgnoreRules::kDisregard}),
            "a-b/x a.txt a/z.txt b.txt build/o.o sub/deep/drop.log sub/drop.log sub/keep.log");
}

TEST_F(WalkTest, TheRulesAboveTheFolderApplyInsideARepository) {  // INS-130
  for (const char* part : {".git/HEAD", ".git/objects/x", ".git/refs/x"}) Write(part);
  Write(".gitignore", "*.tmp\n/sub/top\n");
  Write(".git/info/exclude", "secret\n");
  Write("sub/a.tmp");
  Write("sub/top");
  Write("sub/secret");
  Write("sub/b");
  const auto result = WalkFolder(root() + "/sub", {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->files, std::vector<std::string>{root() + "/sub/b"});
}

TEST_F(WalkTest, LinksAreLeftOutOrFollowedOnceEach) {  // INS-130, INS-T13
  Write("real/a");
  ASSERT_EQ(symlink("..", (root() + "/real/loop").c_str()), 0);
  ASSERT_EQ(symlink("real", (root() + "/zlink").c_str()), 0);
  ASSERT_EQ(symlink("real/a", (root() + "/alink").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", (root() + "/broken").c_str()), 0);
  EXPECT_EQ(Walk(), "real/a");
  EXPECT_EQ(Walk({.links = SymbolicLinks::kFollowOnce}), "alink real/a");
}

TEST_F(WalkTest, DevicesSocketsAndFifosAreListedAsSkipped) {  // INS-130
  Write("a");
  ASSERT_EQ(mkfifo((root() + "/pipe").c_str(), 0600), 0);
  const auto result = WalkFolder(root(), {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->skipped.size(), 1u);
  EXPECT_EQ(result->skipped[0].path, root() + "/pipe");
  EXPECT_EQ(result->skipped[0].reason, "fifo");
}

TEST_F(WalkTest, StopsAtTheLimitAndSaysSo) {
  for (int i = 0; i < 10; ++i) Write("f" + std::to_string(i));
  const auto result = WalkFolder(root(), {.max_files = 4});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stopped);
  EXPECT_EQ(result->files.size(), 4u);
  EXPECT_FALSE(WalkFolder(root(), {.max_files = 10})->stopped);
}

TEST_F(WalkTest, AnAbsentFolderAndACancelledWalkFail) {
  EXPECT_THAT(WalkFolder(root() + "/absent", {}), FailsWith(ErrorCode::kNotFound, "absent"));
  CancelSource source;
  source.Cancel("test");
  EXPECT_THAT(WalkFolder(root(), {}, source.token()), FailsWith(ErrorCode::kCancelled, ""));
}

std::string RandomPattern(Random& random) {
  constexpr std::string_view kParts[] = {"a",   "b",   "c",    "*", "?", "/",
                                         "**/", "/**", "[ab]", "!", "a*"};
  std::string pattern;
  for (std::uint64_t i = 1 + random.Below(4); i > 0; --i) pattern += kParts[random.Below(11)];
  if (random.Below(4) == 0) pattern += "/";
  return pattern;
}

TEST_F(WalkTest, AgreesWithGitOnRandomRules) {  // INS-130
  ASSERT_TRUE(FindProgram("git")) << "scripts/setup installs it";
  for (const char* path : {"a", "b/a", "b/c", "ab", "c/a/b", "c/b/a/c", "c/b/ab", "bb/cc/aa"}) {
    Write(path);
  }
  ASSERT_TRUE(RunProcess({.argv = {"git", "init", "-q"}, .folder = root()}));
  Random random(47);
  for (int round = 0; round < 60; ++round) {
    std::string rules;
    for (std::uint64_t i = 1 + random.Below(4); i > 0; --i) rules += RandomPattern(random) + "\n";
    Write(".gitignore", rules);
    Write("c/.gitignore", RandomPattern(random) + "\n");
    const auto git = RunProcess(
        {.argv = {"git", "ls-files", "--others", "--exclude-standard"}, .folder = root()});
    ASSERT_TRUE(git);
    std::vector<std::string> lines;
    for (const std::string_view line : Split(TrimSpace(git->out), '\n')) {
      if (line.find(".gitignore") == std::string_view::npos) lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    std::string expected = Join(lines, " ");
    EXPECT_EQ(Walk(), expected) << rules << "--- in c\n" << *ReadFile(root() + "/c/.gitignore");
  }
}

}  // namespace
}  // namespace dossier
