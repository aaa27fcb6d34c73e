#include "sandbox/commands/policy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files/file.h"
#include "base/text/text.h"
#include "testing/jail_folder.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

class PolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make("dossier-policy");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    jail_.root = folder_->path() + "/project";
    ASSERT_THAT(MakeFolders(jail_.root + "/src"), Succeeds());
    for (const std::string& path : {folder_->path(), jail_.root}) {
      dossier::testing::FitForPrograms(path);
    }
    ASSERT_THAT(WriteFileAtomic(jail_.root + "/x", "inside\n"), Succeeds());
    ASSERT_THAT(WriteFileAtomic(folder_->path() + "/secret", "secret"), Succeeds());
    ASSERT_EQ(symlink("../secret", (jail_.root + "/out").c_str()), 0);
    ASSERT_EQ(symlink("x", (jail_.root + "/in").c_str()), 0);
    ASSERT_EQ(symlink("..", (jail_.root + "/up").c_str()), 0);
    ASSERT_EQ(symlink("../nowhere", (jail_.root + "/dangling").c_str()), 0);
  }

  Decision Ask(const PolicyText& text, std::string_view line) const {
    const auto policy = MakePolicy(text);
    EXPECT_THAT(policy, Succeeds());
    const auto argv = LexCommand(line);
    if (!argv) return {.sentence = argv.error().message};
    return Judge(*policy, *argv, jail_);
  }

  std::optional<TempFolder> folder_;
  CommandJail jail_;
};

TEST_F(PolicyTest, TheBuiltInTableLooksAndNothingElse) {  // CON-35, A7, D8
  for (const char* line : {"git log -n 2",
                           "git log -n2 --oneline src",
                           "git status --short",
                           "git diff --stat HEAD",
                           "git show 'HEAD~1'",
                           "git branch -a",
                           "git log -5",
                           "ls",
                           "ls -la src",
                           "cat x",
                           "cat in",
                           "head -n 3 x",
                           "tail -n +2 x",
                           "grep -rn text .",
                           "grep -e a -e b x",
                           "find . -name x",
                           "find -type f",
                           "df -h",
                           "ps aux",
                           "ps -ef",
                           "whoami",
                           "pwd",
                           "echo a b",
                           "cat ./src/../x"}) {
    const Decision decision = Ask({}, line);
    EXPECT_TRUE(decision.allowed) << line << ": " << decision.sentence;
    EXPECT_THAT(decision.rule, HasSubstr("built-in: "));
  }
  for (const char* line : {"cat x; rm y",
                           "cat $(id)",
                           "cat ../../x",
                           "cat out",
                           "cat up/secret",
                           "cat dangling",
                           "/bin/rm",
                           "/bin/rm x",
                           "rm x",
                           "git -c x=y log",
                           "find . -delete",
                           "lsof",
                           "cat /etc/passwd",
                           "find . -exec rm x",
                           "find . -fprint y",
                           "find . -fls y",
                           "find . -ok rm",
                           "find -- . -exec touch x",
                           "find -- -delete",
                           "find -- . -fprintf x %p",
                           "cat -- -x",
                           "git log --output=x",
                           "git diff --ext-diff",
                           "git diff --no-index a b",
                           "git branch -D main",
                           "git branch new",
                           "git branch -m a b",
                           "git push",
                           "git -C .. log",
                           "git show --textconv",
                           "git config -l",
                           "tail -f x",
                           "grep -f out x",
                           "sh -c ls",
                           "python3 -c x",
                           "make test",
                           "pytest",
                           "cat",
                           "cat -",
                           "env",
                           "ls --color=auto -Z",
                           "git --exec-path=. log",
                           "git",
                           "grep -r x ..",
                           "ls ..",
                           "/usr/bin/cat x",
                           "./src",
                           "echo -x",
                           "git log --ext-diff",
                           "git log -O x"}) {
    const Decision decision = Ask({}, line);
    EXPECT_FALSE(decision.allowed) << line << " by " << decision.rule;
    EXPECT_FALSE(decision.sentence.empty());
  }
}

TEST_F(PolicyTest, GitRunsWithItsSafeOptions) {  // CON-35
  EXPECT_EQ(Join(Ask({}, "git log -n 2").argv, " "),
            "/usr/bin/git -c core.fsmonitor=false -c core.hooksPath=/dev/null log --no-ext-diff "
            "--no-textconv -n 2");
  EXPECT_EQ(Join(Ask({}, "git status").argv, " "),
            "/usr/bin/git -c core.fsmonitor=false -c core.hooksPath=/dev/null status");
  EXPECT_EQ(Join(Ask({}, "ls x").argv, " "), "/usr/bin/ls x");
}

TEST_F(PolicyTest, TheOrderIsDenyAvailableAllowAndThenNothing) {  // CON-35, D8, D10
  using List = std::vector<std::string>;
  struct Case {
    PolicyText text;
    std::string_view line;
    std::string_view rule;  // begins with it; empty: refused
    std::string_view sentence;
  };
  const Case cases[] = {
      {{.deny = {"cat"}}, "cat x", "deny: cat", "is denied by the rule `cat`"},
      {{.deny = {"cat"}}, "/bin/cat x", "deny: cat", "denied"},
      {{.deny = {"git push"}, .available_commands = List{"git"}},
       "git -C x push",
       "deny",
       "denied"},
      {{.deny = {"git push"}, .available_commands = List{"git"}},
       "git log",
       "available_commands: git",
       ""},
      {{.deny = {"rm *"}, .allow = List{"rm **"}}, "rm x", "deny: rm *", "denied"},
      {{.available_commands = List{"git log"}},
       "git log --output=x",
       "available_commands: git log",
       ""},
      {{.available_commands = List{"git log"}}, "git logs", "", "it does not fit `git log`"},
      {{.available_commands = List{"git log"}}, "ls", "", "no rule allows ls"},
      {{.available_commands = List{"ls"}}, "lsof", "", ""},
      {{.available_commands = List{}}, "ls", "", "no rule allows ls"},
      {{.allow = List{}}, "ls", "", "no rule allows ls"},
      {{.allow = List{"ls [-l]"}}, "ls -l", "allow: ls [-l]", ""},
      {{.allow = List{"ls [-l]"}}, "cat x", "", "no rule allows cat"},
      {{.allow = List{"ls [-l]"}}, "ls -a", "", "it does not fit `ls [-l]`"},
      {{.allow = List{"cat <path>"}}, "cat -n out", "", "it does not fit"},
      {{.allow = List{"ls", "cat <path>"}}, "cat out", "", "`out` lies outside the project"},
      {{}, "cat -n x /etc/passwd", "", "`/etc/passwd` lies outside the project"},
      {{.allow = List{"ls *"}}, "lsblk", "", "no rule allows lsblk"},
      {{.available_commands = List{"ls"}, .allow = List{"pwd"}}, "pwd", "allow: pwd", ""},
      {{.allow = List{"no-such-program"}}, "no-such-program", "", "there is no program"},
  };
  for (const Case& c : cases) {
    const Decision decision = Ask(c.text, c.line);
    EXPECT_TRUE(std::string_view(decision.rule).starts_with(c.rule))
        << c.line << " " << decision.rule;
    EXPECT_THAT(decision.sentence, HasSubstr(std::string(c.sentence))) << c.line;
    EXPECT_EQ(decision.allowed, !c.rule.empty() && !c.rule.starts_with("deny")) << c.line;
  }
}

TEST_F(PolicyTest, ALinkWithAnotherNameIsDeniedByWhatItIs) {  // CON-35: real base name
  ASSERT_EQ(symlink("/usr/bin/rm", (jail_.root + "/harmless").c_str()), 0);
  const Decision decision = Ask({.deny = {"rm"}, .allow = {{"./harmless **"}}}, "./harmless x");
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.rule, "deny: rm");
}

TEST_F(PolicyTest, PathsAreJudgedAfterSymbolicLinks) {  // CON-34, A7
  for (const char* path :
       {"x", "src", "new", "src/new/deep", "in", "src/../x", ".", "up/project/x"}) {
    EXPECT_TRUE(LiesInside(jail_, path)) << path;
  }
  for (const char* path : {"out", "up", "up/secret", "..", "../secret", "dangling", "dangling/x",
                           "/etc/passwd", "", "new/../../secret", "src/../../project2", "/"}) {
    EXPECT_FALSE(LiesInside(jail_, path)) << path;
  }
  EXPECT_TRUE(LiesInside(jail_, jail_.root + "/x"));
  CommandJail deeper = jail_;
  deeper.folder = jail_.root + "/src";
  EXPECT_TRUE(LiesInside(deeper, "../x"));
  EXPECT_FALSE(LiesInside(deeper, "../../secret"));
}

TEST_F(PolicyTest, RulesThatAreNoBoundarySaySo) {  // CON-34
  const auto policy = MakePolicy({.allow = {{"python3 **", "ls [-l]"}}});
  ASSERT_THAT(policy, Succeeds());
  EXPECT_EQ(policy->warnings,
            std::vector<std::string>{"allow: rule `python3 **`: this rule is not a boundary"});
  EXPECT_THAT(MakePolicy({.deny = {"rm [-"}}), FailsWith(ErrorCode::kConfig, "deny: rule `rm [-`"));
}

TEST_F(PolicyTest, EveryBuiltInRuleIsWellFormedAndClosed) {  // CON-35
  for (const std::string_view line : BuiltInRules()) {
    const auto rule = UsageRule::Parse(line);
    ASSERT_THAT(rule, Succeeds()) << line;
    EXPECT_FALSE(rule->open_ended()) << line;
  }
}

TEST_F(PolicyTest, TheJailOfACommandReadsItsRootOnly) {  // CON-36, A8
  const auto policy = MakePolicy({.allow = {{"python3 **", "sh **"}}});
  ASSERT_THAT(policy, Succeeds());
  setenv("OPENAI_API_KEY", "sk-secret", 1);
  const JailSpec spec = *JailForCommand(
      *policy, jail_,
      {"LANG=C.UTF-8", "OPENAI_API_KEY=sk-secret", "LC_ALL=C", "USER=ann", "LD_PRELOAD=x"});
  unsetenv("OPENAI_API_KEY");
  const auto run = [&](const Argv& argv) {
    const Decision decision = Judge(*policy, argv, jail_);
    EXPECT_TRUE(decision.allowed) << decision.sentence;
    return RunJailed(spec, decision.argv);
  };
  const auto environment = run({"sh", "-c", "env; cat; cat x; pwd"});
  ASSERT_THAT(environment, Succeeds());
  EXPECT_THAT(environment->out, HasSubstr("inside\n" + jail_.root));
  EXPECT_THAT(environment->out, ::testing::Not(HasSubstr("sk-secret")));
  EXPECT_THAT(environment->out, ::testing::Not(HasSubstr("LD_PRELOAD")));
  EXPECT_THAT(environment->out, HasSubstr("USER=ann"));
  for (const std::string& code :
       {"open('" + folder_->path() + "/secret')", std::string("open('new', 'w')"),
        std::string("import socket; socket.create_connection(('127.0.0.1', 9), 1)")}) {
    const auto tried = run({"python3", "-c", code});
    ASSERT_THAT(tried, Succeeds());
    EXPECT_EQ(tried->status, 1) << code;
    EXPECT_THAT(tried->err, HasSubstr("Error")) << code;
    EXPECT_THAT(tried->err, ::testing::Not(HasSubstr("refused"))) << code;  // by a peer: reached
  }
  const auto writing = MakePolicy({.allow = {{"sh **"}}, .write = CommandWrites::kJail});
  const std::string argv[] = {"sh", "-c", "echo y > new; cat new"};
  EXPECT_EQ(RunJailed(*JailForCommand(*writing, jail_, {}), argv)->out, "y\n");
}

TEST_F(PolicyTest, SecretFilesOfTheRootAreNotShown) {  // FLT-134
  for (const char* name : {".env", "named.key"}) {
    ASSERT_TRUE(WriteFileAtomic(fmt::format("{}/{}", jail_.root, name), "hush\n"));
  }
  const std::string argv[] = {"sh", "-c", "cat .env; cat named.key; cat x; ls -A"};
  for (const auto write : {CommandWrites::kNothing, CommandWrites::kJail}) {
    const auto policy =
        MakePolicy({.allow = {{"sh **"}}, .write = write, .secret_files = {"named.key"}});
    const auto exit = RunJailed(*JailForCommand(*policy, jail_, {}), argv);
    ASSERT_THAT(exit, Succeeds());
    EXPECT_THAT(exit->out, ::testing::StartsWith("hush\ninside\n.env\n"));
    EXPECT_THAT(exit->err, HasSubstr(".env: Permission denied"));
  }
  JailSpec bare = *JailForCommand(*MakePolicy({.allow = {{"sh **"}}}), jail_, {});
  bare.disabled_layers = {"namespaces"};
  // A file of root's own would be refused for another reason.
  for (const std::string& path : {folder_->path(), jail_.root}) testing::GiveToAnother(path);
  EXPECT_THAT(RunJailed(bare, argv), FailsWith(ErrorCode::kUnavailable, "namespaces is required"));
}

TEST_F(PolicyTest, AFolderThatIsTooLargeToHideItsSecretsIsRefused) {  // FLT-134
  constexpr int kFolders = 201, kEach = 1000;
  for (int folder = 0; folder < kFolders; ++folder) {
    const std::string path = fmt::format("{}/{}", jail_.root, folder);
    ASSERT_TRUE(MakeFolders(path));
    for (int i = 0; i < kEach; ++i) {
      ASSERT_EQ(mknod(fmt::format("{}/{}", path, i).c_str(), S_IFREG | 0600, 0), 0);
    }
  }
  EXPECT_THAT(JailForCommand(*MakePolicy({}), jail_, {}),
              FailsWith(ErrorCode::kLimit, "holds more than 200000 files"));
}

TEST_F(PolicyTest, AllowedGitRunsInItsJail) {  // A7: `git log -n 2` → runs
  const std::string script = fmt::format(
      "cd {0} && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "
      "first "
      "&& git -c user.name=a -c user.email=a@b worktree add -q {1}/tree",
      jail_.root, folder_->path());
  ASSERT_EQ(std::system(script.c_str()), 0);
  if (geteuid() == 0) {  // without namespaces no program runs as root
    ASSERT_EQ(std::system(fmt::format("chown -R 12345:12345 {}", folder_->path()).c_str()), 0);
  }
  for (const std::string& root : {jail_.root, folder_->path() + "/tree"}) {
    for (const char* disabled : {"", "namespaces"}) {
      const auto policy = MakePolicy({});
      const CommandJail jail{.root = root};
      const Decision decision = Judge(*policy, {"git", "log", "-n", "2", "--format=%s"}, jail);
      ASSERT_TRUE(decision.allowed) << decision.sentence;
      JailSpec spec = *JailForCommand(*policy, jail, {});
      spec.disabled_layers = {disabled};
      const auto exit = RunJailed(spec, decision.argv);
      ASSERT_THAT(exit, Succeeds());
      EXPECT_EQ(exit->out, "first\n") << root << disabled << exit->err;
    }
  }
}

}  // namespace
}  // namespace dossier::sandbox
