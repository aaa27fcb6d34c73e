#include "agents/engine/process_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "agents/engine/process_jail.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"
#include "testing/thread_sanitizer.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using End = ProcessOutcome::End;

class TextPrompt final : public EnginePrompt {
 public:
  explicit TextPrompt(std::string text) : text_(std::move(text)) {}
  Result<std::string> Text() const override { return text_; }
  Result<assembly::Assembled> Messages(const Reader&, std::span<const assembly::Turn>,
                                       std::span<const assembly::ToolSpec>) const override {
    return MakeError(ErrorCode::kInternal, "not asked for");
  }

 private:
  std::string text_;
};

class ProcessEngineTest : public ::testing::Test {
 protected:
  ProcessEngineTest() : ground_(*TempFolder::Make()) {
    EXPECT_TRUE(MakeFolders(Path("tree")));
    EXPECT_TRUE(MakeFolders(Path("state")));
  }

  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", ground_.path(), name);
  }
  // Identifies this test's programs, in their command lines.
  std::string Mark() const { return ground_.path() + "-mark"; }
  std::string Read(std::string_view name) const { return ReadFile(Path(name)).value_or("(none)"); }

  EngineJob Job() const {
    return {.task = "fact-001",
            .prompt = &prompt_,
            .worktree = Path("tree"),
            .folder = Path("tree"),
            .prompt_path = Path("state/prompt"),
            .out_path = Path("state/out"),
            .err_path = Path("state/err"),
            .time_limit = Millis(60'000)};
  }

  Result<EngineOutcome> RunScript(std::string script, ProcessEngineSpec spec = {},
                                  std::optional<Millis> limit = Millis(60'000)) {
    spec.name = "fake";
    spec.argv = {"sh", "-c", std::move(script)};
    if (!walls_) spec.walls.confinement = Confinement::kNone;
    auto engine = ProcessEngine::Make(spec, environment_);
    if (!engine) return tl::unexpected(engine.error());
    EngineJob job = Job();
    job.time_limit = limit;
    return (*engine)->Run(job, cancel_.token());
  }

  const TempFolder ground_;
  const bool walls_ = TryWalls({}).has_value();
  TextPrompt prompt_{"Do it.\n"};
  CancelSource cancel_;
  std::vector<std::string> environment_ = {
      "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nowhere",      "LC_ALL=C",
      "OPENAI_API_KEY=a-secret-value",     "GIT_DIR=/elsewhere", "OTHER=x"};
};

TEST_F(ProcessEngineTest, TokensOfArgvAreReplacedOnceAndOnlyThose) {  // REP-35
  const std::map<std::string, std::string, std::less<>> values = {{"prompt", "{task_id} $5"},
                                                                  {"task_id", "a b"}};
  struct Case {
    std::string_view argument, filled;
  };
  constexpr Case kCases[] = {
      {"{prompt}", "{task_id} $5"},
      {"x={task_id};{task_id}", "x=a b;a b"},
      {"{unknown} {", "{unknown} {"},
      {"{{task_id}}", "{a b}"},
      {"", ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(FillArgument(c.argument, values), c.filled);
}

TEST_F(ProcessEngineTest, APromptIsAnArgumentAFileAndStdin) {  // REP-35
  prompt_ = TextPrompt("a  b\n'\"$HOME");
  auto engine =
      ProcessEngine::Make({.name = "fake",
                           .argv = {"sh", "-c", "printf '%s|' \"$@\"; cat \"$2\"; printf '|'; cat",
                                    "sh", "{prompt}", "{prompt_file}", "{role}-{task_id}"},
                           .stdin_prompt = ProcessEngineSpec::PromptOnStdin::kYes,
                           .walls = {.confinement = Confinement::kNone}},
                          environment_);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto outcome = (*engine)->Run(Job(), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->good());
  const std::string text = "a  b\n'\"$HOME";
  EXPECT_EQ(Read("state/out"),
            fmt::format("{}|{}|engineer-fact-001|{}|{}", text, Path("state/prompt"), text, text));
}

TEST_F(ProcessEngineTest, APromptThatCannotBeAnArgumentNamesTheWayOut) {  // REP-35
  for (const std::string& text : {std::string(kMaxArgument + 1, 'x'), std::string("a\0b", 3)}) {
    prompt_ = TextPrompt(text);
    auto engine = ProcessEngine::Make({.name = "fake",
                                       .argv = {"true", "{prompt}"},
                                       .walls = {.confinement = Confinement::kNone}},
                                      environment_);
    ASSERT_TRUE(engine);
    EXPECT_THAT((*engine)->Run(Job(), {}),
                FailsWith(ErrorCode::kConfig, "use {prompt_file} or stdin: true"));
  }
}

TEST_F(ProcessEngineTest, AMissingProgramIsAConfigurationError) {  // section 6
  EXPECT_THAT(ProcessEngine::Make({.name = "codex", .argv = {"no-such-engine"}}, environment_),
              FailsWith(ErrorCode::kConfig, "engine codex: there is no program no-such-engine; "));
  EXPECT_THAT(CheckProgram("check unit", "/nowhere/unit"),
              FailsWith(ErrorCode::kConfig, "there is no program /nowhere/unit; correct its path"));
  EXPECT_THAT(CheckProgram("check unit", "/etc/passwd"),
              FailsWith(ErrorCode::kConfig, "`chmod +x /etc/passwd` makes it one"));
  EXPECT_TRUE(CheckProgram("check unit", "sh"));
}

TEST_F(ProcessEngineTest, TheEnvironmentIsWhatIsListedAndValuesStayHidden) {  // REP-35, A31
  const auto outcome =
      RunScript("env | sort; echo $OPENAI_API_KEY >&2", {.env_allow = {"OPENAI_API_KEY"}});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const std::string out = Read("state/out");
  EXPECT_THAT(out,
              HasSubstr("HOME=/nowhere\nLC_ALL=C\nOPENAI_API_KEY=[redacted:OPENAI_API_KEY]\n"));
  EXPECT_THAT(out, ::testing::Not(HasSubstr("GIT_DIR")));
  EXPECT_THAT(out, ::testing::Not(HasSubstr("OTHER")));
  EXPECT_EQ(Read("state/err"), "[redacted:OPENAI_API_KEY]\n");
}

TEST_F(ProcessEngineTest, ExitCodesAndSignalsAreReported) {  // REP-35
  const auto exited = RunScript("exit 3");
  ASSERT_TRUE(exited);
  EXPECT_FALSE(exited->good());
  EXPECT_EQ(exited->ExitJson(), Json(3));
  EXPECT_EQ(exited->reason, "the engineer ended with exit code 3");
  const auto killed = RunScript("kill -9 $$");
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->ExitJson(), Json("signal 9"));
}

TEST_F(ProcessEngineTest, OutputAboveTheCapIsCounted) {  // REP-35, section 6
  const auto outcome = RunScript("head -c 20000000 /dev/zero; head -c 5 /dev/zero >&2");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->out.bytes, 20'000'000u);
  EXPECT_EQ(outcome->out.dropped, 20'000'000u - kMaxEngineOutput);
  EXPECT_EQ(Read("state/out").size(), kMaxEngineOutput);
  EXPECT_EQ(outcome->err.bytes, 5u);
}

// Returns the number of processes with `mark` in their command line. Process ids in files are
// useless: inside the jail they differ.
int RunningWith(std::string_view mark) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string line = ReadFile(entry.path().string() + "/cmdline").value_or("");
    if (line.find(mark) != std::string::npos) ++count;
  }
  return count;
}

// A program that ignores TERM, with a child in its own session that does too.
std::string Stubborn(const std::string& mark) {
  return fmt::format(
      ": {0}; trap '' TERM; setsid sh -c \": {0}; trap '' TERM; : > second; "
      "while :; do sleep 0.05; done\" & while :; do sleep 0.05; done",
      mark);
}

TEST_F(ProcessEngineTest, ATimeLimitEndsEveryDescendant) {  // REP-35, A19
  const auto outcome = RunScript(Stubborn(Mark()), {.grace = Millis(200)}, Millis(1500));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->ExitJson(), Json("timeout"));
  EXPECT_TRUE(Exists(Path("tree/second")));
  EXPECT_EQ(RunningWith(Mark()), 0);
}

TEST_F(ProcessEngineTest, CancellingEndsItToo) {  // REP-52
  std::thread later([this] {
    while (!Exists(Path("tree/second"))) std::this_thread::yield();
    EXPECT_GE(RunningWith(Mark()), 2);
    cancel_.Cancel("interrupted");
  });
  const auto outcome = RunScript(Stubborn(Mark()), {.grace = Millis(200)}, std::nullopt);
  later.join();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, End::kCancelled);
  EXPECT_EQ(RunningWith(Mark()), 0);
}

TEST_F(ProcessEngineTest, WhatASuccessLeavesBehindIsEnded) {  // REP-35
  const auto outcome =
      RunScript(fmt::format("setsid sh -c ': > child; exec sleep 600 {}' >/dev/null 2>&1 & "
                            "while ! [ -e child ]; do sleep 0.01; done",
                            Mark()));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->good());
  EXPECT_EQ(RunningWith(Mark()), 0);
}

TEST_F(ProcessEngineTest, WritesOutsideItsPlacesFail) {  // REP-36, A20
  if (!walls_) GTEST_SKIP() << "no walls here";
  EXPECT_TRUE(MakeFolders(Path("given")));
  const auto outcome = RunScript(
      fmt::format(
          "echo a > inside; echo b > {0}/outside; echo c > {0}/given/x; echo d > $TMPDIR/t && "
          "cat $TMPDIR/t; mkdir sub && mv inside sub/; ln -s x sub/link; cat /etc/hostname > "
          "/dev/null; "
          "mv sub/link {0}/stolen; rm -r {0}/state; kill -9 {1}; true",
          ground_.path(), getpid()),
      {.writable = {Path("given")}});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->good());
  EXPECT_EQ(Read("tree/sub/inside"), "a\n");
  EXPECT_EQ(Read("given/x"), "c\n");
  EXPECT_EQ(Read("state/out"), "d\n");
  EXPECT_FALSE(Exists(Path("outside")));
  EXPECT_FALSE(Exists(Path("stolen")));
}

TEST_F(ProcessEngineTest, OfTheHomeOnlyWhatIsNamedIsThere) {  // FLT-80
  if (!walls_) GTEST_SKIP() << "no walls here";
  EXPECT_TRUE(MakeFolders(Path("home/.config/tool")));
  EXPECT_TRUE(WriteFileAtomic(Path("home/secret"), "mine\n"));
  EXPECT_TRUE(WriteFileAtomic(Path("home/.config/tool/key"), "given\n"));
  environment_[1] = "HOME=" + Path("home");
  const auto outcome = RunScript(
      "cat \"$HOME/secret\"; cat \"$HOME/.config/tool/key\"; echo x > \"$HOME/.config/tool/key\"; "
      "echo y > \"$HOME/new\" && cat \"$HOME/new\"",
      {.readable = {Path("home/.config/tool")}});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(Read("state/out"), "given\ny\n");
  EXPECT_EQ(Read("home/secret"), "mine\n");
  EXPECT_EQ(Read("home/.config/tool/key"), "given\n");
  EXPECT_FALSE(Exists(Path("home/new")));
}

TEST_F(ProcessEngineTest, AProgramIsSeenWithWhatItIsInstalledWith) {  // FLT-80
  const auto make = [&](std::string_view name) {
    EXPECT_TRUE(MakeFolders(Path(name).substr(0, Path(name).rfind('/'))));
    EXPECT_TRUE(WriteFileAtomic(Path(name), "#!/bin/sh\n"));
    EXPECT_EQ(chmod(Path(name).c_str(), 0755), 0);
  };
  make("home/.local/bin/tool");
  make("home/venv/bin/pytest");
  make("home/venv/pyvenv.cfg");
  make("opt/kit/bin/kit");
  const std::string path = fmt::format(
      "{0}/home/.local/bin:{0}/home/venv/bin:{0}/opt/kit/bin:{0}/home:/usr/bin:relative",
      ground_.path());
  EXPECT_THAT(ProgramFolders(path, Path("home"), Path("home/.local/bin/tool")),
              ::testing::UnorderedElementsAre(Path("home/.local/bin"), Path("home/.local/bin/tool"),
                                              Path("home/venv/bin"), Path("home/venv"),
                                              Path("opt/kit/bin"), Path("opt/kit")));
}

TEST_F(ProcessEngineTest, ManyAtOnceKeepTheirOutputApart) {  // REP-49
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      auto engine = ProcessEngine::Make({.name = "fake",
                                         .argv = {"sh", "-c", fmt::format("echo {}", i)},
                                         .walls = {.confinement = Confinement::kNone}},
                                        environment_);
      EngineJob job = Job();
      job.prompt_path = Path(fmt::format("state/prompt{}", i));
      job.out_path = Path(fmt::format("state/out{}", i));
      job.err_path = Path(fmt::format("state/err{}", i));
      EXPECT_TRUE((*engine)->Run(job, {})->good());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(Read(fmt::format("state/out{}", i)), fmt::format("{}\n", i));
  }
}

TEST_F(ProcessEngineTest, WhatIsHiddenIsHiddenInFoldersOfTheSystemToo) {  // FLT-80, FLT-110
  if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";
  ConfinedProcess process{.argv = {"sh", "-c", "ls -A /usr/share/doc; ls -d /usr/share"},
                          .folder = Path("tree"),
                          .environment = {"PATH=/usr/bin:/bin"},
                          .out_path = Path("out"),
                          .err_path = Path("err")};
  process.places.own = {Path("tree")};
  process.places.hidden = {"/usr/share/doc", "/opt/project/.git/dossier"};
  const auto spec = JailFor(process, Path("state"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_TRUE(std::any_of(spec->mounts.begin(), spec->mounts.end(), [](const auto& mount) {
    return mount.inside == "/opt/project/.git/dossier";
  }));
  process.places.hidden.pop_back();
  const auto ended = RunConfined(process, {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(Read("out"), "/usr/share\n") << Read("err");
}

TEST_F(ProcessEngineTest, WhatIsHiddenIsHiddenBehindALinkToo) {  // FLT-80
  if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";
  ASSERT_TRUE(MakeFolders(Path("checkout/.git/dossier")));
  ASSERT_TRUE(WriteFileAtomic(Path("checkout/.git/dossier/token"), "secret"));
  ASSERT_TRUE(WriteFileAtomic(Path("checkout/.git/HEAD"), "shown"));
  ASSERT_EQ(symlink(Path("checkout").c_str(), Path("link").c_str()), 0);
  ConfinedProcess process{.argv = {"sh", "-c", "cd ../link/.git && cat HEAD && ls -A dossier"},
                          .folder = Path("tree"),
                          .environment = {"PATH=/usr/bin:/bin"},
                          .out_path = Path("out"),
                          .err_path = Path("err")};
  process.places.own = {Path("tree")};
  process.places.readable = {Path("link")};
  process.places.hidden = {Path("checkout/.git/dossier")};
  const auto ended = RunConfined(process, {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(Read("out"), "shown") << Read("err");
}

}  // namespace
}  // namespace dossier::agents
