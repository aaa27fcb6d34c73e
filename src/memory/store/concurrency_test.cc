// Tests many writers, killed writers and full disks.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <thread>

#include "base/random.h"
#include "memory/records/connection.h"
#include "memory/transfer/transfer.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// Set DOSSIER_MEMORY_ADDS=1000 DOSSIER_MEMORY_KILLS=200 by hand for the specification's long runs.
int FromEnvironment(const char* name, int usual) {
  const char* value = getenv(name);
  return value ? atoi(value) : usual;
}

pid_t Fork(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int StatusOf(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : -1;
}

Status AddText(Store& store, const std::string& text) {
  return store.Transact("root", {}, [&](BranchTransaction& session) -> Status {
    DOSSIER_RETURN_IF_ERROR(session.Add({.tier = Tier::kRecall, .text = text}));
    return {};
  });
}

TEST(ConcurrencyTest, EightProcessesLoseNoRow) {  // MEM-T22
  const int adds = FromEnvironment("DOSSIER_MEMORY_ADDS", 200);
  TestStore store;
  store.Close();
  std::vector<pid_t> writers;
  for (int p = 0; p < 8; ++p) {
    writers.push_back(Fork([&] {
      auto own = Store::Open({.path = store.path()});
      for (int i = 0; own && i < adds; ++i) {
        if (!AddText(**own, fmt::format("{} {}", p, i))) return 1;
      }
      return own ? 0 : 1;
    }));
  }
  for (const pid_t writer : writers) EXPECT_EQ(StatusOf(writer), 0);
  store.Reopen();
  const auto records = store.View().Records({});
  std::set<std::string> texts;
  for (const Record& record : *records) texts.insert(record.text);
  EXPECT_EQ(texts.size(), 8u * static_cast<std::size_t>(adds));
  EXPECT_EQ(store.View().at(), 8 * adds);  // numbers without gaps
  EXPECT_EQ(store->Check(CheckMode::kLook), std::vector<std::string>{});
}

TEST(ConcurrencyTest, ThreadsShareCommitsAndAnInvalidWriteFailsAlone) {  // MEM-55
  TestStore store;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const Status added = AddText(*store, i % 4 == 0 ? "" : fmt::format("{} {}", t, i));
        if (added.has_value() != (i % 4 != 0)) ++wrong;
        if (!store->Snapshot("root")) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store.View().Records({})->size(), 16u * 30);
}

// Writes blocks of two writes each, for ever; prints a byte for each committed block.
int WriteBlocks(const std::string& path, int told) {
  auto store = Store::Open({.path = path});
  if (!store) return 1;
  for (int i = 0;; ++i) {
    const Status done = (*store)->Transact("root", {}, [&](BranchTransaction& session) -> Status {
      DOSSIER_RETURN_IF_ERROR(session.Add({.text = fmt::format("{} {}", getpid(), i)}));
      DOSSIER_RETURN_IF_ERROR(
          session.SetCore("last", {.value = fmt::format("{} {}", getpid(), i)}));
      return {};
    });
    if (!done || write(told, "x", 1) != 1) return 1;
  }
}

TEST(ConcurrencyTest, KillsAtRandomPointsLeaveWholeBlocks) {  // MEM-T23, MEM-57
  TestStore store;
  Random random(5);
  std::size_t told = 0;
  const int kills = FromEnvironment("DOSSIER_MEMORY_KILLS", 40);
  for (int round = 0; round < kills; ++round) {
    store.Close();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = Fork([&] { return WriteBlocks(store.path(), ends[1]); });
    close(ends[1]);
    char byte;
    for (std::uint64_t n = random.Below(20) + 1; n > 0 && read(ends[0], &byte, 1) == 1; --n) ++told;
    for (std::uint64_t spin = random.Below(300'000); spin > 0; --spin)
      asm volatile("" ::: "memory");
    kill(writer, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(StatusOf(writer)));
    while (read(ends[0], &byte, 1) == 1) ++told;
    close(ends[0]);
    store.Reopen();
    const View view = store.View();
    const auto newest = view.Records({});
    ASSERT_GE(newest->size(), told) << "a block was lost after Transact returned";
    const auto last = std::ranges::max_element(*newest, {}, &Record::id);
    EXPECT_EQ(view.Core("last")->value, last->text) << "half a block";
    told = newest->size();
  }
  EXPECT_EQ(store->Check(CheckMode::kLook), std::vector<std::string>{});
}

TEST(ConcurrencyTest, ALockHeldTooLongNamesItsHolder) {  // section 6
  TestStore store({.busy_wait = Millis(100)});
  ASSERT_THAT(store.Set("a", "1"), Succeeds());
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  store.Close();
  const pid_t holder = Fork([&] {
    auto db = OpenMemoryDatabase(store.path(), {});
    auto held = store::Transaction::Begin(*db);
    if (!held || write(ready[1], "x", 1) != 1) return 1;
    while (true) pause();
  });
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  store.Reopen();
  EXPECT_THAT(store.Set("a", "2"),
              FailsWith(ErrorCode::kLocked, fmt::format("process {} on {}", holder, HostName())));
  EXPECT_EQ(store.Core("a"), "1");  // readers are not in the way
  kill(holder, SIGKILL);
  StatusOf(holder);
  EXPECT_THAT(store.Set("a", "2"), Succeeds());
}

// Limits the size of this process's files to `bytes`, like a full disk.
void FillDisk(rlim_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(ConcurrencyTest, AFullDiskUndoesTheBlockAndNamesTheFile) {  // section 6
  TestStore store;
  store.Close();
  const int status = StatusOf(Fork([&] {
    auto own = Store::Open({.path = store.path()});
    if (!own) return 1;
    FillDisk(300'000);
    int added = 0;
    Status failed;
    for (; added < 1000; ++added) {
      failed = AddText(**own, fmt::format("{} {}", added, std::string(2000, 'x')));
      if (!failed) break;
    }
    if (failed || failed.error().code != ErrorCode::kIo) return 2;
    if (failed.error().message.find(store.path()) == std::string::npos) return 3;
    FillDisk(RLIM_INFINITY);
    if (!AddText(**own, "room again")) return 4;
    return (*own)->Snapshot("root")->Records({})->size() == static_cast<std::size_t>(added) + 1 ? 0
                                                                                                : 5;
  }));
  EXPECT_EQ(status, 0);
  store.Reopen();
  EXPECT_EQ(store->Check(CheckMode::kLook), std::vector<std::string>{});
}

}  // namespace
}  // namespace dossier::memory
