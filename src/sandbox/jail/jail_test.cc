#include "sandbox/jail/jail.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "base/files/file.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "testing/isolation_harness.h"
#include "testing/jail_folder.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::FitForPrograms;
using ::dossier::testing::GiveToAnother;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kPython = "/usr/bin/python3";

// A jail around a fresh folder that the program may change.
class JailTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make("dossier-jail-test");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    FitForPrograms(folder_->path());
    spec_.write = {folder_->path()};
    spec_.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    spec_.limits.processes = 64;
  }

  std::string Place(std::string_view name) const {
    return fmt::format("{}/{}", folder_->path(), name);
  }

  Exit Run(std::vector<std::string> argv, const Io& io = {}) {
    Result<Exit> exit = RunJailed(spec_, argv, io);
    if (exit) return std::move(*exit);
    ADD_FAILURE() << exit.error().message;
    return {};
  }
  Exit Shell(std::string script, const Io& io = {}) {
    return Run({"sh", "-c", std::move(script)}, io);
  }

  std::optional<TempFolder> folder_;
  JailSpec spec_;
};

TEST_F(JailTest, TheExampleInTheHeaderWorks) {  // SBX-80
  ASSERT_THAT(WriteFileAtomic(Place("a.txt"), "text"), Succeeds());
  JailSpec spec;
  spec.folder = folder_->path();
  spec.read = {folder_->path()};
  spec.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
  const std::string argv[] = {"cat", "a.txt"};
  const auto exit = RunJailed(spec, argv, {});
  ASSERT_THAT(exit, Succeeds());
  EXPECT_EQ(exit->status, 0) << exit->err;
  EXPECT_EQ(exit->out, "text");
}

TEST_F(JailTest, AGraceIsGivenBetweenTermAndKill) {  // FLT-80
  const std::string script =
      "trap 'sleep 0.4; echo ended; exit 3' TERM; while :; do sleep 0.01; done";
  spec_.limits.wall = Millis(200);
  for (const auto& [grace, said] :
       {std::pair(Millis(0), ""), std::pair(Millis(60'000), "ended\n")}) {
    spec_.limits.grace = grace;
    const Exit exit = Shell(script);
    EXPECT_TRUE(exit.timed_out());
    EXPECT_EQ(exit.out, said);
  }
  spec_.limits.grace = Millis(-1);
  EXPECT_THAT(RunJailed(spec_, std::vector<std::string>{"true"}),
              FailsWith(ErrorCode::kInvalidArgument, "grace (ms)"));
}

TEST_F(JailTest, LayersThatMayBeMissingAreNamed) {  // FLT-80
  const std::vector<std::string> wrong = {"moat"}, named = {"landlock"};
  EXPECT_THAT(CheckLayerNames(wrong),
              FailsWith(ErrorCode::kUsage, "--degraded moat: no such layer"));
  EXPECT_THAT(CheckLayerNames(named), Succeeds());
  spec_.disabled_layers = {"landlock", "seccomp"};
  AcceptMissing(named, &spec_);
  const std::vector<std::string> argv = {"true"};
  const auto refused = RunJailed(spec_, argv);
  ASSERT_THAT(refused, FailsWith(ErrorCode::kUnavailable, "seccomp"));
  EXPECT_EQ(WayOut(refused.error()), "; `--degraded seccomp` runs without it");
  spec_.disabled_layers = {"landlock"};
  const auto exit = RunJailed(spec_, argv);
  ASSERT_THAT(exit, Succeeds());
  EXPECT_EQ(MissingLayers(exit->report), named);
}

TEST_F(JailTest, StatusSignalAndOutputComeBack) {  // SBX-80
  const Exit exit = Shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(exit.status, 7);
  EXPECT_EQ(exit.out, "out\n");
  EXPECT_EQ(exit.err, "err\n");
  EXPECT_EQ(exit.out_bytes, 4u);
  EXPECT_EQ(Shell("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_EQ(Shell("kill -SEGV $$").shell_status(), 128 + SIGSEGV);
}

TEST_F(JailTest, InputIsNothingBytesOrADescriptor) {  // SBX-80: stdin
  EXPECT_EQ(Run({"cat"}).out, "");
  spec_.input = std::string("bytes\0with NUL", 14);
  EXPECT_EQ(Run({"cat"}).out, std::string("bytes\0with NUL", 14));
  ASSERT_THAT(WriteFileAtomic(Place("in"), "from a file"), Succeeds());
  const UniqueFd file(open(Place("in").c_str(), O_RDONLY));
  spec_.input = file.get();
  EXPECT_EQ(Run({"cat"}).out, "from a file");
  EXPECT_NE(fcntl(file.get(), F_GETFD), -1);  // still the caller's
}

TEST_F(JailTest, AMountIsSeenAtThePathThatItNames) {  // RSP-22
  ASSERT_THAT(MakeFolders(Place("work/sub")), Succeeds());
  ASSERT_THAT(MakeFolders(Place("data")), Succeeds());
  ASSERT_THAT(WriteFileAtomic(Place("data/x"), "kept"), Succeeds());
  for (const char* name : {"work", "work/sub"}) FitForPrograms(Place(name));
  spec_.write = {};
  spec_.mounts = {{Place("work"), "/workspace", JailMount::Access::kWrite},
                  {Place("data"), "/workspace/data", JailMount::Access::kRead},
                  {Place("absent"), "/workspace/absent"}};
  spec_.folder = "/workspace/sub";
  const bool walled = Shell("true").report.Applied("namespaces");
  EXPECT_EQ(Shell("echo text > made; pwd").out,
            walled ? "/workspace/sub\n" : Place("work/sub") + "\n");
  EXPECT_EQ(ReadFile(Place("work/sub/made")).value_or(""), "text\n");
  spec_.mounts[0].access = JailMount::Access::kRead;
  EXPECT_NE(Shell("echo text > other").status, 0);
  if (!walled) GTEST_SKIP() << "mounts have places of their own with namespaces only";
  EXPECT_EQ(Shell("cat /workspace/data/x; ls /workspace").out, "keptdata\nsub\n");
  EXPECT_NE(Shell("echo changed > /workspace/data/x").status, 0);
  spec_.mounts[0].inside = "relative";
  EXPECT_THAT(RunJailed(spec_, std::vector<std::string>{"true"}),
              FailsWith(ErrorCode::kInvalidArgument, "place of a mount relative"));
}

TEST_F(JailTest, EnvironmentIsWhatTheSpecSays) {  // SBX-80, SBX-E4
  setenv("OPENAI_API_KEY", "sk-secret", 1);
  EXPECT_EQ(Run({"env"}).out, "PATH=/usr/bin:/bin\nLANG=C.UTF-8\n");
  unsetenv("OPENAI_API_KEY");
}

TEST_F(JailTest, TheHostsMemoryAndCommandLineAreHidden) {  // FLT-89
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  const Exit exit = Shell("tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/environ");
  EXPECT_EQ(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
  EXPECT_THAT(exit.out, ::testing::Not(HasSubstr("test")));
  EXPECT_NE(exit.status, 0);
  if (Exists("/proc/1/cmdline") && exit.report.Applied("namespaces")) {
    EXPECT_THAT(exit.out, ::testing::StartsWith("dossier "));
  }
}

TEST_F(JailTest, WrongUseIsRefusedInOneSentence) {  // section 6
  const auto fails = [&](const JailSpec& spec, std::vector<std::string> argv, ErrorCode code,
                         std::string_view part) {
    EXPECT_THAT(RunJailed(spec, argv), FailsWith(code, std::string(part)));
  };
  JailSpec relative = spec_, root = spec_, nul = spec_, folder = spec_, none = spec_;
  none.limits.processes = 0;
  relative.read = {"relative"};
  root.read = {"/"};
  nul.environment = {std::string("A=\0", 3)};
  folder.folder = "/srv";
  fails(spec_, {}, ErrorCode::kInvalidArgument, "needs argv");
  fails(spec_, {std::string("a\0b", 3)}, ErrorCode::kInvalidArgument, "NUL");
  fails(relative, {"true"}, ErrorCode::kInvalidArgument, "read root relative");
  fails(root, {"true"}, ErrorCode::kInvalidArgument, "read root /:");
  fails(none, {"true"}, ErrorCode::kInvalidArgument,
        "limit processes: 0 is not between 1 and 4096");
  fails(nul, {"true"}, ErrorCode::kInvalidArgument, "NUL");
  fails(spec_, {"no-such-program"}, ErrorCode::kNotFound, "there is no program no-such-program");
  fails(spec_, {folder_->path()}, ErrorCode::kPermission, "start " + folder_->path());
  if (RunJailed(spec_, std::vector<std::string>{"true"})->report.Applied("namespaces")) {
    fails(folder, {"true"}, ErrorCode::kNotFound, "the working folder /srv in the jail");
  }
}

TEST_F(JailTest, OutputIsCappedAndTheRestCounted) {  // SBX-E11: output flood
  spec_.limits.output = 1000;
  const Exit exit = Shell("yes | head -c 3000000; yes | head -c 2000 >&2");
  EXPECT_EQ(exit.out.size(), 1000u);
  EXPECT_EQ(exit.out_bytes, 3000000u);
  EXPECT_EQ(exit.out_dropped, 2999000u);
  EXPECT_EQ(exit.err_dropped, 1000u);
}

TEST_F(JailTest, AnEndlessFloodEndsWithTheDeadlineAndTakesNoMemory) {  // SBX-E11
  spec_.limits.output = 1 << 20;
  spec_.limits.wall = Millis(300);
  const Exit exit = Run({"yes"});
  EXPECT_TRUE(exit.timed_out());
  EXPECT_EQ(exit.out.size(), 1u << 20);
  EXPECT_GT(exit.out_dropped, 0u);
}

TEST_F(JailTest, OutputStreamsAsItComesAndIsThenNotKept) {
  CancelSource source;
  std::string seen;
  Io io{.cancel = source.token()};
  // The program waits forever after its first line: only a stream can show that line.
  io.on_output = [&](Stream stream, std::string_view piece) {
    if (stream == Stream::kOut) seen += piece;
    if (seen == "ready\n") source.Cancel("seen");
  };
  const Exit exit = Shell("echo ready; exec sleep 1000", io);
  EXPECT_TRUE(exit.cancelled());
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_EQ(exit.out, "");
  EXPECT_EQ(exit.out_bytes, 6u);
}

TEST_F(JailTest, ATokenThatIsCancelledAlreadyEndsItAtOnce) {
  CancelSource source;
  source.Cancel("before");
  const Exit exit = Run({"sleep", "1000"}, {.cancel = source.token()});
  EXPECT_TRUE(exit.cancelled());
}

// A pipe whose write end only the jail's processes hold: its end shows that all are gone.
struct Lifeline {
  UniqueFd read_end, write_end;
  static Lifeline Make() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
};

std::vector<const char*> Disabled() { return {"", "namespaces", "landlock"}; }

TEST_F(JailTest, AllDescendantsEndWithIt) {  // SBX-81
  GiveToAnother(folder_->path());
  for (const char* disabled : Disabled()) {
    spec_.disabled_layers = {disabled};
    // stdin is the only descriptor that gets in; a copy of it is inherited by all.
    Lifeline line = Lifeline::Make();
    spec_.input = line.write_end.get();
    const Exit exit = Shell(
        "exec 3<&0; (trap '' TERM; sleep 1000 & sleep 1000) & "
        "setsid sh -c 'trap \"\" TERM HUP; (sleep 1000; true) & sleep 1000; true' & "
        "setsid setsid sleep 1000 & echo started");
    EXPECT_EQ(exit.status, 0);
    EXPECT_EQ(exit.out, "started\n");
    line.write_end.Reset();
    EXPECT_EQ(harness::ReadToEnd(line.read_end.get()), "") << disabled;
  }
}

TEST_F(JailTest, AProgramThatIgnoresTermIsKilled) {  // SBX-81
  GiveToAnother(folder_->path());
  for (const char* disabled : Disabled()) {
    spec_.disabled_layers = {disabled};
    spec_.limits.wall = Millis(200);
    const Exit exit = Shell("trap '' TERM; setsid sleep 1000 & while true; do sleep 1000; done");
    EXPECT_TRUE(exit.timed_out());
    EXPECT_EQ(exit.signal, SIGKILL) << disabled;
  }
}

TEST_F(JailTest, ItEndsWithItsHost) {  // SBX-5, SBX-81
  GiveToAnother(folder_->path());
  for (const char* disabled : Disabled()) {
    spec_.disabled_layers = {disabled};
    Lifeline line = Lifeline::Make(), ready = Lifeline::Make();
    const pid_t host = fork();
    if (host == 0) {
      line.read_end.Reset();
      Io io;
      io.on_output = [&](Stream, std::string_view piece) {
        (void)WriteAll(ready.write_end.get(), piece);
      };
      spec_.input = line.write_end.get();
      const std::string argv[] = {"sh", "-c", "exec 3<&0; setsid sleep 1000 & echo up; sleep 1000"};
      (void)RunJailed(spec_, argv, io);
      _exit(0);
    }
    line.write_end.Reset();
    char text[3];
    ASSERT_EQ(read(ready.read_end.get(), text, 3), 3);
    kill(host, SIGKILL);
    waitpid(host, nullptr, 0);
    EXPECT_EQ(harness::ReadToEnd(line.read_end.get()), "") << disabled;
  }
}

TEST_F(JailTest, LimitsHoldAndAreNamed) {  // SBX-80: limits
  GiveToAnother(folder_->path());
  struct Case {
    std::string_view what, script;
    JailStop stop;
  };
  const Case cases[] = {
      {"cpu of one", "while true; do :; done", JailStop::kCpu},
      {"cpu of many", "while true; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done",
       JailStop::kCpu},
      {"cpu of many that nobody waits for",
       "exec python3 -c 'import os, signal, time\n"
       "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
       "for i in range(12):\n"
       "    if os.fork() == 0:\n"
       "        while time.process_time() < 0.4: pass\n"
       "        os._exit(0)\n"
       "    try: os.wait()\n"
       "    except ChildProcessError: pass'",
       JailStop::kCpu},
      {"processes",
       "sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & "
       "while true; do sleep 1000 & done",
       JailStop::kProcesses},
  };
  for (const char* disabled : {"", "namespaces"}) {
    for (const Case& c : cases) {
      // Without namespaces the looks are too far apart for children that are forgotten.
      if (*disabled && c.what == "cpu of many that nobody waits for") continue;
      spec_.disabled_layers = {disabled};
      spec_.limits.cpu = Millis(c.stop == JailStop::kCpu ? 1000 : 60'000);
      spec_.limits.processes = 20;
      const Exit exit = Shell(std::string(c.script));
      // If the kernel counts, fork fails first and the shell gives up.
      if (c.stop == JailStop::kProcesses && exit.stop == JailStop::kNothing) {
        EXPECT_THAT(exit.err, HasSubstr("fork")) << c.what;
      } else {
        EXPECT_EQ(exit.stop, c.stop) << c.what << " " << disabled << exit.err;
      }
    }
  }
}

TEST_F(JailTest, MemoryIsLimitedForEachAndForAll) {  // SBX-80: limits
  if (kThisBuild == Instrumentation::kSanitizer) GTEST_SKIP() << "no limit under a sanitizer";
  spec_.limits.memory = 200u << 20;
  const Exit one = Run({kPython, "-c", "x = bytearray(400 << 20)"});
  EXPECT_THAT(one.err, HasSubstr("MemoryError"));
  const Exit many = Run({kPython, "-c",
                         "import os, time\n"
                         "for i in range(4):\n"
                         "    if os.fork() == 0: break\n"
                         "x = bytearray(b'x') * (120 << 20)\n"
                         "time.sleep(1000)"});
  EXPECT_EQ(many.stop, JailStop::kMemory);
}

TEST_F(JailTest, AFileOverItsLimitIsAnError) {  // SBX-80: limits
  spec_.limits.file_size = 1 << 20;
  const Exit exit = Shell("head -c 3000000 /dev/zero > big; stat -c %s big");
  EXPECT_THAT(exit.err, HasSubstr("File too large"));
  EXPECT_EQ(exit.out, "1048576\n");
}

TEST_F(JailTest, TmpIsPrivateAndBounded) {  // SBX-E2
  GiveToAnother(folder_->path());
  spec_.limits.tmp = 1 << 20;
  for (const char* disabled : {"", "namespaces"}) {
    spec_.disabled_layers = {disabled};
    const std::string name = fmt::format("dossier-left-{}", getpid());
    const Exit exit =
        Shell("t=${TMPDIR:-/tmp}; echo x > $t/" + name + " && cat $t/" + name + "; echo $t");
    EXPECT_THAT(exit.out, HasSubstr("x\n/tmp")) << exit.err;
    const std::string folder(TrimSpace(exit.out.substr(2)));
    EXPECT_FALSE(Exists(folder + "/" + name));
    if (folder != "/tmp") {
      EXPECT_FALSE(Exists(folder));
    }
  }
  spec_.disabled_layers.clear();
  const Exit full = Shell("head -c 3000000 /dev/zero > /tmp/big");
  if (full.report.Applied("namespaces")) {
    EXPECT_THAT(full.err, HasSubstr("No space left"));
  }
}

TEST_F(JailTest, RootsAreWhatTheyAreCalled) {  // SBX-80: read and write roots
  const auto other = TempFolder::Make("dossier-jail-read");
  ASSERT_THAT(other, Succeeds());
  ASSERT_EQ(mkdir((other->path() + "/inner").c_str(), 0755), 0);
  GiveToAnother(other->path());
  GiveToAnother(other->path() + "/inner");
  ASSERT_THAT(WriteFileAtomic(other->path() + "/given", "given\n"), Succeeds());
  ASSERT_THAT(WriteFileAtomic(Place("secret"), "secret\n"), Succeeds());
  for (const char* disabled : Disabled()) {
    JailSpec spec = spec_;
    spec.disabled_layers = {disabled};
    spec.read = {other->path()};
    spec.write = {other->path() + "/inner"};  // a write root inside a read root
    const std::string script = fmt::format(
        "cat {0}/given; echo y > {0}/given; echo y > {0}/new; echo y > {0}/inner/new && "
        "cat {0}/inner/new; cat {1}",
        other->path(), Place("secret"));
    const std::string argv[] = {"sh", "-c", script};
    const auto exit = RunJailed(spec, argv);
    ASSERT_THAT(exit, Succeeds());
    EXPECT_EQ(exit->out, "given\ny\n") << disabled << exit->err;
    EXPECT_FALSE(Exists(other->path() + "/new"));
    EXPECT_EQ(*ReadFile(other->path() + "/given"), "given\n");
  }
}

TEST_F(JailTest, FilesOfAWriteRootBelongToItsOwner) {  // layer process: root becomes the owner
  Shell("mkdir made; echo x > made/file; ln -s file made/link; mv made/file made2; ln made2 hard");
  struct stat info, owner;
  ASSERT_EQ(stat(Place("hard").c_str(), &info), 0);
  ASSERT_EQ(stat(folder_->path().c_str(), &owner), 0);
  EXPECT_EQ(info.st_uid, owner.st_uid);
}

TEST_F(JailTest, CompilersMakePythonAndGitWork) {  // 4.9
  GiveToAnother(folder_->path());
  ASSERT_THAT(WriteFileAtomic(Place("main.c"),
                              "#include <stdio.h>\nint main(void) "
                              "{ puts(\"compiled\"); return 0; }\n"),
              Succeeds());
  ASSERT_THAT(WriteFileAtomic(Place("Makefile"),
                              "all: main\n\t@./main\nmain: main.c\n\t@cc -O1 "
                              "-flto -o $@ $<\n"),
              Succeeds());
  for (const char* disabled : Disabled()) {
    spec_.disabled_layers = {disabled};
    const Exit made = Shell("rm -f main && make -s -j2");
    EXPECT_EQ(made.out, "compiled\n") << disabled << made.err;
    const Exit python = Run({kPython, "-c",
                             "import subprocess, json, tempfile, os\n"
                             "from concurrent.futures import ThreadPoolExecutor\n"
                             "t = tempfile.NamedTemporaryFile()\n"
                             "print(list(ThreadPoolExecutor(4).map(abs, [-1, 2])))\n"
                             "print(subprocess.check_output(['echo', 'child'], text=True))"});
    EXPECT_EQ(python.out, "[1, 2]\nchild\n\n") << disabled << python.err;
    spec_.write = {};
    spec_.mounts = {{folder_->path(), folder_->path(), JailMount::Access::kWriteAll}};
    spec_.folder = folder_->path();
    const Exit git = Shell(
        "rm -rf .git; export HOME=/nonexistent; git init -q . && "
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && "
        "git log --format=%s && git worktree add -q tree && git -C tree status --short; "
        "rm -rf tree; git worktree prune");
    EXPECT_EQ(git.out, "first\n") << disabled << git.err;
    EXPECT_EQ(git.status, 0);
  }
}

TEST_F(JailTest, TheReportIsThatOfTheWorkers) {  // SBX-81, dossier.sandbox/1
  const Exit exit = Run({"true"});
  for (const char* name : {"process", "flags", "rlimits", "landlock", "seccomp", "watchdog"}) {
    EXPECT_TRUE(exit.report.Applied(name)) << name;
  }
  EXPECT_EQ(exit.report.mode, IsolationMode::kStrict);
  EXPECT_EQ(exit.report.limits.threads, 64);
  EXPECT_EQ(exit.report.worker, "true");
}

TEST_F(JailTest, StrictRefusesEachMissingLayerByNameAndDegradedRuns) {  // SBX-10, SBX-81, SBX-A11
  const std::string argv[] = {"true"};
  for (const char* layer : {"process", "flags", "rlimits", "seccomp"}) {
    spec_.mode = IsolationMode::kStrict;
    spec_.disabled_layers = {layer};
    EXPECT_THAT(RunJailed(spec_, argv),
                FailsWith(ErrorCode::kUnavailable,
                          fmt::format("sandbox: {} is not available (switched off)", layer)));
    spec_.mode = IsolationMode::kDegraded;
    const auto exit = RunJailed(spec_, argv);
    ASSERT_THAT(exit, Succeeds());
    EXPECT_EQ(exit->status, 0);
    EXPECT_FALSE(exit->report.gaps.empty()) << layer;
  }
  GiveToAnother(folder_->path());
  spec_.disabled_layers = {"namespaces", "landlock"};
  spec_.mode = IsolationMode::kStrict;
  EXPECT_THAT(RunJailed(spec_, argv), FailsWith(ErrorCode::kUnavailable, "landlock is not"));
}

TEST_F(JailTest, ALayerThatTheCallerNamesIsRequiredToo) {  // SBX-81
  spec_.disabled_layers = {"namespaces"};
  spec_.required_layers = {"namespaces"};
  spec_.mode = IsolationMode::kDegraded;
  EXPECT_THAT(RunJailed(spec_, std::vector<std::string>{"true"}),
              FailsWith(ErrorCode::kUnavailable, "namespaces is required and not applied"));
}

TEST_F(JailTest, ManyAtOnceFromManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        const std::string argv[] = {"echo", std::to_string(i)};
        const auto exit = RunJailed(spec_, argv);
        if (exit && exit->out == std::to_string(i) + "\n") ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace dossier::sandbox
