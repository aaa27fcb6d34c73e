#include "sandbox/walls/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/files/file.h"

namespace dossier::sandbox {
namespace {

TEST(ProcessTreeTest, AProgramsNameCannotChangeTheOtherFields) {  // SBX-81
  const auto process = ParseProcessStat(
      "42 (a) R 1 (b) S 7 42 42 0 -1 4194560 100 0 0 0 150 50 30 20 20 0 3 0 12345 1000 200\n");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 42);
  EXPECT_EQ(process->state, 'S');
  EXPECT_EQ(process->parent, 7);
  EXPECT_EQ(process->threads, 3);
  EXPECT_EQ(process->cpu, Millis(250 * 1000 / sysconf(_SC_CLK_TCK)));
  for (const char* text : {"", "42", "42 (a", "x (a) S 1", "42 (a) S", "42 (a) S 1 2 3"}) {
    EXPECT_FALSE(ParseProcessStat(text)) << text;
  }
}

TEST(ProcessTreeTest, FindsDescendantsAlsoOfOtherSessions) {  // SBX-81
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t inner = fork();
    if (inner == 0) {
      setsid();
      (void)!write(ends[1], "x", 1);
      while (true) pause();
    }
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  const UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto tree = Descendants(proc.get(), child);
  ASSERT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree[0].parent, child);
  EXPECT_GT(PrivateBytes(proc.get(), child), 0u);
  EXPECT_GE(ThreadsOfUser(proc.get(), getuid()), 3);
  const auto ours = Descendants(proc.get(), getpid());
  EXPECT_TRUE(std::any_of(ours.begin(), ours.end(),
                          [&](const TreeProcess& process) { return process.pid == tree[0].pid; }));
  kill(tree[0].pid, SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(ProcessTreeTest, SharedMemoryCountsOnceAndToItsHighestByte) {  // FLT-84
  SharedPieces pieces;
  AddSharedPieces(
      "55d0-55d8 r-xp 00000000 fe:00 77   /usr/bin/python3.11\n"
      "7f00000000-7f00100000 rw-s 00000000 00:01 2051   /dev/zero (deleted)\n"
      "7f00200000-7f00300000 rw-s 00100000 00:01 2052   /memfd:a b (deleted)\n"
      "7f00400000-7f00500000 rw-s 00000000 00:01 3   /SYSV00000000 (deleted)\n"
      "7f00600000-7f00700000 rw-s 00000000 fe:00 99   /home/ann/memfd:x\n"
      "7f00800000-7f00900000 rw-p 00000000 00:00 0\n"
      "7f00a00000-7f00b0000 broken 00:01 /memfd:\n",
      &pieces);
  AddSharedPieces("7f00000000-7f00400000 rw-s 00000000 00:01 2051   /dev/zero (deleted)\n",
                  &pieces);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces["00:01 2051"], 4u << 20);  // of another process: the same piece, more of it
  EXPECT_EQ(pieces["00:01 2052"], 2u << 20);  // the lower half is not mapped, and may be full
}

TEST(ProcessTreeTest, TheSizesOfNumberedMemoryAreAdded) {  // FLT-84
  EXPECT_EQ(ParseIpcTable("       key      shmid perms                  size  cpid  lpid nattch\n"
                          "         0          0  1600               4194304  1234  1234      0\n"
                          "1627455489         1   600               1048576  1234  1234      1\n"),
            5u << 20);
  EXPECT_EQ(ParseIpcTable(""), 0u);
  EXPECT_EQ(ParseIpcTable("key\nbroken\n\n"), 0u);
}

TEST(ProcessTreeTest, TheNewestIdIsThatOfTheProcessMadeLast) {  // FLT-82
  const UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto before = NewestPid(proc.get());
  ASSERT_TRUE(before);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const auto after = NewestPid(proc.get());
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(after);
  EXPECT_TRUE(*after >= child || *after < *before);  // others make processes, too; ids begin again
  EXPECT_FALSE(NewestPid(-1));
}

TEST(ProcessTreeTest, SharedMappingsOfAProcessAreFound) {  // FLT-84
  constexpr std::size_t kBytes = 32 << 20;
  const UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::vector<TreeProcess> own = {{.pid = getpid()}};
  const std::uint64_t before = SharedBytes(proc.get(), own);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(SharedBytes(proc.get(), own), before + kBytes);  // none of it is touched
  EXPECT_EQ(SharedBytes(proc.get(), {own[0], own[0]}), before + kBytes);
  munmap(memory, kBytes);
  EXPECT_EQ(SharedBytes(proc.get(), own), before);
}

}  // namespace
}  // namespace dossier::sandbox
