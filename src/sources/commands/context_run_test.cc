#include "sources/commands/context_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "sources/commands/context_command.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using SteadyClock = std::chrono::steady_clock;

ContextCommand Shell(std::string line, std::string name = "T") {
  return {.name = std::move(name), .run = std::move(line)};
}

CommandResult RunOne(const ContextCommand& command, const ContextRunOptions& options = {}) {
  auto results = RunContext({&command, 1}, options);
  EXPECT_TRUE(results) << results.error().message;
  return results ? results->front() : CommandResult{};
}

std::string TextOf(std::string line) { return RunOne(Shell(std::move(line))).text; }

// Returns the lines of a file into which commands write their process ids.
std::vector<pid_t> PidsIn(const std::string& path) {
  std::vector<pid_t> pids;
  std::ifstream file(path);
  for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  return pids;
}

bool Alive(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

// Waits until all processes in `path` have ended: init may take a moment to reap them.
bool AllGone(const std::string& path) {
  for (int round = 0; round < 500; ++round) {
    const auto pids = PidsIn(path);
    if (std::none_of(pids.begin(), pids.end(), Alive)) return true;
    std::this_thread::sleep_for(Millis(10));
  }
  return false;
}

class ContextRunTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // Makes `count` commands, each of which waits until all have started.
  std::vector<ContextCommand> Meeting(int count) const {
    const std::string folder = folder_.path();
    std::vector<ContextCommand> commands;
    for (int i = 0; i < count; ++i) {
      commands.push_back(
          Shell(fmt::format("touch {0}/m.{1}; while [ $(ls {0} | grep -c ^m) -lt {2} ]; do sleep "
                            "0.02; done; echo {1}",
                            folder, i, count)));
    }
    return commands;
  }

  TempFolder folder_ = *TempFolder::Make();
};

TEST_F(ContextRunTest, TenCommandsThatWaitForEachOtherEnd) {  // CON-P1, CON-N8
  const auto results = RunContext(Meeting(10), {});
  ASSERT_TRUE(results);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ((*results)[i].text, std::to_string(i));
}

// bench/ measures the time that this saves.
TEST_F(ContextRunTest, NeverMoreRunThanTheCapAndThatManyDo) {  // CON-P2, CON-P3
  auto results = RunContext(Meeting(16), {});                  // ends only if 16 run at once
  ASSERT_TRUE(results);
  // Each prints how many are running when it starts.
  const std::string line = fmt::format(
      "d={0}/run.$$; mkdir $d; ls -d {0}/run.* | wc -l; sleep 0.02; rmdir $d", folder_.path());
  for (const std::size_t cap : {1, 3, 16}) {
    results = RunContext(std::vector<ContextCommand>(50, Shell(line)), {.max_parallel = cap});
    ASSERT_TRUE(results);
    for (const CommandResult& result : *results) {
      EXPECT_LE(std::stoul(result.text), cap);
    }
  }
}

TEST_F(ContextRunTest, ATimeoutEndsEveryDescendant) {  // CON-P4, CON-25, CON-D6
  const std::string note = "echo $$ >> " + Path("pids") + "; ";
  const std::string inner = fmt::format("sh -c 'echo $$ >> {}; exec sleep 30'", Path("pids"));
  const std::string lines[] = {
      note + "sleep 30",
      note + "sleep 30 & wait",
      note + "exec setsid " + inner,
      note + "setsid " + inner + " & setsid setsid " + inner + " & wait",
      note + "trap '' TERM; setsid sh -c \"trap '' TERM; echo \\$\\$ >> " + Path("pids") +
          "; while :; do sleep 1; done\"",
  };
  std::vector<ContextCommand> commands;
  for (const std::string& line : lines) {
    commands.push_back(Shell("echo begun; " + line));
    commands.back().timeout = Millis(1000);
  }
  const auto start = SteadyClock::now();
  const auto results = RunContext(commands, {});
  const std::chrono::duration<double> took = SteadyClock::now() - start;
  ASSERT_TRUE(results);
  for (const CommandResult& result : *results) {
    EXPECT_EQ(result.outcome, CommandOutcome::kTimeout);
    EXPECT_EQ(result.error, "Command timed out after 1 seconds");
    EXPECT_EQ(result.text, "begun");
    EXPECT_FALSE(result.notes.survivors);
  }
  EXPECT_LE(took.count(), 5.0);  // the sleepers would take 30
  EXPECT_GE(PidsIn(Path("pids")).size(), 8u);
  EXPECT_TRUE(AllGone(Path("pids")));
}

TEST_F(ContextRunTest, ABackgroundChildOfASuccessLivesOn) {  // CON-P5, CON-25
  const auto start = SteadyClock::now();
  const CommandResult result =
      RunOne(Shell("sh -c 'echo $$ > " + Path("pids") + "; exec sleep 37' & while [ ! -s " +
                   Path("pids") + " ]; do sleep 0.01; done; echo hi"));
  EXPECT_EQ(result.outcome, CommandOutcome::kOk);
  EXPECT_EQ(result.text, "hi");
  EXPECT_TRUE(result.notes.left_background);
  EXPECT_LE(std::chrono::duration<double>(SteadyClock::now() - start).count(), 20.0);
  const auto pids = PidsIn(Path("pids"));
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_TRUE(Alive(pids[0]));
  kill(pids[0], SIGKILL);
}

TEST_F(ContextRunTest, AFailureLeavesNothingBehind) {  // CON-25
  const CommandResult result =
      RunOne(Shell("setsid sh -c 'echo $$ > " + Path("pids") + "; exec sleep 37' & while [ ! -s " +
                   Path("pids") + " ]; do sleep 0.01; done; exit 3"));
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(AllGone(Path("pids")));
}

TEST_F(ContextRunTest, StdinIsEmpty) {  // CON-P6, CON-D7
  const CommandResult result = RunOne(Shell("cat"));
  EXPECT_EQ(RenderBlock("T", result), "--- Context: T ---\n(no output)\n--- End Context ---");
}

TEST_F(ContextRunTest, RandomSleepsGiveTheSameBytes) {  // CON-P7, CON-N9, CON-N14
  std::vector<ContextCommand> commands;
  for (int i = 0; i < 8; ++i) {
    commands.push_back(Shell(fmt::format("sleep 0.0$(od -An -N1 -tu1 /dev/urandom | tr -d ' '); "
                                         "echo out {0}; echo err {0} >&2; exit {1}",
                                         i, i % 3),
                             fmt::format("Command {}", i)));
    if (i % 4 == 3) commands.back().on_failure = OnFailure::kIgnore;
  }
  std::string first;
  for (int round = 0; round < 20; ++round) {
    const auto results = RunContext(commands, {});
    ASSERT_TRUE(results);
    const auto blocks = RenderBlocks(commands, *results);
    if (first.empty()) first = JoinBlocks(blocks);
    EXPECT_EQ(JoinBlocks(blocks), first);
  }
  EXPECT_NE(first.find("--- Context: Command 0 ---\nout 0\n\nerr 0\n--- End Context ---\n\n"
                       "--- Context Error: Command 1 ---\nCommand exited with code 1\n"
                       "Partial output:\nout 1\n\nerr 1\n--- End Context ---"),
            std::string::npos)
      << first;
  EXPECT_NE(first.find("Command 3"), std::string::npos);
  EXPECT_EQ(first.find("Command 7"), std::string::npos);  // failed, ignored
}

long PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

TEST_F(ContextRunTest, LargeOutputIsNeverHeld) {  // CON-P8, CON-23, CON-D14
  std::vector<ContextCommand> commands;
  for (int i = 0; i < 8; ++i) {
    commands.push_back(
        Shell(fmt::format("yes line of text | head -c 50000000 {}", i % 2 ? ">&2" : "")));
    commands.back().timeout = Millis(600'000);  // a busy machine is no failure
  }
  const long before = PeakMemory();
  const auto results = RunContext(commands, {.deadline = Millis(600'000)});
  ASSERT_TRUE(results);
  const long caps = 8 * 65'536;
  EXPECT_LE(PeakMemory() - before, caps + (16 << 20));
  for (std::size_t i = 0; i < 8; ++i) {
    const CommandResult& result = (*results)[i];
    EXPECT_EQ(result.bytes, 50'000'000 + i % 2);  // LF in front of stderr
    EXPECT_LE(result.kept, 65'536u + 100);
    EXPECT_NE(result.text.find(" cut by max_output of T ...]\n"), std::string::npos);
  }
  EXPECT_EQ((*results)[0].sha256, (*results)[2].sha256);
}

TEST_F(ContextRunTest, HashAndBytesAreOfTheWholeOutput) {  // CON-23
  const CommandResult result = RunOne(Shell("echo ' M a'; echo ' M b'"));
  EXPECT_EQ(result.text, " M a\n M b");  // D22
  EXPECT_EQ(result.bytes, 10u);
  EXPECT_EQ(result.kept, 9u);
  EXPECT_EQ(result.sha256, Sha256Hex(" M a\n M b\n"));
  EXPECT_EQ(RunOne(Shell("echo out; echo err >&2")).sha256, Sha256Hex("out\n\nerr\n"));
  EXPECT_EQ(RunOne(Shell("echo out; echo ' ' >&2")).sha256, Sha256Hex("out\n"));
  EXPECT_EQ(RunOne(Shell("echo err >&2")).text, "err");
}

TEST_F(ContextRunTest, EndlessErrorsDoNotFillTheDisk) {  // CON-23
  const std::uint64_t given = 70'000'000, most = 64 << 20;
  ContextCommand command = Shell(fmt::format("yes | head -c {} >&2", given));
  command.timeout = Millis(600'000);  // a busy machine is no failure
  const CommandResult result = RunOne(command, {.deadline = Millis(600'000)});
  EXPECT_EQ(result.bytes, given + 1);  // LF in front of stderr
  std::string kept = "\n";
  while (kept.size() < most + 1) kept += "y\n";
  EXPECT_EQ(result.sha256, Sha256Hex(std::string_view(kept).substr(0, most + 1)));
  EXPECT_GT(result.notes.cut_bytes, given - most);
}

TEST_F(ContextRunTest, TheWholeOutputIsKeptWhereAsked) {  // CON-23
  const auto store = store::ContentStore::Open(Path("store"));
  ASSERT_TRUE(store);
  ContextCommand command = Shell("seq 1 100000; seq 1 30000 >&2");
  command.keep_full = true;
  command.max_output = 1000;
  const CommandResult result = RunOne(command, {.store = store->get()});
  EXPECT_EQ(result.notes.stored, result.sha256);
  EXPECT_EQ((*store)->Get(result.sha256)->size(), result.bytes);
  EXPECT_LT(result.kept, 1100u);
  EXPECT_THAT(RunContext({&command, 1}, {}), FailsWith(ErrorCode::kInvalidArgument, "store"));
}

TEST_F(ContextRunTest, EveryWayToFailHasItsSentence) {  // CON-24
  struct Case {
    ContextCommand command;
    CommandOutcome outcome;
    std::string error;
  };
  ContextCommand slow = Shell("echo some; sleep 30");
  slow.timeout = Millis(500);
  ContextCommand lost = Shell("pwd");
  lost.folder = "/no/such";
  const Case cases[] = {
      {Shell("echo x; exit 7"), CommandOutcome::kExit, "Command exited with code 7"},
      {Shell("no-such-program-anywhere"), CommandOutcome::kExit, "Command exited with code 127"},
      {slow, CommandOutcome::kTimeout, "Command timed out after 0.5 seconds"},
      {Shell("kill -9 $$"), CommandOutcome::kSignal, "Command killed by signal 9 (SIGKILL)"},
      {{.name = "T", .run = CommandArgv{"no-such-program-anywhere"}},
       CommandOutcome::kStartError,
       "Execution error: there is no program no-such-program-anywhere on PATH"},
      {{.name = "T", .run = CommandArgv{"/no/such"}},
       CommandOutcome::kStartError,
       "Execution error: cannot start /no/such: no such program or folder"},
      {lost, CommandOutcome::kStartError,
       "Execution error: cannot start /bin/sh: no such program or folder"},
  };
  for (const Case& c : cases) {
    const CommandResult result = RunOne(c.command);
    EXPECT_EQ(result.outcome, c.outcome) << c.error;
    EXPECT_EQ(result.error, c.error);
  }
  EXPECT_EQ(RunOne(Shell("kill -9 $$"), {.rules = CommandRules::kCompat}).error,
            "Command exited with code -9");
  EXPECT_EQ(RenderBlock("T", RunOne(slow)),
            "--- Context Error: T ---\nCommand timed out after 0.5 seconds\nPartial output:\nsome\n"
            "--- End Context ---");
}

TEST_F(ContextRunTest, ArgvIsNoShell) {  // CON-21
  const ContextCommand command{.name = "T",
                               .run = CommandArgv{"printf", "%s|", "$HOME", "a b", ";"}};
  EXPECT_EQ(RunOne(command).text, "$HOME|a b|;|");
}

TEST_F(ContextRunTest, CommandsSeeNoSecrets) {  // CON-21, CON-D17
  ContextRunOptions options{.known_keys = {"sk-known"}};
  options.environment = {"PATH=" + std::string(getenv("PATH")),
                         "A_KEY=1",
                         "my_token=2",
                         "Secret_x=3",
                         "PASSWORD=4",
                         "CREDENTIALS=5",
                         "URL=http://sk-known@h",
                         "DATABASE_URL=postgres://ann:pw@h/x",  // FLT-89
                         "GH_PAT=6",
                         "DB_PASSWD=6",
                         "COMPATIBLE_URL=http://h/x",
                         "PLAIN=6",
                         "PAGER=less"};
  // base/process/git_call_test.cc tests the settings that git gets.
  ContextCommand command = Shell(
      "env | sort | grep -v -e ^PATH= -e ^PWD= -e ^_= -e ^SHLVL= -e ^GIT_CONFIG_ "
      "-e ^GIT_PROXY_COMMAND=");
  EXPECT_EQ(RunOne(command, options).text,
            "COMPATIBLE_URL=http://h/x\n"
            "GIT_OPTIONAL_LOCKS=0\nNO_COLOR=1\nPAGER=cat\nPLAIN=6");
  command.pass_environment = {"A_KEY", "URL"};
  command.environment = {{"PLAIN", "7"}, {"B_TOKEN", "own"}};
  EXPECT_EQ(RunOne(command, options).text,
            "A_KEY=1\nB_TOKEN=own\nCOMPATIBLE_URL=http://h/"
            "x\nGIT_OPTIONAL_LOCKS=0\nNO_COLOR=1\nPAGER=cat\nPLAIN=7\n"
            "URL=http://sk-known@h");
}

TEST_F(ContextRunTest, ACommandHasItsFolderAndASessionOfItsOwn) {  // CON-21
  ContextCommand command = Shell("pwd; ps -o sid= -p $$ | tr -d ' '; ps -o tty= -p $$");
  command.folder = folder_.path();
  EXPECT_EQ(TextOf("true; [ -t 0 ] || echo none"), "none");
  const std::string text = RunOne(command).text;
  const auto parts = Split(text, '\n');
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], folder_.path());
  EXPECT_NE(parts[1], std::to_string(getsid(0)));
  EXPECT_EQ(TrimSpace(parts[2]), "?");
}

TEST_F(ContextRunTest, FailStopsTheRestAndSaysWhichFailed) {  // CON-26, CON-N11
  std::vector<ContextCommand> commands;
  commands.push_back(Shell("echo $$ > " + Path("pids") + "; sleep 30", "Slow"));
  commands.push_back(
      Shell("while [ ! -s " + Path("pids") + " ]; do sleep 0.01; done; exit 4", "Needed"));
  commands[1].on_failure = OnFailure::kFail;
  EXPECT_THAT(RunContext(commands, {}),
              FailsWith(ErrorCode::kContextCommand,
                        "context command 'Needed' failed: Command exited with code 4"));
  EXPECT_TRUE(AllGone(Path("pids")));
  commands = {Shell("exit 1"), Shell("touch " + Path("started"))};
  commands[0].on_failure = OnFailure::kFail;
  EXPECT_FALSE(RunContext(commands, {.max_parallel = 1}));
  EXPECT_FALSE(Exists(Path("started")));
}

TEST_F(ContextRunTest, CancellingLeavesNoChild) {  // CON-N19
  CancelSource source;
  std::thread canceller([&] {
    while (PidsIn(Path("pids")).size() < 4) std::this_thread::sleep_for(Millis(5));
    source.Cancel("interrupted");
  });
  const std::vector<ContextCommand> commands(
      2,
      Shell(fmt::format("echo $$ >> {0}; setsid sh -c 'echo $$ >> {0}; sleep 30'", Path("pids"))));
  EXPECT_THAT(RunContext(commands, {}, source.token()),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
  canceller.join();
  EXPECT_TRUE(AllGone(Path("pids")));
}

TEST_F(ContextRunTest, ThePhaseHasADeadline) {  // 3.2 --context-timeout
  const std::vector<ContextCommand> commands(3, Shell("echo x; sleep 30"));
  const auto results = RunContext(commands, {.max_parallel = 2, .deadline = Millis(500)});
  ASSERT_TRUE(results);
  for (const CommandResult& result : *results) {
    EXPECT_EQ(result.error, "Command timed out after 0.5 seconds");
    EXPECT_TRUE(result.notes.phase_deadline);
  }
  EXPECT_EQ((*results)[0].text, "x");
  EXPECT_EQ((*results)[2].text, "");
}

TEST_F(ContextRunTest, ManyFailuresLeakNoDescriptors) {
  const std::vector<ContextCommand> commands(
      300, ContextCommand{.name = "T", .run = CommandArgv{"/no/such"}});
  const UniqueFd before(dup(0));
  ASSERT_TRUE(RunContext(commands, {}));
  const UniqueFd after(dup(0));
  EXPECT_LE(after.get(), before.get() + 1);
}

}  // namespace
}  // namespace dossier::sources
