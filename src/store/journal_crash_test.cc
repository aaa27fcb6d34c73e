// What is left when writers are killed, run out of disk, or work side by side.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/files/file.h"
#include "base/random.h"
#include "store/journal.h"
#include "testing/result_matchers.h"

namespace dossier::store {
namespace {

using ::dossier::testing::Succeeds;

// Runs `body` in a child process; its return value is the child's exit status.
pid_t Fork(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int StatusOf(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : -1;
}

// A text that is inline in some events and in the content store in others.
std::string TextOf(int number) {
  const std::size_t length = number % 4 == 0 ? Journal::kInlineLimit : 40;
  return fmt::format("{}:{}", number, std::string(length, 'x'));
}

// Appends for ever, and writes one byte to `told` after each event that the journal took.
int WriteUntilKilled(const std::string& folder, const std::string& run, int told) {
  auto journal = Journal::Open(folder);
  if (!journal) return 1;
  for (int number = 1;; ++number) {
    auto body = (*journal)->Body(TextOf(number));
    if (!body || !(*journal)->Append(run, 0, "turn.started", {{"turn", number}, {"text", *body}})) {
      return 1;
    }
    if (write(told, "x", 1) != 1) return 1;
  }
}

// Kills the writer when it has told of `events` events and then, at a point that differs from round
// to round, some thousand instructions later: in the middle of an append, of a stored body or of a
// checkpoint.
std::int64_t KillAfter(pid_t writer, int told, std::uint64_t events, std::uint64_t spins) {
  std::int64_t seen = 0;
  char bytes[64];
  while (seen < static_cast<std::int64_t>(events)) {
    const ssize_t got = read(told, bytes, std::min<std::size_t>(sizeof bytes, events - seen));
    if (got <= 0) return -1;
    seen += got;
  }
  for (std::uint64_t i = 0; i < spins; ++i) asm volatile("" ::: "memory");
  kill(writer, SIGKILL);
  const int status = StatusOf(writer);
  if (!WIFSIGNALED(status)) return -1;
  for (ssize_t got; (got = read(told, bytes, sizeof bytes)) > 0;) seen += got;
  return seen;
}

TEST(JournalCrashTest, TwoHundredKillsAtRandomPointsLeaveEveryEventAndNoGap) {
  const TempFolder folder = *TempFolder::Make("journal");
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    auto journal = Journal::Open(folder.path());
    ASSERT_THAT(journal, Succeeds()) << round;
    const std::string run = *(*journal)->StartRun({{"round", round}});
    journal->reset();  // no connection of ours may be open across the fork
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = Fork([&] { return WriteUntilKilled(folder.path(), run, ends[1]); });
    close(ends[1]);
    const std::int64_t told = KillAfter(writer, ends[0], random.Below(40), random.Below(200'000));
    close(ends[0]);
    ASSERT_GE(told, 0) << round;

    journal = Journal::Open(folder.path());
    ASSERT_THAT(journal, Succeeds()) << round;
    auto events = (*journal)->Events(run);
    ASSERT_THAT(events, Succeeds()) << round;
    const auto written = static_cast<std::int64_t>(events->size()) - 1;
    EXPECT_GE(written, told) << "an event was lost after Append returned";
    EXPECT_LE(written, told + 1);
    for (std::int64_t i = 0; i <= written; ++i) {
      const Event& event = events->at(static_cast<std::size_t>(i));
      ASSERT_EQ(event.seq, i + 1);
      if (i == 0) continue;
      ASSERT_EQ(FindInt(Json(event.data), "turn"), i);
      const Json* body = Find(event.data, "text");
      ASSERT_NE(body, nullptr);
      ASSERT_EQ((*journal)->ReadBody(*body).value_or("damaged"), TextOf(static_cast<int>(i)));
    }
  }
}

TEST(JournalCrashTest, ARunWhoseProcessWasKilledIsInterruptedAndOneThatLivesIsRunning) {  // REC-61
  const TempFolder folder = *TempFolder::Make("journal");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t writer = Fork([&] {
    auto journal = Journal::Open(folder.path());
    if (!journal) return 1;
    for (int i = 0; i < 3; ++i) {
      const auto run = (*journal)->StartRun({{"question", fmt::format("{}", i)}});
      const bool ended =
          i == 0 && (*journal)->Append(*run, 0, "run.finished", {{"status", "final"}});
      if (ended != (i == 0)) return 1;
    }
    if (write(ends[1], "x", 1) != 1) return 1;
    while (true) pause();
  });
  close(ends[1]);
  char byte;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  const auto journal = std::move(*Journal::Open(folder.path()));
  const std::string own = *journal->StartRun({{"question", "own"}});
  const auto listed = [&](std::optional<std::string> status, std::size_t limit) {
    std::vector<std::string> questions;
    const auto runs = journal->List(std::move(status), limit);
    for (const RunSummary& run : *runs) {
      questions.push_back(run.question + " " + run.status);
    }
    std::sort(questions.begin(), questions.end());
    return questions;
  };
  using Runs = std::vector<std::string>;
  EXPECT_EQ(listed({}, 9), (Runs{"0 final", "1 running", "2 running", "own running"}));
  EXPECT_EQ(listed("interrupted", 9), Runs());
  kill(writer, SIGKILL);
  ASSERT_TRUE(WIFSIGNALED(StatusOf(writer)));
  EXPECT_EQ(listed({}, 9), (Runs{"0 final", "1 interrupted", "2 interrupted", "own running"}));
  EXPECT_EQ(listed("interrupted", 9), (Runs{"1 interrupted", "2 interrupted"}));
  EXPECT_EQ(listed("interrupted", 1).size(), 1u);
  EXPECT_EQ(listed("running", 1), Runs{"own running"});
  const auto left = journal->List("interrupted", 9);
  for (const RunSummary& run : *left) {
    EXPECT_EQ(*journal->StatusOf(run.run), "interrupted");
    // A process that resumes it makes it run again.
    ASSERT_THAT(journal->Append(run.run, 0, "run.resumed", {}), Succeeds());
    EXPECT_EQ(*journal->StatusOf(run.run), "running");
  }
  EXPECT_EQ(*journal->StatusOf(own), "running");
}

TEST(JournalCrashTest, TwoProcessesOnOneRunShareItsNumbers) {
  const TempFolder folder = *TempFolder::Make("journal");
  const std::string run = *(*Journal::Open(folder.path()))->StartRun({});
  constexpr int kProcesses = 3, kEach = 150;
  std::vector<pid_t> writers;
  for (int p = 0; p < kProcesses; ++p) {
    writers.push_back(Fork([&] {
      auto journal = Journal::Open(folder.path());
      for (int i = 0; journal && i < kEach; ++i) {
        if (!(*journal)->Append(run, p, "turn.started", {{"turn", i}})) return 1;
      }
      return journal ? 0 : 1;
    }));
  }
  for (const pid_t writer : writers) EXPECT_EQ(StatusOf(writer), 0);
  auto events = (*Journal::Open(folder.path()))->Events(run);
  ASSERT_THAT(events, Succeeds());
  ASSERT_EQ(events->size(), 1u + kProcesses * kEach);
  std::vector<std::int64_t> next(kProcesses, 0);
  for (std::size_t i = 1; i < events->size(); ++i) {
    EXPECT_EQ(events->at(i).seq, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(FindInt(Json(events->at(i).data), "turn"), next[events->at(i).call]++);
  }
}

TEST(JournalCrashTest, ProcessesThatMakeTheJournalTogetherAllSucceed) {
  for (int round = 0; round < 10; ++round) {
    const TempFolder folder = *TempFolder::Make("journal");
    std::vector<pid_t> writers;
    for (int p = 0; p < 4; ++p) {
      writers.push_back(Fork([&] {
        auto journal = Journal::Open(folder.path());
        return journal && (*journal)->StartRun({}) ? 0 : 1;
      }));
    }
    for (const pid_t writer : writers) EXPECT_EQ(StatusOf(writer), 0) << round;
    EXPECT_EQ((*Journal::Open(folder.path()))->List({}, 10)->size(), 4u);
  }
}

// Lets no file of this process grow above `bytes`, as a full disk would.
void FillDisk(rlim_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

// A check for a child process, where GoogleTest's own cannot be seen.
#define CHILD_EXPECT(condition)                                         \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
      return 1;                                                         \
    }                                                                   \
  } while (false)

TEST(JournalCrashTest, AFullDiskNamesFileAndBytesAndTheRunGoesOn) {
  const TempFolder folder = *TempFolder::Make("journal");
  const int status = StatusOf(Fork([&]() -> int {
    auto journal = Journal::Open(folder.path());
    CHILD_EXPECT(journal.has_value());
    const std::string run = *(*journal)->StartRun({});
    FillDisk(100'000);
    Status status;
    int taken = 0;
    while (taken < 1000) {
      status = (*journal)->Append(run, 0, "warning", {{"text", std::string(1000, 'x')}});
      if (!status) break;
      ++taken;
    }
    CHILD_EXPECT(!status && taken > 0);
    const std::string& message = status.error().message;
    CHILD_EXPECT(status.error().code == ErrorCode::kIo);
    CHILD_EXPECT(message.find("1011 bytes of event warning") != std::string::npos);
    CHILD_EXPECT(message.find(folder.path() + "/journal.db") != std::string::npos);

    CHILD_EXPECT((*journal)->Events(run)->size() == 1u + static_cast<std::size_t>(taken));
    FillDisk(1000);
    CHILD_EXPECT(!(*journal)->Append(run, 0, "run.finished", {{"status", "final"}}));
    CHILD_EXPECT((*journal)->List({}, 1)->front().status == "running");

    FillDisk(RLIM_INFINITY);  // room again
    CHILD_EXPECT((*journal)->Append(run, 0, "run.finished", {{"status", "final"}}).has_value());
    auto events = (*journal)->Events(run);
    CHILD_EXPECT(events.has_value());
    CHILD_EXPECT(events->back().seq == taken + 2);
    CHILD_EXPECT(events->size() == static_cast<std::size_t>(taken) + 2);
    return 0;
  }));
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dossier::store
