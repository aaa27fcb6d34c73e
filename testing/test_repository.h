// A real git repository in a temporary folder, for tests of this module.
//
//   TestRepository repository;                       // one commit on main
//   repository.Write("src/a.cc", "int a;\n");
//   repository.Sh("git add -A && git commit -qm more");
//   const auto before = repository.Snapshot();       // every file, ref and index entry
//
// Thread-safety: one owner.

#ifndef DOSSIER_TESTING_TEST_REPOSITORY_H_
#define DOSSIER_TESTING_TEST_REPOSITORY_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "agents/git/git.h"
#include "agents/git/git_dir_guard.h"
#include "agents/git/patch.h"
#include "agents/git/state_folder.h"
#include "agents/git/worktree.h"
#include "base/files/file.h"
#include "base/process/process.h"
#include "base/text/text.h"

namespace dossier::agents {

class TestRepository {
 public:
  TestRepository() : folder_(*TempFolder::Make("harness")) {
    Expect(MakeFolders(root() + "/src"));
    Sh("git init -q -b main . && git config user.name Ada && git config user.email ada@example.org "
       "&& git config core.autocrlf false");
    Write("src/a.txt", Lines(1, 40));
    Write("src/b.txt", Lines(100, 140));
    Write("src/tool.sh", "#!/bin/sh\n");
    Write("src/picture.bin", std::string("\0\1\2\3", 4) + Lines(1, 9));
    Write(".gitignore", "*.o\n/cache/\n");
    Sh("git add -A && git commit -qm base");
  }

  std::string root() const { return folder_.path() + "/repository"; }
  const std::string& folder() const { return folder_.path(); }
  std::string Path(const std::string& name) const { return fmt::format("{}/{}", root(), name); }

  static std::string Lines(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) text += fmt::format("{}\n", i);
    return text;
  }

  void Write(const std::string& name, const std::string& content) const {
    const std::string path = name.starts_with('/') ? name : Path(name);
    Expect(MakeFolders(path.substr(0, path.rfind('/'))));
    Expect(WriteFileAtomic(path, content));
  }
  std::string Read(const std::string& name) const {
    return ReadFile(name.starts_with('/') ? name : Path(name)).value_or("(absent)");
  }

  // Runs a line of shell in `where` (the root if empty), outside of anything of ours, and gives its
  // stdout. A line that fails fails the test.
  std::string Sh(const std::string& line, const std::string& where = "") const {
    const auto result = RunProcess(
        {.argv = {"sh", "-c", line},
         .folder = where.empty() ? root() : where,
         .environment = std::vector<std::string>{"PATH=" + std::string(getenv("PATH")),
                                                 "HOME=" + folder(), "GIT_CONFIG_NOSYSTEM=1"}});
    EXPECT_TRUE(result && result->exit_code == 0)
        << line << ": " << (result ? result->err : result.error().message);
    return result ? std::string(TrimSpace(result->out)) : "";
  }

  Git OpenGit(GitOptions options = {}) const {
    setenv("HOME", folder().c_str(), 1);
    auto git = Git::Open(*FindGitFolders(root()), std::move(options));
    EXPECT_TRUE(git) << git.error().message;
    return *git;
  }
  StateFolder OpenState() const { return *StateFolder::Open(*Common()); }
  std::string Head() const { return Sh("git rev-parse refs/heads/main"); }

  Worktree MakeWorktree(const Git& git, const std::string& name = "w1",
                        const std::string& commit = "main") const {
    auto made = Worktree::Make(git, OpenState(),
                               {.path = folder() + "/worktrees/" + name,
                                .commit = Sh("git rev-parse " + commit),
                                .run = "run-1"});
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  // Everything that a refused patch must leave as it was: files with modes and bytes, the index,
  // refs. STATE and objects are left out, which nobody sees.
  std::map<std::string, std::string> Snapshot() const {
    namespace fs = std::filesystem;
    std::map<std::string, std::string> all;
    for (auto entry = fs::recursive_directory_iterator(root());
         entry != fs::recursive_directory_iterator(); ++entry) {
      const std::string name = fs::relative(entry->path(), root()).string();
      if (name == ".git") entry.disable_recursion_pending();
      if (entry->is_symlink()) {
        all[name] = "link " + fs::read_symlink(entry->path()).string();
      } else if (entry->is_regular_file()) {
        struct stat info{};
        stat(entry->path().c_str(), &info);
        all[name] = fmt::format("{:o} {}", info.st_mode, Read(entry->path().string()));
      }
    }
    all["(index)"] = Sh("git ls-files -s");
    all["(index bytes)"] = Read(".git/index");
    all["(refs)"] = Sh("git for-each-ref --format='%(refname) %(objectname)' refs/heads refs/tags");
    all["(HEAD)"] = Read(".git/HEAD");
    return all;
  }

  void ExpectSound() const {
    EXPECT_EQ(Sh("git fsck --full --strict 2>&1 | grep -v dangling || true"), "");
  }

 private:
  static void Expect(const Status& status) { EXPECT_TRUE(status) << status.error().message; }
  std::optional<std::string> Common() const { return root() + "/.git"; }

  TempFolder folder_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_TESTING_TEST_REPOSITORY_H_
