#include "sandbox/walls/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
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

}  // namespace
}  // namespace dossier::sandbox
