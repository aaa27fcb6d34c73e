// Memory that no process has for itself (FLT-84): 64 MB allowed, 600 MB tried in every way.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/process/build_info.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/jail_plan.h"
#include "testing/jail_folder.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::Succeeds;

constexpr const char* kPrelude = R"(
import ctypes, mmap, os, time
libc = ctypes.CDLL(None, use_errno=True)
SIZE = 600 << 20
def fill(memory, step=4096):
    for at in range(0, len(memory), step): memory[at] = 1
def pieces(write):
    block = b'x' * (1 << 20)
    for i in range(600): write(block)
)";

struct Way {
  const char* name;
  const char* code;
};

constexpr Way kWays[] = {
    {"shared and nameless", "fill(mmap.mmap(-1, SIZE)); time.sleep(30)"},
    {"/dev/zero", "fill(mmap.mmap(os.open('/dev/zero', os.O_RDWR), SIZE)); time.sleep(30)"},
    {"in many pieces",
     "kept = [mmap.mmap(-1, 4 << 20) for i in range(150)]\n"
     "for memory in kept: fill(memory)\n"
     "time.sleep(30)"},
    {"let go as soon as it is full",
     "memory = mmap.mmap(-1, SIZE)\n"
     "for at in range(0, SIZE, 8 << 20):\n"
     "    memory[at:at + (8 << 20)] = bytes(8 << 20)\n"
     "    memory.madvise(mmap.MADV_DONTNEED, at, 8 << 20)\n"
     "time.sleep(30)"},
    {"by a process that hides itself",
     "libc.prctl(4, 0, 0, 0, 0)\nfill(mmap.mmap(-1, SIZE)); time.sleep(30)"},
    {"by children",
     "for i in range(10):\n"
     "    if os.fork() == 0:\n"
     "        fill(mmap.mmap(-1, SIZE // 10)); time.sleep(30)\n"
     "time.sleep(30)"},
    {"System V",
     "libc.shmat.restype = ctypes.c_void_p\n"
     "at = libc.shmat(libc.shmget(0, SIZE, 0o1600), None, 0)\n"
     "ctypes.memset(at, 1, SIZE); time.sleep(30)"},
    {"System V, attached by nobody",
     "libc.shmat.restype = ctypes.c_void_p\n"
     "for i in range(30):\n"
     "    at = libc.shmat(libc.shmget(0, 20 << 20, 0o1600), None, 0)\n"
     "    ctypes.memset(at, 1, 20 << 20); libc.shmdt(ctypes.c_void_p(at))\n"
     "time.sleep(30)"},
    {"/dev/shm", "pieces(open('/dev/shm/x', 'wb', 0).write); time.sleep(30)"},
    {"/tmp", "pieces(open('/tmp/x', 'wb', 0).write); time.sleep(30)"},
    {"/tmp, removed",
     "f = open('/tmp/x', 'wb', 0); os.unlink('/tmp/x'); pieces(f.write); time.sleep(30)"},
};

class JailMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kThisBuild == Instrumentation::kSanitizer) GTEST_SKIP() << "no limit under a sanitizer";
    auto folder = TempFolder::Make("dossier-jail-memory");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    dossier::testing::FitForPrograms(folder_->path());
    spec_.write = {folder_->path()};
    spec_.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    spec_.disabled_layers = {"cgroup"};
    spec_.limits.wall = Millis(20'000);
  }

  Exit Python(const std::string& code) {
    const std::string argv[] = {"/usr/bin/python3", "-I", "-c", kPrelude + code};
    auto exit = RunJailed(spec_, argv);
    if (exit) return std::move(*exit);
    ADD_FAILURE() << exit.error().message;
    return {};
  }

  std::optional<TempFolder> folder_;
  JailSpec spec_;
};

TEST_F(JailMemoryTest, SharedMemoryCountsAsAnyOther) {  // FLT-84
  spec_.limits.memory = 64u << 20;
  spec_.limits.tmp = 1u << 30;
  if (!Python("").report.Applied("namespaces")) GTEST_SKIP() << "a /tmp of its own needs them";
  for (const Way& way : kWays) {
    const Exit exit = Python(way.code);
    EXPECT_EQ(exit.stop, JailStop::kMemory) << way.name << ": " << exit.err;
  }
}

TEST_F(JailMemoryTest, WithoutNamespacesSharedMappingsCountToo) {  // FLT-84
  dossier::testing::GiveToAnother(folder_->path());                // there no program runs as root
  spec_.limits.memory = 64u << 20;
  spec_.disabled_layers = {"cgroup", "namespaces"};
  for (const Way& way : {kWays[0], kWays[3]}) {
    const Exit exit = Python(way.code);
    EXPECT_EQ(exit.stop, JailStop::kMemory) << way.name << ": " << exit.err;
  }
}

// Runs `sh -c SCRIPT` under a keeper, in a child that has the test's memory and takes `before`
// until it executes the shell.
KeeperReport KeepShell(std::uint64_t memory, Millis before, const char* script) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t keeper = fork();
  if (keeper == 0) {
    KeeperSpec spec{.proc = open("/proc", O_RDONLY | O_DIRECTORY),
                    .tree = KeeperSpec::Tree::kSubreaper,
                    .processes = KeeperSpec::Processes::kCounted};
    spec.limits.memory = memory;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) _exit(1);
    spec.control = pair[0];
    const KeeperReport report = KeepProgram(spec, [&] {
      usleep(static_cast<useconds_t>(before.count() * 1000));
      execl("/bin/sh", "sh", "-c", script, nullptr);
    });
    _exit(write(ends[1], &report, sizeof(report)) == sizeof(report) ? 0 : 1);
  }
  close(ends[1]);
  KeeperReport report;
  EXPECT_EQ(read(ends[0], &report, sizeof(report)), static_cast<ssize_t>(sizeof(report)));
  close(ends[0]);
  EXPECT_EQ(waitpid(keeper, nullptr, 0), keeper);
  return report;
}

TEST_F(JailMemoryTest, TheMemoryOfTheHostIsNotThatOfTheProgram) {  // FLT-84
  const std::string held(300u << 20, 'x');
  void* const shared =
      mmap(nullptr, 100u << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  KeeperReport report = KeepShell(64u << 20, Millis(400), "exit 3");
  EXPECT_EQ(report.stop, JailStop::kNothing);
  EXPECT_EQ(WEXITSTATUS(report.wait_status), 3);
  report = KeepShell(64u << 20, Millis(0),
                     "exec python3 -c 'x = bytearray(300 << 20); import time; time.sleep(20)'");
  EXPECT_EQ(report.stop, JailStop::kMemory);
  spec_.limits.memory = 64u << 20;
  const std::string argv[] = {"/bin/sh", "-c", "ulimit -d; exit 4"};
  const auto exit = RunJailed(spec_, argv);
  ASSERT_THAT(exit, Succeeds());
  EXPECT_EQ(exit->status, 4) << exit->err;
  EXPECT_EQ(exit->out, "65536\n");
  munmap(shared, 100u << 20);
}

TEST_F(JailMemoryTest, ThereAreNoMemfds) {  // FLT-84
  const Exit exit = Python(
      "try: pieces(lambda block, fd=os.memfd_create('x'): os.write(fd, block))\n"
      "except OSError as error: print(error.strerror)\n"
      "libc.syscall(ctypes.c_long(447), 0); print(os.strerror(ctypes.get_errno()))");
  EXPECT_EQ(exit.out, "Function not implemented\nFunction not implemented\n") << exit.err;
}

TEST_F(JailMemoryTest, WhatManyShareCountsOnce) {  // FLT-84
  spec_.limits.memory = 200u << 20;
  const Exit exit = Python(
      "memory = mmap.mmap(-1, 40 << 20)\n"
      "for i in range(6):\n"
      "    if os.fork() == 0:\n"
      "        fill(memory); time.sleep(0.3); os._exit(0)\n"
      "for i in range(6): os.wait()\n"
      "print('shared')");
  EXPECT_EQ(exit.out, "shared\n") << JailStopName(exit.stop) << exit.err;
}

TEST_F(JailMemoryTest, OrdinaryProgramsShareMemoryAsEver) {  // FLT-84
  if (!Python("").report.Applied("namespaces")) GTEST_SKIP() << "a /dev/shm of its own needs them";
  const Exit python = Python(
      "from multiprocessing import shared_memory, get_context, Value, Array\n"
      "part = shared_memory.SharedMemory(create=True, size=1 << 20)\n"
      "part.buf[5] = 7\n"
      "again = shared_memory.SharedMemory(part.name)\n"
      "print(again.buf[5]); again.close(); part.close(); part.unlink()\n"
      "with get_context('fork').Pool(3) as pool: print(pool.map(abs, [-1, 2, -3]))\n"
      "print(Value('i', 5).value, list(Array('d', 3)))\n"
      "print(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: n + 1)(41))\n"
      "import tempfile, sqlite3\n"
      "with sqlite3.connect(tempfile.mkstemp()[1]) as base:\n"
      "    base.execute('pragma journal_mode=wal'); base.execute('create table t(x)')\n"
      "    print(base.execute('select count(*) from t').fetchone())\n");
  EXPECT_EQ(python.out, "7\n[1, 2, 3]\n5 [0.0, 0.0, 0.0]\n42\n(0,)\n") << python.err;
  ASSERT_THAT(WriteFileAtomic(folder_->path() + "/main.cc",
                              "#include <iostream>\nint main() { std::cout << \"built\\n\"; }\n"),
              Succeeds());
  const std::string argv[] = {"sh", "-c", "c++ -O1 -pipe -flto -o main main.cc && ./main"};
  const auto built = RunJailed(spec_, argv);
  ASSERT_THAT(built, Succeeds());
  EXPECT_EQ(built->out, "built\n") << built->err;
}

}  // namespace
}  // namespace dossier::sandbox
