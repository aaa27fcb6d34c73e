// The walk beside git itself, over trees and rules that nobody would write on purpose.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/process/process.h"
#include "base/random.h"
#include "base/text/text.h"

namespace dossier {
namespace {

using Paths = std::set<std::string>;

// Names in which something is special to a shell, to git, to a glob, or to a terminal.
constexpr std::string_view kNames[] = {
    "a",      "b",        "ab",          "A",           "a.o",      "b.o",   "foo",
    "foo.c",  "x y",      "x ",          " x",          "[id]",     "[a]",   "!a",
    "#a",     "a*b",      "a?b",         "back\\slash", "quote\"q", "it's",  "new\nline",
    "tab\tt", "\xFF\xFE", "caf\xC3\xA9", "-dash",       "a]",       "{a,b}", "...",
    ".hid",   "build",    "o",           "~",           "a-z",      "^a",    "a\r",
};
constexpr std::string_view kFolders[] = {"src",  "build", "a",      "[id]",     "x y", "deep",
                                         ".dot", "o.d",   "new\nd", "\xC3\xA9", "b"};
constexpr std::string_view kPieces[] = {
    "a",     "b",    "foo",         "build",      "src",        "*",     "**",       "?",
    "/",     "/",    "/**/",        "**/",        "/**",        "[ab]",  "[!a]",     "[^b]",
    "[a-c]", "[]a]", "[[:alpha:]]", "[[:nope:]]", "[[:digit:]", "[a",    "\\[id\\]", "[id]",
    "\\",    "\\ ",  "\\*",         "\\!",        "!",          "#",     "\\#",      " ",
    "  ",    ".o",   "*.o",         ".",          ".*",         "o",     "x y",      "é",
    "\xFF",  "]",    "{a,b}",       "[a-",        "[\\]]",      "[--0]", "\t",       "***",
    "A",     "deep", "[!]a-]",      "^",          "~",
};

std::string RandomGitPattern(Random& random) {
  std::string pattern;
  if (random.Below(4) == 0) pattern += "!";
  if (random.Below(6) == 0) pattern += "/";
  for (std::uint64_t i = 1 + random.Below(4); i > 0; --i) {
    pattern += kPieces[random.Below(std::size(kPieces))];
  }
  if (random.Below(5) == 0) pattern += "/";
  if (random.Below(8) == 0) pattern += "   ";
  return pattern;
}

std::string RandomRules(Random& random) {
  const std::string_view end = random.Below(4) == 0 ? "\r\n" : "\n";
  std::string rules = random.Below(6) == 0 ? "\xEF\xBB\xBF" : "";
  for (std::uint64_t i = 1 + random.Below(5); i > 0; --i) {
    rules.append(RandomGitPattern(random)).append(end);
  }
  if (random.Below(3) == 0 && !rules.empty()) rules.resize(rules.size() - end.size());
  return rules;
}

Paths SplitAtNul(std::string_view text) {
  Paths paths;
  for (const std::string_view path : Split(text, '\0')) {
    if (!path.empty()) paths.emplace(path);
  }
  return paths;
}

std::string Shown(const Paths& paths) {
  std::string out;
  for (const std::string& path : paths) out += fmt::format("  {:?}\n", path);
  return out;
}

class WalkGitTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(FindProgram("git")) << "scripts/setup installs it"; }

  std::string Git(std::vector<std::string> arguments, std::string input = "") {
    arguments.insert(arguments.begin(), "git");
    std::vector<std::string> environment = {"PATH=" + std::string(getenv("PATH")),
                                            "HOME=" + home_.path(), "LC_ALL=C"};
    const auto done = RunProcess({.argv = arguments,
                                  .folder = root_,
                                  .environment = environment,
                                  .input = std::move(input)});
    EXPECT_TRUE(done);
    return done ? done->out : "";
  }

  void Write(const std::string& path, std::string_view text = "x") {
    const std::string full = root_ + "/" + path;
    // A name may be a folder already: then there is no such file in this tree.
    if (!MakeFolders(full.substr(0, full.rfind('/')))) return;
    std::ofstream(full, std::ios::binary) << text;  // without the fsync of WriteFileAtomic
  }

  std::string RandomFolder(Random& random) {
    std::string path;
    for (std::uint64_t depth = random.Below(4); depth > 0; --depth) {
      path += kFolders[random.Below(std::size(kFolders))];
      path += "/";
    }
    return path;
  }

  void MakeTree(Random& random, int round) {
    root_ = fmt::format("{}/tree{}", folder_.path(), round);
    ASSERT_TRUE(MakeFolders(root_));
    Git({"init", "-q"});
    for (int i = 0; i < 40; ++i) {
      const std::string folder = RandomFolder(random);
      Write(folder + std::string(kNames[random.Below(std::size(kNames))]));
    }
    for (std::uint64_t i = 1 + random.Below(3); i > 0; --i) {
      Write(RandomFolder(random) + ".gitignore", RandomRules(random));
    }
    Write(".gitignore", RandomRules(random));
    Write(".git/info/exclude", RandomRules(random));
    static_cast<void>(MakeFolders(home_.path() + "/.config/git"));
    ASSERT_TRUE(WriteFileAtomic(home_.path() + "/.config/git/ignore", RandomRules(random)));
  }

  // Paths from the root.
  Paths Walk(const std::string& folder, std::vector<std::string> tracked = {}) {
    WalkOptions options{.hidden = HiddenFiles::kInclude, .nested = NestedRepositories::kSkip};
    options.global_ignore_file = home_.path() + "/.config/git/ignore";
    options.tracked = std::move(tracked);
    const auto found = WalkFolder(root_ + folder, options);
    EXPECT_TRUE(found);
    Paths paths;
    if (!found) return paths;
    for (const std::string& path : found->files) paths.insert(path.substr(root_.size() + 1));
    return paths;
  }

  std::string Rules() {
    std::string out;
    for (const std::string& path : Walk("")) {
      if (!path.ends_with(".gitignore")) continue;
      out += fmt::format("{:?}: {:?}\n", path, *ReadFile(root_ + "/" + path));
    }
    out += fmt::format("exclude: {:?}\n", *ReadFile(root_ + "/.git/info/exclude"));
    return out + fmt::format("global: {:?}\n", *ReadFile(home_.path() + "/.config/git/ignore"));
  }

  TempFolder folder_ = std::move(*TempFolder::Make("walk-git"));
  TempFolder home_ = std::move(*TempFolder::Make("walk-home"));
  std::string root_;
};

TEST_F(WalkGitTest, ListsWhatGitListsOverRandomTrees) {  // ASM-110, ASM-T17
  Random random(110);
  for (int round = 0; round < 30; ++round) {
    MakeTree(random, round);
    if (round % 2 == 0) {  // some files are tracked, ignored ones too
      Paths all = SplitAtNul(Git({"ls-files", "-o", "-z"}));
      std::string some;
      for (const std::string& path : all) {
        if (random.Below(3) == 0) some.append(path).push_back('\0');
      }
      Git({"--literal-pathspecs", "add", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"},
          some);
    }
    const Paths cached = SplitAtNul(Git({"ls-files", "-c", "-z"}));
    const Paths expected = SplitAtNul(Git({"ls-files", "-co", "--exclude-standard", "-z"}));
    const Paths found = Walk("", {cached.begin(), cached.end()});
    EXPECT_EQ(found, expected) << "walk:\n"
                               << Shown(found) << "git:\n"
                               << Shown(expected) << Rules();
    if (HasFailure()) return;
  }
}

TEST_F(WalkGitTest, LeavesOutWhatCheckIgnoreNames) {  // ASM-110, ASM-T17
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    MakeTree(random, round);
    const Paths all = SplitAtNul(Git({"ls-files", "-o", "-z"}));
    std::string list;
    for (const std::string& path : all) list.append(path).push_back('\0');
    const Paths ignored = SplitAtNul(Git({"check-ignore", "--no-index", "-z", "--stdin"}, list));
    Paths expected;
    std::set_difference(all.begin(), all.end(), ignored.begin(), ignored.end(),
                        std::inserter(expected, expected.end()));
    const Paths found = Walk("");
    EXPECT_EQ(found, expected) << "walk:\n"
                               << Shown(found) << "git:\n"
                               << Shown(expected) << Rules();
    // From a subfolder the same rules hold.
    for (const std::string_view folder : kFolders) {
      const std::string inside = std::string(folder) + "/";
      if (!Exists(root_ + "/" + inside)) continue;
      if (Git({"check-ignore", "--no-index", inside}) != "") continue;  // named outright: walked
      Paths below;
      for (const std::string& path : expected) {
        if (path.starts_with(inside)) below.insert(path);
      }
      EXPECT_EQ(Walk("/" + std::string(folder)), below) << folder << "\n" << Rules();
    }
    if (HasFailure()) return;
  }
}

TEST_F(WalkGitTest, ARepositoryInsideIsOneOfItsOwn) {  // ASM-117
  root_ = folder_.path() + "/outer";
  ASSERT_TRUE(MakeFolders(root_ + "/inner"));
  Git({"init", "-q"});
  Git({"init", "-q", "inner"});
  Write("inner/a");
  Write("fake/.git/x");
  Write("fake/b");
  EXPECT_EQ(Walk(""), Paths{"fake/b"});
  EXPECT_EQ(SplitAtNul(Git({"ls-files", "-o", "-z"})), (Paths{"fake/b", "inner/"}));
}

TEST_F(WalkGitTest, ExtraIgnoreFilesSpeakBeforeGitsAndForTrackedFiles) {  // ASM-110
  root_ = folder_.path() + "/extra";
  ASSERT_TRUE(MakeFolders(root_));
  Git({"init", "-q"});
  for (const char* path : {"a.log", "b.log", "c.txt", "sub/d.txt", "sub/e.txt"}) Write(path);
  Write(".gitignore", "*.log\n");
  Write(".ignore", "!b.log\nc.txt\nsub/e.txt\n");
  Write("sub/.dossierignore", "d.txt\n!e.txt\n");
  WalkOptions options{.extra_ignore_files = {".ignore", ".dossierignore"}};
  options.tracked = {"c.txt", "sub/d.txt"};
  const auto found = WalkFolder(root_, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files, (std::vector<std::string>{root_ + "/b.log", root_ + "/sub/e.txt"}));
}

}  // namespace
}  // namespace dossier
