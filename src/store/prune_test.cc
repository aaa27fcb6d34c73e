#include "store/prune.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "store/content.h"
#include "store/journal.h"
#include "testing/result_matchers.h"

namespace dossier::store {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kStart = 1'795'304'203;  // seconds since 1970

class SetClock final : public Clock {
 public:
  Steady Now() const override { return {}; }
  Wall WallNow() const override { return Wall(std::chrono::seconds(seconds)); }
  std::atomic<std::int64_t> seconds = kStart;
};

std::string Text(char letter, std::size_t bytes = 10'000) { return std::string(bytes, letter); }

class PruneTest : public ::testing::Test {
 protected:
  // One run, an hour after the one before.
  std::string Run(const std::vector<std::string>& texts) {
    clock_->seconds += 3600;
    auto journal = *Journal::Open(folder_, {.clock = clock_});
    const std::string run = *journal->StartRun({{"question", "?"}});
    for (const std::string& text : texts) {
      EXPECT_THAT(journal->Append(run, 0, "block.done", {{"output", *journal->Body(text)}}),
                  Succeeds());
    }
    EXPECT_THAT(journal->Append(run, 0, "run.finished", {{"status", "final"}}), Succeeds());
    return run;
  }

  Pruned Prune(const PruneRule& rule, PruneAction action = PruneAction::kRemove) {
    auto pruned = PruneRuns(folder_, rule, action, *clock_);
    EXPECT_THAT(pruned, Succeeds());
    return pruned.value_or(Pruned());
  }

  std::vector<std::string> Runs() {
    std::vector<std::string> runs;
    const auto journal = *Journal::Open(folder_, {.clock = clock_});
    const auto listed = *journal->List(std::nullopt, 1000);
    for (const RunSummary& run : listed) runs.push_back(run.run);
    return runs;
  }

  // Every body that an event names can be read.
  void ExpectWhole() {
    const auto journal = *Journal::Open(folder_, {.clock = clock_});
    const auto listed = *journal->List(std::nullopt, 100'000);
    for (const RunSummary& run : listed) {
      const auto events = *journal->Events(run.run);
      for (const Event& event : events) {
        const Json data(event.data);
        if (const Json* body = Find(data, "output")) {
          EXPECT_THAT(journal->ReadBody(*body), Succeeds()) << run.run;
        }
      }
    }
  }

  bool Has(const std::string& text) { return (*ContentStore::Open(folder_))->Has(Sha256Hex(text)); }

  TempFolder temp_ = *TempFolder::Make("prune");
  const std::string folder_ = temp_.path() + "/runs";
  std::shared_ptr<SetClock> clock_ = std::make_shared<SetClock>();
};

TEST_F(PruneTest, NothingIsOlderThanTheClockCanCount) {  // FLT-33
  const std::string run = Run({Text('a')});
  for (const Millis older : {Millis::max(), Millis(200'000ll * 86'400'000)}) {
    EXPECT_THAT(Prune({.older = older}).runs, IsEmpty());
  }
  EXPECT_THAT(Runs(), ElementsAre(run));
}

TEST_F(PruneTest, TheOldestRunsGoWithWhatOnlyTheyNeed) {  // FLT-33
  const std::string first = Run({Text('a'), Text('s')}), second = Run({Text('b')});
  const std::string third = Run({Text('c'), Text('s')});
  const Pruned pruned = Prune({.keep = 1});
  EXPECT_THAT(pruned.runs, ElementsAre(first, second));
  EXPECT_EQ(pruned.bodies, 2u);
  EXPECT_GT(pruned.bytes, 20'000u);
  EXPECT_EQ(pruned.runs_left, 1u);
  EXPECT_EQ(pruned.bytes_left, BytesBelow(folder_));
  EXPECT_THAT(Runs(), ElementsAre(third));
  EXPECT_FALSE(Has(Text('a')));
  EXPECT_FALSE(Has(Text('b')));
  EXPECT_TRUE(Has(Text('s'))) << "the third run shows it, too";
  ExpectWhole();
}

TEST_F(PruneTest, ALookRemovesNothingAndSaysTheSame) {  // FLT-33
  Run({Text('a')});
  Run({Text('b')});
  const Pruned look = Prune({.keep = 1}, PruneAction::kLook);
  EXPECT_EQ(Runs().size(), 2u);
  EXPECT_TRUE(Has(Text('a')));
  const Pruned done = Prune({.keep = 1});
  EXPECT_EQ(look.runs, done.runs);
  EXPECT_EQ(look.bodies, done.bodies);
  EXPECT_EQ(look.bytes, done.bytes);
}

TEST_F(PruneTest, AgeIsCountedFromTheStart) {  // FLT-33
  const std::string first = Run({});
  Run({});
  Run({});
  const Millis two_and_a_half_hours{9'000'000};
  EXPECT_THAT(Prune({.older = two_and_a_half_hours}).runs, IsEmpty());
  clock_->seconds += 3600;
  EXPECT_THAT(Prune({.older = two_and_a_half_hours}).runs, ElementsAre(first));
  EXPECT_THAT(Prune({.keep = 2, .older = Millis(1)}).runs, IsEmpty()) << "both must hold";
}

TEST_F(PruneTest, ALimitOfBytesTakesTheOldestAndNeverTheNewest) {  // FLT-33
  std::vector<std::string> runs;
  for (char letter = 'a'; letter < 'i'; ++letter) runs.push_back(Run({Text(letter, 1'000'000)}));
  EXPECT_THAT(Prune({.max_bytes = 100'000'000}).runs, IsEmpty());
  const Pruned pruned = Prune({.max_bytes = 5'000'000});
  EXPECT_EQ(pruned.runs, std::vector<std::string>(runs.begin(), runs.begin() + 4));
  EXPECT_LE(pruned.bytes_left, 5'000'000u);
  EXPECT_THAT(Prune({.max_bytes = 1}).runs.size(), 3u);
  EXPECT_THAT(Runs(), ElementsAre(runs.back()));
  ExpectWhole();
}

TEST_F(PruneTest, ARunAtWorkStaysAndWhatOthersMayHaveJustStored) {  // FLT-33
  Run({Text('o')});
  auto journal = *Journal::Open(folder_, {.clock = clock_});
  const std::string alive = *journal->StartRun({{"question", "?"}});
  ASSERT_THAT(journal->content().Put(Text('n')), Succeeds());  // no event names it yet
  EXPECT_EQ(Prune({.keep = 0}).runs.size(), 1u);
  EXPECT_THAT(Runs(), ElementsAre(alive));
  EXPECT_TRUE(Has(Text('n')));
  ASSERT_THAT(journal->Append(alive, 0, "run.finished", {{"status", "final"}}), Succeeds());
  journal.reset();
  Prune({.keep = 0});
  EXPECT_THAT(Runs(), IsEmpty());
  EXPECT_FALSE(Has(Text('n')));
  EXPECT_FALSE(Has(Text('o')));
}

TEST_F(PruneTest, AMemoStaysAsLongAsARunThatAskedIt) {  // FLT-33
  const std::string used = Sha256Hex("used"), unused = Sha256Hex("unused");
  {
    const auto content = *ContentStore::Open(folder_);
    const auto memo = *Memo::Open(folder_, *content);
    ASSERT_THAT(memo->Put(used, "a reply"), Succeeds());
    ASSERT_THAT(memo->Put(unused, "another reply"), Succeeds());
  }
  {
    auto journal = *Journal::Open(folder_, {.clock = clock_});
    const std::string run = *journal->StartRun({});
    ASSERT_THAT(journal->Append(run, 0, "request.sent", {{"cache_key", used}}), Succeeds());
    ASSERT_THAT(journal->Append(run, 0, "run.finished", {{"status", "final"}}), Succeeds());
  }
  Prune({});
  const auto content = *ContentStore::Open(folder_);
  const auto memo = *Memo::Open(folder_, *content);
  EXPECT_EQ(memo->Get(used), "a reply");
  EXPECT_EQ(memo->Get(unused), std::nullopt);
  EXPECT_FALSE(Has("another reply"));
}

TEST_F(PruneTest, WhatAKilledWriterLeftGoes) {  // FLT-33
  Run({});
  const std::string left = folder_ + "/objects/incoming-0123.tmp";
  ASSERT_THAT(WriteFileAtomic(left, Text('x')), Succeeds());
  EXPECT_EQ(Prune({}).bodies, 1u);
  EXPECT_FALSE(Exists(left));
}

TEST_F(PruneTest, WithoutAJournalNothingIsMade) {  // FLT-33
  EXPECT_EQ(Prune({.keep = 0}).runs_left, 0u);
  EXPECT_FALSE(Exists(folder_));
}

TEST_F(PruneTest, KilledAnywhereItLeavesAReadableStore) {  // FLT-33
  for (int i = 0; i < 30; ++i) Run({Text(static_cast<char>('a' + i % 26)), std::to_string(i)});
  for (int trial = 0; trial < 12; ++trial) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::size_t keep = 29;; --keep) {
        (void)PruneRuns(folder_, {.keep = keep}, PruneAction::kRemove, *clock_);
        if (keep <= static_cast<std::size_t>(28 - 2 * trial)) _exit(0);
      }
    }
    usleep(static_cast<useconds_t>(500 * (trial + 1)));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ExpectWhole();
  }
  Prune({.keep = 1});
  EXPECT_EQ(Runs().size(), 1u);
  ExpectWhole();
}

TEST_F(PruneTest, RunsThatBeginMeanwhileKeepWhatTheyStore) {  // FLT-33
  for (int i = 0; i < 10; ++i) Run({Text('a'), Text('b')});
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int i = 0; i < 40; ++i) Run({Text('a'), Text('b'), Text('c')});
    done = true;
  });
  while (!done) Prune({.keep = 2});
  other.join();
  ExpectWhole();
  Prune({.keep = 2});
  EXPECT_EQ(Runs().size(), 2u);
  ExpectWhole();
}

TEST_F(PruneTest, ABodyThatIsOnlyOpenLeavesNoFile) {  // FLT-33
  const auto content = *ContentStore::Open(folder_);
  auto writer = *ContentWriter::Start(*content, ContentWriter::Keep::kOpen);
  ASSERT_THAT(writer.Write("once "), Succeeds());
  ASSERT_THAT(writer.Write("only"), Succeeds());
  auto body = std::move(writer).Finish();
  ASSERT_THAT(body, Succeeds());
  EXPECT_EQ(body->sha256, Sha256Hex("once only"));
  EXPECT_EQ(MappedFile::FromFd(body->fd.get(), "it")->bytes(), "once only");
  EXPECT_EQ(fcntl(body->fd.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_FALSE(content->Has(body->sha256));
  EXPECT_EQ(BytesBelow(folder_), 0u);
}

}  // namespace
}  // namespace dossier::store
