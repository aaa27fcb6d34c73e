#include "store/journal.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "base/random.h"
#include "store/sqlite.h"
#include "testing/result_matchers.h"

namespace dossier::store {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FixedClock final : public Clock {
 public:
  Steady Now() const override { return {}; }
  Wall WallNow() const override { return Wall(std::chrono::milliseconds(1'795'304'203'123)); }
};

// Built from parts, so that no scanner takes this file for a leak.
std::string SomeSecret() { return std::string("AKIA") + "Q4ZT7XKW2NVB6MHJ"; }

class JournalTest : public ::testing::Test {
 protected:
  std::string Path() const { return folder_.path() + "/runs"; }
  std::unique_ptr<Journal> Open(JournalOptions options = {}) {
    auto journal = Journal::Open(Path(), std::move(options));
    EXPECT_THAT(journal, Succeeds());
    return std::move(*journal);
  }

  TempFolder folder_ = *TempFolder::Make("journal");
};

TEST_F(JournalTest, TheExampleInTheHeaderWorks) {
  auto journal = Open();
  auto run = journal->StartRun({{"question", "How many?"}});
  ASSERT_THAT(run, Succeeds());
  ASSERT_THAT(journal->Append(*run, 0, "turn.started", {{"turn", 1}}), Succeeds());
  auto events = journal->Events(*run);
  ASSERT_THAT(events, Succeeds());
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(events->at(0).type, "run.started");
  EXPECT_EQ(events->at(0).seq, 1);
  EXPECT_EQ(events->at(1).type, "turn.started");
  EXPECT_EQ(events->at(1).seq, 2);
  EXPECT_EQ(FindInt(Json(events->at(1).data), "turn"), 1);
}

// Reads a journal as a user who may not write it. Returns 0 if that is as it must be.
int ReadAsAnother(const std::string& folder, const std::string& run) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(1);
    auto journal = Journal::Open(folder);
    if (!journal) _exit(2);
    const auto runs = (*journal)->List({}, 5);
    if (!runs || runs->size() != 1 || runs->front().status != "interrupted") _exit(3);
    const auto events = (*journal)->Events(run);
    if (!events || events->size() != 2) _exit(4);
    const Status added = (*journal)->Append(run, 0, "turn.started", {});
    _exit(!added && added.error().code == ErrorCode::kPermission ? 0 : 5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(JournalTest, WhoMayOnlyReadAJournalReadsIt) {
  ASSERT_THAT(MakeFolders(Path(), 0755), Succeeds());
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  std::string run;
  {
    auto journal = Open();
    run = *journal->StartRun({{"question", "?"}});
    ASSERT_THAT(journal->Append(run, 0, "turn.started", {{"turn", 1}}), Succeeds());
  }
  const std::string file = Path() + "/journal.db";
  for (const std::string& path : {file, file + "-wal", file + "-shm", file + "-live", Path()}) {
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    ASSERT_EQ(chmod(path.c_str(), info.st_mode & 07555), 0);
  }
  EXPECT_EQ(ReadAsAnother(Path(), run), 0);
  // In an archive the log was moved into the file, and is gone.
  for (const std::string& path : {Path(), file, file + "-wal", file + "-shm"}) {
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  }
  {
    auto db = Database::Open(file);
    ASSERT_THAT(db->EmptyLog(Database::LogInUse::kWait), Succeeds());
  }
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file + suffix);
  for (const std::string& path : {file, Path()}) ASSERT_EQ(chmod(path.c_str(), 0555), 0);
  EXPECT_EQ(ReadAsAnother(Path(), run), 0);
  ASSERT_EQ(chmod(Path().c_str(), 0755), 0);
}

TEST_F(JournalTest, RunIdsCarryTheTimeAndSortByIt) {
  auto journal = Open({.clock = std::make_shared<FixedClock>()});
  const std::string run = *journal->StartRun({});
  EXPECT_THAT(run, ::testing::MatchesRegex("20261121-233643-[0-9a-f]{6}"));
  EXPECT_EQ(journal->Events(run)->front().time, "2026-11-21T23:36:43.123Z");
}

TEST_F(JournalTest, EqualClockAndIdsGiveEqualEvents) {  // REC-A30
  std::vector<std::string> seen;
  for (const char* name : {"/a", "/b"}) {
    JournalOptions options{.clock = std::make_shared<FixedClock>(), .make_id = [] { return "r1"; }};
    auto journal = *Journal::Open(folder_.path() + name, options);
    const std::string run = *journal->StartRun({{"question", "q"}, {"seed", 7}});
    ASSERT_THAT(journal->Append(run, 2, "turn.started", {{"turn", 1}}), Succeeds());
    std::string text;
    const std::vector<Event> events = *journal->Events(run);
    for (const Event& event : events) {
      text += fmt::format("{} {} {} {} {} {}\n", event.run, event.seq, event.time, event.call,
                          event.type, ToJson(Json(event.data)));
    }
    seen.push_back(text);
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(JournalTest, ATakenIdIsNeverUsedTwice) {
  int calls = 0;
  auto journal = Open({.make_id = [&calls] { return ++calls < 3 ? "same" : "other"; }});
  EXPECT_EQ(*journal->StartRun({}), "same");
  EXPECT_EQ(*journal->StartRun({}), "other");
}

TEST_F(JournalTest, ValuesOfEveryKindComeBackAsTheyWere) {
  auto journal = Open();
  JsonObject data{{"null", nullptr},
                  {"yes", true},
                  {"int", INT64_MIN},
                  {"double", 0.1},
                  {"text", "a\0b \"q\" \n \xE6\x9D\xB1"},
                  {"list", JsonArray{1, JsonObject{{"k", "v"}}}},
                  {"empty", JsonObject{}}};
  data["zero"] = std::string_view("a\0b", 3);
  const std::string run = *journal->StartRun({});
  ASSERT_THAT(journal->Append(run, 3, "warning", data), Succeeds());
  const Event event = journal->Events(run)->back();
  EXPECT_EQ(Json(event.data), Json(data));
  EXPECT_EQ(event.call, 3);
}

TEST_F(JournalTest, WhatJsonCannotHoldIsMadeReadable) {
  auto journal = Open();
  const std::string run = *journal->StartRun({});
  ASSERT_THAT(journal->Append(run, 0, "warning",
                              {{"nan", std::nan("")}, {"text", "bad \xFF byte"}, {"\xFE", 1}}),
              Succeeds());
  const Json data = journal->Events(run)->back().data;
  EXPECT_TRUE(Find(data, "nan")->is_null());
  EXPECT_EQ(FindString(data, "text"), "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(FindInt(data, "\xEF\xBF\xBD"), 1);

  Json deep = 1;
  for (int i = 0; i < 250; ++i) deep = JsonArray{std::move(deep)};
  EXPECT_THAT(journal->Append(run, 0, "warning", {{"deep", std::move(deep)}}),
              FailsWith(ErrorCode::kInvalidArgument, "nested deeper than 200"));
}

TEST_F(JournalTest, LongTextGoesToTheContentStoreByHash) {  // REC-68
  auto journal = Open();
  const std::string inlined(Journal::kInlineLimit, 'a');
  const std::string stored(Journal::kInlineLimit + 1, 'b');
  const Json small = *journal->Body(inlined);
  const Json large = *journal->Body(stored);
  EXPECT_EQ(FindString(small, "text"), inlined);
  EXPECT_EQ(FindInt(large, "bytes"), 4097);
  EXPECT_TRUE(journal->content().Has(*FindString(large, "sha256")));
  EXPECT_EQ(*journal->ReadBody(small), inlined);
  EXPECT_EQ(*journal->ReadBody(large), stored);
  EXPECT_THAT(journal->ReadBody(Json(1)), FailsWith(ErrorCode::kInvalidArgument, "not a body"));

  const std::string run = *journal->StartRun({{"question", stored}});
  const Json data = journal->Events(run)->front().data;
  EXPECT_EQ(*journal->ReadBody(*Find(data, "question")), stored) << "a caller forgot Body";
  EXPECT_EQ(journal->List({}, 1)->front().question, std::string(200, 'b'));
}

TEST_F(JournalTest, NoSecretReachesTheDisk) {  // REC-68
  auto journal = Open();
  const std::string secret = SomeSecret();
  const std::string run = *journal->StartRun({{"question", "key " + secret},
                                              {"argv", JsonArray{"--key", secret}},
                                              {secret, JsonObject{{"deep", secret}}}});
  const Json large = *journal->Body(std::string(5000, ' ') + secret);
  EXPECT_THAT(*journal->ReadBody(large), HasSubstr("[redacted:"));
  const std::string event = ToJson(Json(journal->Events(run)->front().data));
  EXPECT_THAT(event, HasSubstr("[redacted:"));
  EXPECT_THAT(event, ::testing::Not(HasSubstr(secret)));
  for (const char* file : {"/journal.db", "/journal.db-wal"}) {
    EXPECT_THAT(ReadFile(Path() + file).value_or(""), ::testing::Not(HasSubstr(secret))) << file;
  }
}

TEST_F(JournalTest, ANameThatTellsOfASecretHidesItsValue) {  // REC-68
  auto journal = Open();
  const std::string value = "correct-horse-battery";
  const std::string run = *journal->StartRun(
      {{"env", JsonObject{{"DB_PASSWORD", value}, {"password", value}, {"tokens", 12}}},
       {"cache_key", "0123456789abcdef"}});
  const std::string event = ToJson(Json(journal->Events(run)->front().data));
  EXPECT_THAT(event, ::testing::Not(HasSubstr(value)));
  EXPECT_THAT(event, HasSubstr("\"tokens\":12"));
  EXPECT_THAT(event, HasSubstr("0123456789abcdef"));
}

TEST_F(JournalTest, ErasedRunsKeepTheirStoryButNoneOfTheirWords) {  // CON 3.4: journal bodies
  const std::string own = "only here " + std::string(5000, 'x');
  const std::string shared = "here and there " + std::string(5000, 'y');
  std::string gone, stays;
  {
    auto journal = Open();
    gone = *journal->StartRun({{"kind", "chat"}, {"question", "a private question"}});
    stays = *journal->StartRun({{"question", "another one"}});
    for (const std::string& body : {own, shared}) {
      ASSERT_THAT(journal->Append(gone, 0, "request.sent", {{"messages", *journal->Body(body)}}),
                  Succeeds());
    }
    ASSERT_THAT(journal->Append(stays, 0, "request.sent", {{"messages", *journal->Body(shared)}}),
                Succeeds());
    ASSERT_THAT(journal->Append(gone, 0, "run.finished",
                                {{"status", "final"}, {"answer", "a private answer"}, {"ms", 7}}),
                Succeeds());
    const std::vector<std::string> runs = {gone, "no-such-run"};
    EXPECT_EQ(*journal->EraseTexts(runs), 1u);
    const std::vector<Event> events = *journal->Events(gone);
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(ToJson(Json(events.back().data)), R"({"status":"final","answer":"","ms":7})");
    const auto listed = *journal->List(std::nullopt, 10);
    EXPECT_EQ(listed[1].question + listed[1].answer, "(deleted)");
    EXPECT_EQ(events.front().data.at("deleted"), true);
    const Json sent(events[1].data);
    const Json* body = Find(sent, "messages");
    ASSERT_TRUE(body);
    EXPECT_THAT(journal->ReadBody(*body), FailsWith(ErrorCode::kNotFound, "(deleted)"));
    EXPECT_EQ(listed[1].status, "final");
    EXPECT_EQ(*journal->ReadBody(*Find(Json(journal->Events(stays)->back().data), "messages")),
              shared);
  }
  std::string bytes;
  for (const auto& file : std::filesystem::recursive_directory_iterator(Path())) {
    if (file.is_regular_file()) bytes += *ReadFile(file.path());
  }
  EXPECT_EQ(bytes.find("only here"), bytes.npos);
  EXPECT_EQ(bytes.find("a private"), bytes.npos);
  EXPECT_NE(bytes.find("here and there"), bytes.npos);
  EXPECT_NE(bytes.find("another one"), bytes.npos);
}

// CON 3.4: a run that begins meanwhile has its body there already, and names it a moment later.
TEST_F(JournalTest, ABodyThatAnotherRunIsAboutToNameStays) {
  auto journal = Open();
  const std::string shared(5000, 'y');
  const auto sent = [&](const std::string& run) {
    return journal->Append(run, 0, "request.sent", {{"messages", *journal->Body(shared)}});
  };
  std::vector<std::string> runs;
  for (const char* question : {"a", "b", "c"}) {
    runs.push_back(*journal->StartRun({{"question", question}}));
  }
  ASSERT_THAT(sent(runs[0]), Succeeds());
  const std::string ended = journal->Events(runs[0])->back().time;
  const auto until_it_is_over = [](const std::string& time) {
    while (FormatTime(std::chrono::system_clock::now() - Millis(1)) <= time) continue;
  };
  until_it_is_over(ended);
  const Json body = *journal->Body(shared);
  EXPECT_EQ(*journal->EraseTexts(std::span(runs).first(1)), 0u);
  ASSERT_THAT(journal->Append(runs[1], 0, "request.sent", {{"messages", body}}), Succeeds());
  EXPECT_EQ(*journal->ReadBody(body), shared);
  ASSERT_THAT(sent(runs[2]), Succeeds());
  // In whichever order they go: the last one takes it along.
  EXPECT_EQ(*journal->EraseTexts(std::span(runs).subspan(2)), 0u);
  EXPECT_EQ(*journal->ReadBody(body), shared);
  EXPECT_EQ(*journal->EraseTexts(std::span(runs).subspan(1, 1)), 1u);
}

// CON 3.4: whoever reads sees the old state, which lies in the log.
TEST_F(JournalTest, AnErasedTextIsNotInTheLogThoughSomebodyWasReading) {
  auto journal = Open();
  const std::string run = *journal->StartRun({{"question", "a private question"}});
  auto reader = *Database::Open(Path() + "/journal.db");
  ASSERT_THAT(reader.Execute("BEGIN"), Succeeds());
  ASSERT_THAT(reader.QueryInt("SELECT COUNT(*) FROM events"), Succeeds());
  std::atomic<bool> erased = false;
  std::thread eraser([&] {
    const std::vector<std::string> runs{run};
    EXPECT_THAT(journal->EraseTexts(runs), Succeeds());
    erased = true;
    EXPECT_THAT(*ReadFile(Path() + "/journal.db-wal"),
                ::testing::Not(HasSubstr("a private question")));
  });
  while (!erased && journal->List({}, 1)->front().question != "(deleted)")
    std::this_thread::yield();
  ASSERT_THAT(reader.Execute("COMMIT"), Succeeds());
  eraser.join();
}

TEST_F(JournalTest, TheListShowsTheNewestFirstWithStatusAndAnswer) {
  auto journal = Open();
  const std::string first = *journal->StartRun(
      {{"question", "First?\nmore"}, {"models", JsonObject{{"root", "m1"}, {"sub", "m2"}}}});
  const std::string second =
      *journal->StartRun({{"kind", "research"}, {"question", "Second?"}, {"model", "m3"}});
  ASSERT_THAT(journal->Append(first, 0, "run.finished",
                              {{"status", "final"}, {"answer", *journal->Body("42\nbecause")}}),
              Succeeds());
  auto all = journal->List({}, 10);
  ASSERT_THAT(all, Succeeds());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->at(0).run, second);
  EXPECT_EQ(all->at(0).status, "running");
  EXPECT_EQ(all->at(0).model, "m3");
  EXPECT_EQ(all->at(0).events, 1);
  EXPECT_EQ(all->at(0).kind, "research");
  EXPECT_EQ(all->at(1).kind, "ask");
  EXPECT_EQ(all->at(1).question, "First?");
  EXPECT_EQ(all->at(1).model, "m1");
  EXPECT_EQ(all->at(1).status, "final");
  EXPECT_EQ(all->at(1).answer, "42");
  EXPECT_EQ(all->at(1).events, 2);
  EXPECT_EQ(journal->List("final", 10)->size(), 1u);
  EXPECT_EQ(journal->List({}, 1)->size(), 1u);
  std::vector<std::string> seen;
  for (const bool on : {false, true}) {
    ASSERT_THAT(journal->ForEachRun({},
                                    [&](const RunSummary& run) {
                                      seen.push_back(run.run);
                                      return on;
                                    }),
                Succeeds());
  }
  EXPECT_THAT(seen, ElementsAre(second, second, first));
  ASSERT_THAT(journal->Append(first, 0, "run.resumed", {}), Succeeds());
  EXPECT_EQ(journal->List("running", 10)->size(), 2u);
}

TEST_F(JournalTest, RunsAreFoundByWhatTheyStartedWith) {
  auto journal = Open();
  const std::string first = *journal->StartRun({{"kind", "chat"}, {"conversation", "a"}});
  ASSERT_TRUE(journal->StartRun({{"kind", "chat"}, {"conversation", "b"}}));
  const std::string second = *journal->StartRun({{"kind", "chat"}, {"conversation", "a"}});
  EXPECT_THAT(*journal->RunsStartedWith({{"kind", "chat"}, {"conversation", "a"}}),
              ElementsAre(second, first));
  EXPECT_THAT(*journal->RunsStartedWith({{"kind", "ask"}}), ElementsAre());
}

TEST_F(JournalTest, AUniquePrefixStandsForItsRun) {
  std::vector<std::string> ids = {"20260101-a", "20260101-b", "20260102-a", "20260101"};
  std::size_t next = 0;
  auto journal = Open({.make_id = [&] { return ids[next++]; }});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_THAT(journal->StartRun({}), Succeeds());
  EXPECT_EQ(*journal->Resolve("20260102"), "20260102-a");
  EXPECT_EQ(*journal->Resolve("20260101-b"), "20260101-b");
  EXPECT_THAT(journal->Resolve("20260101"),
              FailsWith(ErrorCode::kNotFound, "20260101-b, 20260101-a"));
  EXPECT_THAT(journal->Resolve("2027"), FailsWith(ErrorCode::kNotFound, "'2027'"));
  EXPECT_THAT(journal->Resolve("%"), FailsWith(ErrorCode::kNotFound, "'%'"));
  EXPECT_THAT(journal->Resolve(""), FailsWith(ErrorCode::kUsage, "empty"));
  ASSERT_THAT(journal->StartRun({}), Succeeds());
  EXPECT_EQ(*journal->Resolve("20260101"), "20260101") << "an exact id beats longer ones";
}

TEST_F(JournalTest, OneEventIsReadWithoutTheOthersAndAllAreReadUnparsed) {
  auto journal = Open();
  const std::string run = *journal->StartRun({});
  ASSERT_THAT(journal->EventAt(run, 1), Succeeds());
  for (const int turn : {1, 2}) {  // what is written after a read is seen by the next one
    ASSERT_THAT(journal->Append(run, 4, "turn.started", {{"turn", turn}}), Succeeds());
    const auto event = journal->EventAt(run, turn + 1);
    ASSERT_THAT(event, Succeeds());
    EXPECT_EQ(FindInt(Json(event->data), "turn"), turn);
    EXPECT_EQ(event->seq, turn + 1);
    EXPECT_EQ(event->call, 4);
    EXPECT_EQ(event->run, run);
  }
  EXPECT_THAT(journal->EventAt(run, 4), FailsWith(ErrorCode::kNotFound, "no event 4"));
  EXPECT_THAT(journal->EventAt("other", 1), FailsWith(ErrorCode::kNotFound, "no event 1"));
  std::vector<std::string> seen;
  const auto see = [&](const StoredEvent& event) -> Status {
    seen.push_back(fmt::format("{} {} {}", event.seq, event.type, event.data));
    if (seen.size() == 2) return MakeError(ErrorCode::kFailed, "enough");
    return {};
  };
  EXPECT_THAT(journal->ForEachEvent(run, see), FailsWith(ErrorCode::kFailed, "enough"));
  EXPECT_THAT(seen, ElementsAre("1 run.started {}", R"(2 turn.started {"turn":1})"));
  EXPECT_THAT(journal->ForEachEvent("other", see), FailsWith(ErrorCode::kNotFound, "other"));
}

TEST_F(JournalTest, AnUnknownRunIsNamed) {
  auto journal = Open();
  EXPECT_THAT(journal->Append("nope", 0, "warning", {}), FailsWith(ErrorCode::kNotFound, "'nope'"));
  EXPECT_THAT(journal->Events("nope"), FailsWith(ErrorCode::kNotFound, "'nope'"));
}

TEST_F(JournalTest, AnotherStartReadsWhatWasWritten) {
  std::string run;
  {
    auto journal = Open();
    run = *journal->StartRun({{"question", "q"}});
  }
  auto journal = Open();
  ASSERT_THAT(journal->Append(run, 0, "warning", {}), Succeeds());
  EXPECT_EQ(journal->Events(run)->back().seq, 2);
}

TEST_F(JournalTest, ALongLogIsEmptiedAtTheEndAndAShortOneKept) {
  const std::string log = Path() + "/journal.db-wal";
  struct stat info{};
  std::string run;
  {
    auto journal = Open();
    run = *journal->StartRun({});
  }
  ASSERT_EQ(stat(log.c_str(), &info), 0);
  EXPECT_GT(info.st_size, 0);
  {
    auto journal = Open();
    for (int i = 0; i < 1000; ++i) {
      ASSERT_THAT(journal->Append(run, 0, "warning", {{"text", std::string(2000, 'x')}}),
                  Succeeds());
    }
  }
  ASSERT_EQ(stat(log.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 0);
  EXPECT_EQ(Open()->Events(run)->size(), 1001u);
}

TEST_F(JournalTest, ManyThreadsLeaveNoGaps) {
  auto journal = Open();
  const std::string run = *journal->StartRun({});
  constexpr int kThreads = 8, kEach = 100;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        if (!journal->Append(run, t, "turn.started", {{"turn", i}})) ++failures;
        if (i % 10 == 0 && !journal->Events(run)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  auto events = journal->Events(run);
  ASSERT_EQ(events->size(), 1u + kThreads * kEach);
  std::vector<std::int64_t> next(kThreads, 0);
  for (std::size_t i = 0; i < events->size(); ++i) {
    const Event& event = events->at(i);
    EXPECT_EQ(event.seq, static_cast<std::int64_t>(i) + 1);
    if (i == 0) continue;
    EXPECT_EQ(FindInt(Json(event.data), "turn"), next[static_cast<std::size_t>(event.call)]++);
  }
}

TEST_F(JournalTest, AFileThatIsNoJournalIsNamedWithTheWayOut) {
  ASSERT_THAT(MakeFolders(Path()), Succeeds());
  const std::string file = Path() + "/journal.db";
  Random random(3);
  ASSERT_THAT(WriteFileAtomic(file, random.Bytes(8192)), Succeeds());
  EXPECT_THAT(Journal::Open(Path()), FailsWith(ErrorCode::kDamaged, "move it away"));
  EXPECT_THAT(Journal::Open(Path()), FailsWith(ErrorCode::kDamaged, file));

  ASSERT_THAT(RemoveAll(file), Succeeds());
  ASSERT_THAT(Database::Open(file)->Execute("CREATE TABLE theirs(x)"), Succeeds());
  EXPECT_THAT(Journal::Open(Path()), FailsWith(ErrorCode::kDamaged, "another program"));
}

TEST_F(JournalTest, DamageInTheMiddleIsAnErrorAndNotACrash) {
  std::string run;
  {
    auto journal = Open();
    run = *journal->StartRun({});
    for (int i = 0; i < 500; ++i) {
      ASSERT_THAT(journal->Append(run, 0, "warning", {{"text", std::string(500, 'x')}}),
                  Succeeds());
    }
  }
  const std::string file = Path() + "/journal.db";
  const std::string good = *ReadFile(file);
  Random random(5);
  int failures = 0;
  for (int round = 0; round < 60; ++round) {
    std::string bad = good;
    for (int i = 0; i < 2000; ++i) {
      bad[4096 + random.Below(bad.size() - 4096)] = static_cast<char>(random.Next());
    }
    ASSERT_THAT(WriteFileAtomic(file, bad), Succeeds());
    auto journal = Journal::Open(Path());
    if (!journal) {
      ++failures;
      continue;
    }
    auto events = (*journal)->Events(run);
    if (!events) {
      ++failures;
      EXPECT_THAT(events.error().code, ::testing::AnyOf(ErrorCode::kDamaged, ErrorCode::kNotFound,
                                                        ErrorCode::kInternal));
    }
    static_cast<void>((*journal)->Append(run, 0, "warning", {}));
  }
  EXPECT_GT(failures, 0);
}

TEST_F(JournalTest, ANewerFormatIsRefusedByNumber) {
  Open();
  ASSERT_THAT(Database::Open(Path() + "/journal.db")->Execute("PRAGMA user_version = 99"),
              Succeeds());
  EXPECT_THAT(Journal::Open(Path()), FailsWith(ErrorCode::kConfig, "format 99, this one knows 1"));
}

TEST_F(JournalTest, AFolderThatCannotBeMadeIsNamed) {
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/file", "x"), Succeeds());
  EXPECT_THAT(Journal::Open(folder_.path() + "/file/runs"),
              FailsWith(ErrorCode::kNotFound, folder_.path() + "/file"));
}

TEST_F(JournalTest, ItsFolderIsPrivate) {
  Open();
  struct stat info{};
  ASSERT_EQ(stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);
}

TEST(NetworkFileSystemTest, NamesTheOnesOnWhichTheLogIsUnsafe) {
  struct Case {
    std::uint32_t f_type;
    std::optional<std::string_view> name;
  };
  constexpr Case kCases[] = {{0x6969, "NFS"},      {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},
                             {0xFF534D42, "CIFS"}, {0xEF53, {}},           {0x01021994, {}},
                             {0x9123683E, {}},     {0x58465342, {}}};
  for (const Case& c : kCases) EXPECT_EQ(NetworkFileSystemName(c.f_type), c.name) << c.f_type;
  EXPECT_THAT(RefuseNetworkFileSystem("/nowhere"), FailsWith(ErrorCode::kNotFound, "/nowhere"));
}

TEST_F(JournalTest, AWholeRunIsAddedAsItWas) {  // REC-70, REC-71
  auto journal = Open();
  const std::string time = "2026-01-02T03:04:05.678Z";
  const std::vector<Event> events = {
      {.time = time, .type = "run.started", .data = {{"question", "Why?"}}},
      {.seq = 9, .time = time, .call = 3, .type = "turn.started", .data = {{"turn", 1}}},
      {.time = time, .type = "run.finished", .data = {{"status", "final"}, {"answer", "so"}}}};
  const auto run = journal->AddRun(events);
  ASSERT_THAT(run, Succeeds());
  const auto added = *journal->Events(*run);
  ASSERT_EQ(added.size(), 3u);
  EXPECT_EQ(added[1].seq, 2) << "numbers are given anew";
  EXPECT_EQ(added[1].time, time);
  EXPECT_EQ(added[1].call, 3);
  EXPECT_EQ(journal->StatusOf(*run), "final");
  EXPECT_EQ(journal->List({}, 1)->at(0).answer, "so");
  const std::vector<Event> secret = {{.time = time,
                                      .type = "run.started",
                                      .data = {{"question",
                                                "use ghp_"
                                                "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5 now"}}}};
  ASSERT_THAT(journal->AddRun(secret), Succeeds());
  EXPECT_EQ(journal->List({}, 1)->at(0).question, "use [redacted:github_token] now");
  EXPECT_THAT(journal->AddRun(std::span(events).subspan(1)),
              FailsWith(ErrorCode::kInvalidArgument, "run.started"));
}

}  // namespace
}  // namespace dossier::store
