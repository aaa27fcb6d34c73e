#include "sandbox/walls/isolation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <thread>

#include "base/process/build_info.h"
#include "base/random.h"
#include "sandbox/probes/escape.h"
#include "testing/isolation_harness.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

constexpr Identity kIdentities[] = {Identity::kSame, Identity::kUser};

IsolationOptions Options(std::vector<std::string> disabled = {},
                         IsolationMode mode = IsolationMode::kStrict) {
  IsolationOptions options;
  options.mode = mode;
  options.read_folders = {"/usr/lib/python3.11"};
  options.disabled_layers = std::move(disabled);
  return options;
}

std::string Nothing(int) { return "ran"; }

bool NamespacesWork() {
  static const bool work =
      RunLocked(Options(), Identity::kUser, Nothing).report.Applied("namespaces");
  return work;
}

#define SKIP_WITHOUT_NAMESPACES() \
  if (!NamespacesWork()) GTEST_SKIP() << "user namespaces are not allowed here"

TEST(IsolationTest, AllRequiredLayersApplyAsRootAndAsPlainUser) {  // SBX-A2
  for (Identity identity : kIdentities) {
    const Locked locked = RunLocked(Options(), identity, Nothing);
    EXPECT_EQ(locked.text, "ran");
    for (const char* name :
         {"process", "flags", "rlimits", "landlock", "seccomp", "seccomp-threads"}) {
      EXPECT_TRUE(locked.report.Applied(name)) << name;
    }
    if (NamespacesWork()) {
      EXPECT_THAT(locked.report.gaps, ::testing::IsEmpty());
    }
  }
}

TEST(IsolationTest, StrictRefusesEachMissingLayerByName) {  // SBX-10, SBX-A11
  for (const char* name : {"process", "flags", "rlimits", "seccomp", "seccomp-threads"}) {
    const Locked locked = RunLocked(Options({name}), Identity::kSame, Nothing);
    EXPECT_EQ(locked.exit_code, 3);
    EXPECT_EQ(locked.text,
              fmt::format("sandbox: {} is not available (switched off); run where it is, or accept "
                          "less with --sandbox=degraded",
                          name));
  }
}

TEST(IsolationTest, StrictNeedsLandlockOrTheMountNamespace) {  // SBX-10, 4.2
  EXPECT_EQ(RunLocked(Options({"namespaces"}), Identity::kUser, Nothing).text, "ran");
  if (NamespacesWork()) {
    EXPECT_EQ(RunLocked(Options({"landlock"}), Identity::kUser, Nothing).text, "ran");
  }
  const Locked neither = RunLocked(Options({"namespaces", "landlock"}), Identity::kUser, Nothing);
  EXPECT_THAT(neither.text, HasSubstr("landlock is not available"));
  EXPECT_THAT(neither.text, HasSubstr("no mount namespace stands in for it"));
}

TEST(IsolationTest, DegradedRunsWithoutAnyOneLayerAndSaysWhatIsOpen) {  // SBX-11, SBX-A11
  for (std::string_view name : LayerNames()) {
    if (name == "watchdog" || name == "cgroup") continue;
    const Locked locked =
        RunLocked(Options({std::string(name)}, IsolationMode::kDegraded), Identity::kSame, Nothing);
    EXPECT_EQ(locked.text, "ran") << name;
    ASSERT_NE(locked.report.Find(name), nullptr) << name;
    EXPECT_EQ(locked.report.Find(name)->state, LayerState::kUnavailable) << name;
    EXPECT_EQ(locked.report.gaps.size(), 1u) << name;
  }
}

TEST(IsolationTest, WithoutNamespacesFileNamesAreReportedAsVisible) {  // SBX-14
  const Locked locked = RunLocked(Options({"namespaces"}), Identity::kUser, Nothing);
  EXPECT_THAT(locked.report.gaps, ::testing::Contains("file names visible"));
}

TEST(IsolationTest, NothingOutsideTheFoldersCanBeOpened) {  // SBX-E1, SBX-E2
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  ASSERT_EQ(chmod(folder->path().c_str(), 0777), 0);
  const std::string secret = folder->path() + "/secret";
  ASSERT_THAT(WriteFileAtomic(secret, "secret"), Succeeds());
  const auto body = [&](int) {
    std::string opened;
    const std::string paths[] = {"/etc/passwd", secret, "/proc/self/mem",
                                 "/usr/lib/python3.11/../../../etc/passwd"};
    for (const std::string& path : paths) {
      if (open(path.c_str(), O_RDONLY) >= 0) opened += path + " ";
    }
    if (open((folder->path() + "/new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) opened += "new ";
    if (open("/usr/lib/python3.11/new", O_WRONLY | O_CREAT, 0600) >= 0) opened += "library ";
    if (open("/usr/lib/python3.11/os.py", O_RDONLY) < 0) opened += "(os.py is missing) ";
    return opened;
  };
  for (Identity identity : kIdentities) {
    for (const char* disabled : {"", "namespaces", "landlock"}) {
      if (disabled == std::string_view("landlock") && !NamespacesWork()) continue;
      EXPECT_EQ(RunLocked(Options({disabled}), identity, body).text, "") << disabled;
    }
  }
}

TEST(IsolationTest, FoldersGivenByNameCanBeReadEvenBelowTmp) {  // --sandbox-read
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  ASSERT_EQ(chmod(folder->path().c_str(), 0755), 0);
  const std::string path = folder->path() + "/given.txt";
  ASSERT_THAT(WriteFileAtomic(path, "given"), Succeeds());
  for (const char* disabled : {"", "namespaces", "landlock"}) {
    IsolationOptions options = Options({disabled}, IsolationMode::kDegraded);
    options.read_folders.push_back(folder->path());
    const Locked locked = RunLocked(options, Identity::kUser, [&](int) {
      const std::string text = ReadFile(path).value_or("(unreadable)");
      return text + (open(path.c_str(), O_WRONLY) >= 0 ? ", writable" : "");
    });
    EXPECT_EQ(locked.text, "given") << disabled;
  }
}

TEST(IsolationTest, TmpIsPrivateAndBounded) {  // SBX-E2
  SKIP_WITHOUT_NAMESPACES();
  IsolationOptions options = Options();
  options.limits.tmp = 1 << 20;
  const std::string path = "/tmp/dossier-private-" + RandomHex(16);
  const Locked locked = RunLocked(options, Identity::kUser, [&](int) -> std::string {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    if (fd < 0) return "not writable";
    const std::string block(64 << 10, 'x');
    for (int i = 0; i < 64; ++i) {
      if (write(fd, block.data(), block.size()) < 0) return fmt::format("{} after {}", errno, i);
    }
    return "no limit";
  });
  EXPECT_EQ(locked.text, fmt::format("{} after 16", ENOSPC));
  EXPECT_FALSE(Exists(path));
}

TEST(IsolationTest, OnlyTheNamedDescriptorsStayOpen) {  // SBX-E4, layer process
  const UniqueFd extra(open("/", O_RDONLY | O_DIRECTORY));
  const Locked locked = RunLocked(Options(), Identity::kSame, [](int bridge) {
    std::string open_fds;
    for (int fd = 3; fd < 1024; ++fd) {
      struct stat info;
      if (fd != bridge && fstat(fd, &info) == 0) open_fds += 'x';
    }
    return open_fds;
  });
  EXPECT_EQ(locked.text, "x");  // the pipe on which this answer comes
}

TEST(IsolationTest, EnvironmentHoldsNothingOfTheHost) {  // SBX-E4, layer process
  setenv("OPENAI_API_KEY", "sk-secret", 1);
  const Locked locked = RunLocked(Options(), Identity::kSame, [](int) {
    std::string all;
    for (char** entry = environ; *entry != nullptr; ++entry) all += std::string(*entry) + ";";
    return all;
  });
  unsetenv("OPENAI_API_KEY");
  EXPECT_EQ(locked.text, "PATH=/usr/bin:/bin;TZ=UTC;LANG=C.UTF-8;");
}

TEST(IsolationTest, RootIsLeftBehind) {  // layer process
  const Locked locked = RunLocked(Options(), Identity::kSame, [](int) {
    return std::string(getuid() == 0 || geteuid() == 0 || setuid(0) == 0 ? "root" : "user");
  });
  EXPECT_EQ(locked.text, "user");
}

TEST(IsolationTest, TheInterpretersThreadsCannotNameTheBridge) {  // SBX-24
  const Locked locked = RunLocked(Options(), Identity::kSame, [](int bridge) {
    std::string worked;
    const auto attempt = [&](const char* where, int fd) {
      char byte = 'x';
      if (write(fd, &byte, 1) >= 0 || errno != EPERM) worked += fmt::format("write {} ", where);
      if (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0 || errno != EPERM) worked += "recv ";
      if (fcntl(fd, F_GETFL) >= 0 || errno != EPERM) worked += "fcntl ";
      if (close(fd) == 0 || errno != EPERM) worked += "close ";
      if (dup(fd) >= 0 || errno != EPERM) worked += "dup ";
    };
    attempt("main", bridge);
    std::thread([&] { attempt("thread", bridge); }).join();
    // Arguments are ints: high bits must not hide the number.
    const auto disguised = 0xdead'0000'0000ul | static_cast<unsigned>(bridge);
    if (syscall(SYS_write, disguised, "x", 1) >= 0 || errno != EPERM) worked += "high bits ";
    return worked;
  });
  EXPECT_EQ(locked.text, "");
}

TEST(IsolationTest, TheBridgesThreadKeepsTheBridge) {  // SBX-4, SBX-24
  const Locked locked = RunLocked(
      Options(), Identity::kSame, [](int) { return std::string("locked"); },
      [](SessionLock& lock) {
        lock.start_bridge = [fd = lock.bridge_fd]() -> Status {
          std::thread([fd] {
            // Until the filters are in place, then once more: it must go on working.
            for (int i = 0; i < 200; ++i) {
              if (write(fd, "b", 1) != 1) _exit(77);
            }
          }).detach();
          return {};
        };
      });
  EXPECT_EQ(locked.text, "locked");
  EXPECT_EQ(locked.exit_code, 0);
}

TEST(IsolationTest, EveryNativeAttemptIsRefused) {  // SBX-E2.4, SBX-E3.4, SBX-E5.8, SBX-E6, SBX-E7
  const char* const ids[] = {"E2.4", "E3.4", "E5.8", "E6.1", "E6.2", "E6.3", "E6.4",
                             "E6.5", "E6.6", "E6.7", "E6.8", "E7.2", "E7.3", "E7.4"};
  for (const char* disabled : {"", "namespaces", "landlock"}) {
    for (const char* id : ids) {
      ASSERT_FALSE(NativeProbes(id).empty()) << id;
      const auto results =
          RunNativeProbes(Options({disabled}, IsolationMode::kDegraded), NativeProbes(id));
      ASSERT_THAT(results, Succeeds());
      for (const NativeResult& result : *results) {
        EXPECT_TRUE(result.refused) << id << " " << result.name << ": " << result.how;
      }
    }
  }
}

TEST(IsolationTest, TheNativeAttemptsWorkWithoutTheFilter) {  // else they would prove nothing
  const IsolationOptions open =
      Options({"seccomp", "seccomp-threads", "flags"}, IsolationMode::kDegraded);
  int worked = 0;
  for (const char* id : {"E3.4", "E5.8", "E6.1", "E6.3", "E7.2", "E7.4"}) {
    const auto results = RunNativeProbes(open, NativeProbes(id));
    ASSERT_THAT(results, Succeeds());
    for (const NativeResult& result : *results) worked += !result.refused;
  }
  EXPECT_GT(worked, 8);
}

TEST(IsolationTest, MemoryIsLimitedAboveWhatIsLoaded) {  // SBX-45
  if (kThisBuild == Instrumentation::kSanitizer) GTEST_SKIP() << "no limit under a sanitizer";
  IsolationOptions options = Options();
  options.limits.memory = 64 << 20;
  const auto body = [](int) -> std::string {
    void* fits = std::malloc(32 << 20);
    void* too_large = std::malloc(128 << 20);
    return fmt::format("{} {}", fits != nullptr, too_large != nullptr);
  };
  EXPECT_EQ(RunLocked(options, Identity::kUser, body).text, "true false");
  const auto more = [](SessionLock& lock) { lock.context_memory = 256 << 20; };
  EXPECT_EQ(RunLocked(options, Identity::kUser, body, more).text, "true true");
}

TEST(IsolationTest, ThreadsAreLimitedInTheOwnUserNamespace) {  // layer rlimits
  SKIP_WITHOUT_NAMESPACES();
  IsolationOptions options = Options();
  options.limits.threads = 8;
  const Locked locked = RunLocked(options, Identity::kUser, [](int) {
    std::vector<std::thread> threads;
    std::mutex hold;
    std::unique_lock lock(hold);
    try {
      for (int i = 0; i < 100; ++i) threads.emplace_back([&] { std::lock_guard wait(hold); });
    } catch (const std::system_error&) {
    }
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    return std::to_string(threads.size());
  });
  EXPECT_EQ(locked.text, "9");  // 8 and the bridge's, which this test has not
}

TEST(IsolationTest, ASessionIsProcessOneAndSeesNoOther) {  // layer namespaces
  SKIP_WITHOUT_NAMESPACES();
  const Locked locked = RunLocked(Options(), Identity::kSame, [](int) {
    return fmt::format("{} {} {}", getpid(), getppid(), raise(SIGWINCH));
  });
  EXPECT_EQ(locked.text, "1 0 0");
}

TEST(IsolationTest, ASessionEndsWithItsZygote) {  // SBX-5, layer flags
  for (const char* disabled : {"", "namespaces"}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const pid_t zygote = fork();
    if (zygote == 0) {
      IsolationPlan plan(Options({disabled}));
      const Result<pid_t> session = plan.PrepareZygote() ? plan.Fork() : Result<pid_t>(-1);
      if (session && *session == 0) {
        SessionLock lock;
        lock.keep_fds = {write_end.get()};
        if (plan.LockSession(lock)) harness::Send(write_end.get(), "locked");
        while (true) pause();
      }
      write_end.Reset();
      while (true) pause();
    }
    write_end.Reset();
    char text[6];
    ASSERT_EQ(read(read_end.get(), text, sizeof(text)), 6);
    kill(zygote, SIGKILL);
    waitpid(zygote, nullptr, 0);
    // Ends only when the session, the last holder of the other end, is gone.
    EXPECT_EQ(harness::ReadToEnd(read_end.get()), "") << disabled;
  }
}

TEST(IsolationTest, ASessionLoadsTheProgramsThatItsParentAssembled) {  // SBX-13
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t zygote = fork();
  if (zygote == 0) {
    IsolationPlan plan(Options());
    const SessionFilters& filters = plan.filters();
    // Fork copies memory: a program at the same address, with the words of the parent but for the
    // places that Fill writes, is the parent's.
    const FilterProgram before = filters.common(FileAccess::kReadWrite);
    const sock_filter* const built[] = {filters.common(FileAccess::kReadWrite).data(),
                                        filters.threads().data()};
    const Result<pid_t> session = plan.PrepareZygote() ? plan.Fork() : Result<pid_t>(-1);
    if (session && *session == 0) {
      SessionLock lock;
      lock.keep_fds = {write_end.get()};
      const bool locked = plan.LockSession(lock).has_value();
      const FilterProgram& common = filters.common(FileAccess::kReadWrite);
      std::size_t differing = 0;
      for (std::size_t i = 0; i < before.size(); ++i) differing += common[i].k != before[i].k;
      const bool same = common.data() == built[0] && filters.threads().data() == built[1];
      harness::Send(write_end.get(), !locked          ? "not locked"
                                     : !same          ? "assembled in the session"
                                     : differing != 1 ? "not filled in"
                                                      : "filled in");
      _exit(0);
    }
    _exit(session && *session > 0 && waitpid(*session, nullptr, 0) > 0 ? 0 : 1);
  }
  write_end.Reset();
  EXPECT_EQ(harness::ReadToEnd(read_end.get()), "filled in");
  waitpid(zygote, nullptr, 0);
}

TEST(IsolationTest, AFolderThatCannotBeShownLeavesTheOldRootWhole) {
  IsolationOptions options = Options({"landlock"}, IsolationMode::kDegraded);
  const auto folder = TempFolder::Make();  // mode 0700, of another user
  ASSERT_TRUE(folder);
  if (geteuid() != 0) GTEST_SKIP() << "needs a folder of another user";
  options.read_folders.push_back(folder->path() + "/inside");
  const Locked locked = RunLocked(options, Identity::kUser, [](int) {
    const UniqueFd file(open("/etc/passwd", O_RDONLY)), bin(open("/usr/bin", O_RDONLY));
    return std::string(file.valid() && bin.valid() ? "whole" : "broken");
  });
  EXPECT_FALSE(locked.report.Applied("namespaces"));
  EXPECT_EQ(locked.text, "whole");
}

TEST(SelfTestTest, PassesBehindTheWallsAndNamesAMissingLayer) {  // SBX-12
  for (const char* disabled : {"", "namespaces", "landlock", "seccomp"}) {
    const Locked locked = RunLocked(Options({disabled}), Identity::kUser, Nothing);
    const bool needed = disabled == std::string_view("seccomp");
    EXPECT_EQ(locked.text == "ran", !needed) << disabled;
  }
  // RunLocked does no self test; a child of its own does.
  const pid_t pid = fork();
  if (pid == 0) {
    IsolationPlan plan(Options());
    _exit(plan.PrepareZygote() && plan.FinishZygote() && plan.RunSelfTest() ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(IsolationReportTest, JsonIsReadBackAsItWasWritten) {  // dossier.sandbox/1
  IsolationReport report;
  report.worker = "python 3.11.2";
  report.limits.memory = 123;
  report.Set("landlock", LayerState::kApplied, "ABI 7");
  report.Set("namespaces", LayerState::kUnavailable, "switched off");
  const std::string text = ToJson(report.ToJson());
  EXPECT_THAT(text, HasSubstr(R"({"name":"landlock","state":"applied","detail":"ABI 7"})"));
  EXPECT_THAT(text,
              HasSubstr(R"({"name":"namespaces","state":"unavailable","reason":"switched off"})"));
  const auto read = IsolationReport::FromJson(*ParseJson(text));
  ASSERT_THAT(read, Succeeds());
  EXPECT_EQ(ToJson(read->ToJson()), text);
}

TEST(IsolationReportTest, ALayerThatIsSetAgainReplacesItsGap) {
  IsolationReport report;
  report.Set("watchdog", LayerState::kFailed, "no /proc");
  EXPECT_EQ(report.gaps.size(), 1u);
  EXPECT_THAT(CheckRequired(report),
              FailsWith(ErrorCode::kUnavailable, "watchdog could not be applied (no /proc)"));
  report.Set("watchdog", LayerState::kApplied, "");
  EXPECT_TRUE(report.gaps.empty());
  EXPECT_EQ(report.layers.size(), 1u);
  EXPECT_THAT(CheckRequired(report), Succeeds());
}

TEST(IsolationOptionsTest, JsonIsReadBackAndDamagedTextIsRefused) {
  IsolationOptions options = Options({"landlock"}, IsolationMode::kDegraded);
  options.limits.threads = 7;
  const std::string text = ToJson(options.ToJson());
  const auto read = IsolationOptions::FromJson(*ParseJson(text));
  ASSERT_THAT(read, Succeeds());
  EXPECT_EQ(ToJson(read->ToJson()), text);
  Random random(/*seed=*/3);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(128));
    const auto json = ParseJson(damaged);
    if (!json) continue;
    const auto again = IsolationOptions::FromJson(*json);
    if (!again) continue;
    EXPECT_THAT(ParseJson(ToJson(again->ToJson())), Succeeds());
  }
}

}  // namespace
}  // namespace dossier::sandbox
