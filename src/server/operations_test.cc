#include "server/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/text/text.h"
#include "server/run_table.h"
#include "server/workspace.h"
#include "testing/result_matchers.h"

namespace dossier::server {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;
using ::testing::Not;

class OperationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root());
    Write("a.txt", "one gate\ntwo gates\nthree: the lock failed\nfour\n");
    Restart();
  }

  std::string root() const { return folder_.path() + "/root"; }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_THAT(WriteFileAtomic(root() + "/" + name, text), Succeeds());
  }
  // A server that begins anew over the same data.
  void Restart() {
    workspace_.reset();
    options_.roots = {root()};
    options_.data_folder = folder_.path() + "/data";
    options_.model.model = "scripted";
    options_.model.script = folder_.path() + "/script.yaml";
    options_.pool.worker_path = DOSSIER_BIN_DIR "/dossier-python-worker";
    workspace_ = *Workspace::Open(options_);
  }
  void Script(std::string_view rules) {
    ASSERT_THAT(WriteFileAtomic(folder_.path() + "/script.yaml", rules), Succeeds());
  }

  Result<Output> Do(std::string_view name, Json arguments, CallScope scope = {}) {
    return Perform(*FindOperation(name), *workspace_, arguments, scope);
  }
  std::string Open(JsonObject arguments) {
    const auto output = Do("open", std::move(arguments));
    EXPECT_THAT(output, Succeeds());
    return output ? TextAt(output->structured, "context") : "";
  }
  std::string OpenFile(const std::string& name) {
    return Open({{"paths", JsonArray{root() + "/" + name}}});
  }
  std::string ErrorOf(std::string_view name, Json arguments) {
    const auto output = Do(name, std::move(arguments));
    EXPECT_FALSE(output.has_value()) << (output ? PlainText(*output) : "");
    return output ? "" : output.error().message;
  }

  TempFolder folder_ = *TempFolder::Make("server");
  WorkspaceOptions options_;
  std::unique_ptr<Workspace> workspace_;
};

TEST_F(OperationsTest, AnIdNamesItsContentAndOutlivesTheServer) {  // SRV-20
  const std::string id = OpenFile("a.txt");
  EXPECT_TRUE(IsContextId(id)) << id;
  EXPECT_EQ(OpenFile("a.txt"), id) << "the same content has the same id";
  Write("a.txt", "other\n");
  EXPECT_NE(OpenFile("a.txt"), id);
  Restart();
  const auto read = Do("read", {{"context", id}, {"at", "a.txt:3"}});
  ASSERT_THAT(read, Succeeds());
  EXPECT_THAT(PlainText(*read), HasSubstr("3\tthree: the lock failed\n"));
  EXPECT_THAT(ErrorOf("describe", {{"context", "c000000000000"}}),
              HasSubstr("there is no context c000000000000"));
}

// As the error says: open the files again.
TEST_F(OperationsTest, ADamagedContextIsMendedByOpeningItAgain) {  // SRV-20
  const std::string id = OpenFile("a.txt");
  const std::string folder = fmt::format("{}/data/contexts/{}", folder_.path(), id);
  ASSERT_TRUE(Exists(folder + "/context.json"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "context.json") {
      std::filesystem::remove(entry.path());
    }
  }
  Restart();
  EXPECT_FALSE(Do("read", {{"context", id}, {"at", "a.txt:3"}}));
  EXPECT_EQ(OpenFile("a.txt"), id);
  Restart();
  EXPECT_THAT(Do("read", {{"context", id}, {"at", "a.txt:3"}}), Succeeds());
}

TEST_F(OperationsTest, OpenTellsWhatItIsAndDescribeTellsItAgain) {  // SRV-20, SRV-A2
  const auto opened = Do("open", {{"paths", JsonArray{"a.txt"}}});
  ASSERT_THAT(opened, Succeeds());
  EXPECT_EQ(FindInt(opened->structured, "documents"), 1);
  EXPECT_EQ(TextAt(opened->structured, "format"), "plain-text");
  EXPECT_THAT(PlainText(*opened), HasSubstr("\ncontext: " + TextAt(opened->structured, "context")));
  const auto list = Do("describe", JsonObject());
  ASSERT_THAT(list, Succeeds());
  EXPECT_EQ(Find(list->structured, "contexts")->get_array().size(), 1);
  EXPECT_THAT(ErrorOf("open", JsonObject()), HasSubstr("/paths"));
  EXPECT_THAT(ErrorOf("open", {{"text", "a"}, {"paths", JsonArray{"a.txt"}}}), HasSubstr("/text"));
}

TEST_F(OperationsTest, AClientHearsNothingThatTheServerDoesNotHave) {  // SRV-51
  Write(".env", "A=1\n");
  options_.secrets_flag.clear();
  options_.roots_name = "that of --local-paths";
  Restart();
  EXPECT_EQ(ErrorOf("open", {{"paths", JsonArray{".env"}}}), ".env holds secrets and is not read");
  EXPECT_THAT(ErrorOf("open", {{"paths", JsonArray{std::string("a.txt\0/../../x", 14)}}}),
              HasSubstr("has a NUL character"));
  ASSERT_EQ(mkfifo((root() + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf("open", {{"paths", JsonArray{"pipe"}}}), "pipe is neither a file nor a folder");
  EXPECT_EQ(ErrorOf("open", {{"paths", JsonArray{"none/x"}}}), "none/x: there is no folder none");
  EXPECT_EQ(ErrorOf("open", {{"paths", JsonArray{"nothing"}}}), "nothing: no such file or folder");
  EXPECT_THAT(ErrorOf("open", {{"paths", JsonArray{"../x"}}}),
              ::testing::AllOf(HasSubstr("(that of --local-paths)"), Not(HasSubstr(root()))));
}

TEST_F(OperationsTest, PathsMustLieInARoot) {  // SRV-21, SRV-A5
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/outside.txt", "x\n"), Succeeds());
  for (const std::string path : {"../outside.txt", "/etc/hostname", "/etc/no-such-file"}) {
    const auto refused = Do("open", {{"paths", JsonArray{path}}});
    EXPECT_THAT(refused, FailsWith(ErrorCode::kRefused, "--root")) << path;
    EXPECT_THAT(refused.error().message, HasSubstr(root()));
  }
  ASSERT_EQ(symlink((folder_.path() + "/outside.txt").c_str(), (root() + "/link").c_str()), 0);
  EXPECT_THAT(Do("open", {{"paths", JsonArray{"link"}}}), FailsWith(ErrorCode::kRefused, "link"));
  EXPECT_THAT(workspace_->OpenFile(root() + "/link"), FailsWith(ErrorCode::kRefused, "--root"))
      << "a link that was put there after the first look leads nowhere either";
}

TEST_F(OperationsTest, SecretFilesAreReadOnlyWhereAPersonAllowsIt) {  // SRV-21
  Write(".env", "TOKEN=abc\n");
  Write("id_rsa", "x\n");
  EXPECT_THAT(Do("open", {{"paths", JsonArray{".env"}}}),
              FailsWith(ErrorCode::kRefused, "--allow-secrets"));
  const auto folder = Do("open", {{"paths", JsonArray{"."}}});
  ASSERT_THAT(folder, Succeeds());
  EXPECT_EQ(FindInt(folder->structured, "documents"), 1) << "a folder is read without them";
  options_.secrets = WorkspaceOptions::Secrets::kAllowed;
  Restart();
  const std::string id = Open({{"paths", JsonArray{".env"}}});
  options_.secrets = WorkspaceOptions::Secrets::kRefused;
  Restart();
  EXPECT_THAT(Do("describe", {{"context", id}}), FailsWith(ErrorCode::kRefused, ".env"))
      << "an id of another server opens nothing that this one may not read";
}

TEST_F(OperationsTest, KeysInOrdinaryFilesAreReadAsWhatTheyAre) {  // SRV-21
  const std::string key = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
  const std::string secrets = "gh = \"" + key + "\"\npassword = \"hunter2hunter\"\n";
  std::filesystem::create_directories(root() + "/d");
  Write("d/conf2.py", "a = 1\n" + secrets);
  Write("d/plain.py", "password = ask_for_password()\n");
  Write("large.log", std::string(5 << 20, '\n') + secrets);  // above what is read at once
  std::string wide("\xFF\xFE", 2);
  for (const char c : secrets) wide += {c, '\0'};
  Write("wide.txt", wide);
  Write("db.sqlite", std::string("SQLite format 3\0", 16) + secrets);
  options_.secrets = WorkspaceOptions::Secrets::kAllowed;
  Restart();
  const std::string open_id = Open({{"paths", JsonArray{"d"}}});
  options_.secrets = WorkspaceOptions::Secrets::kRedacted;
  Restart();
  EXPECT_THAT(Do("describe", {{"context", open_id}}), FailsWith(ErrorCode::kRefused, "open"));

  const auto opened = Do("open", {{"paths", JsonArray{"d", "large.log", "wide.txt"}}});
  ASSERT_THAT(opened, Succeeds());
  EXPECT_THAT(PlainText(*opened), HasSubstr("--allow-secrets"));
  const std::string id = TextAt(opened->structured, "context");
  for (const bool again : {false, true}) {
    if (again) Restart();
    for (const std::string at : {"conf2.py:1-", "large.log:5242880-", "wide.txt:1-"}) {
      const auto read = Do("read", {{"context", id}, {"at", at}});
      ASSERT_THAT(read, Succeeds()) << at;
      EXPECT_THAT(PlainText(*read), HasSubstr("gh = \"[redacted:github_token]\"")) << at;
      EXPECT_THAT(PlainText(*read), Not(HasSubstr("hunter2"))) << at;
    }
    const auto run = Do("run", {{"context", id},
                                {"code",
                                 "print(sum(t.count('ghp_') for t in contexts.values()), "
                                 "contexts['plain.py'])"}});
    ASSERT_THAT(run, Succeeds());
    EXPECT_THAT(PlainText(*run), HasSubstr("0 password = ask_for_password()"));
  }
  const auto found = Do("search", {{"context", id}, {"query", "ghp_|hunter2"}, {"regex", true}});
  ASSERT_THAT(found, Succeeds());
  EXPECT_EQ(FindInt(found->structured, "total"), 0);
  EXPECT_THAT(Do("open", {{"paths", JsonArray{"db.sqlite"}}}),
              FailsWith(ErrorCode::kRefused, "--allow-secrets"));
}

TEST_F(OperationsTest, ThePlacesThatReadIsDescribedByAreRead) {  // SRV-A2
  std::string lines, rows = "id,v\n";
  for (int i = 0; i < 30; ++i) {
    lines += std::string(199, 'x') + "\n";
    rows += std::to_string(i) + ",a\n";
  }
  Write("a.txt", lines);
  Write("b.csv", rows);
  const std::string id = Open({{"paths", JsonArray{"a.txt", "b.csv"}}});
  const std::vector<std::string_view> parts = Split(FindOperation("read")->about, '\'');
  ASSERT_EQ(parts.size(), 7) << "three places";
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    EXPECT_THAT(Do("read", {{"context", id}, {"at", parts[i]}}), Succeeds()) << parts[i];
  }
}

TEST_F(OperationsTest, SearchGivesPlacesThatReadTakes) {  // SRV-A2
  const std::string id = OpenFile("a.txt");
  const auto found = Do("search", {{"context", id}, {"query", "lock"}});
  ASSERT_THAT(found, Succeeds());
  const Json& hit = Find(found->structured, "hits")->get_array().at(0);
  EXPECT_EQ(TextAt(hit, "at"), "a.txt:3");
  EXPECT_THAT(PlainText(*found), HasSubstr("1 of 1 match\na.txt:3  "));
  const auto matches =
      Do("search", {{"context", id}, {"query", "gates?"}, {"regex", true}, {"k", 1}});
  ASSERT_THAT(matches, Succeeds());
  EXPECT_EQ(FindInt(matches->structured, "total"), 2);
  EXPECT_THAT(PlainText(*matches), HasSubstr("1 of 2 matches\na.txt:1  one gate"));
  EXPECT_EQ(FindInt(Find(matches->structured, "hits")->get_array().at(0), "start"), 4);
  EXPECT_THAT(ErrorOf("search", {{"context", id}, {"query", "("}, {"regex", true}}),
              HasSubstr("("));
}

TEST_F(OperationsTest, ReadTakesLinesRecordsAndCharactersAndNamesTheRest) {  // SRV-22, SRV-A2
  Write("r.ndjson", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
  const std::string id = OpenFile("a.txt"), records = OpenFile("r.ndjson");
  const auto text = [&](const std::string& context, std::string_view at, int max = 20000) {
    const auto read = Do("read", {{"context", context}, {"at", at}, {"max_chars", max}});
    EXPECT_THAT(read, Succeeds());
    return read ? PlainText(*read) : "";
  };
  EXPECT_EQ(text(id, "a.txt:2-3"),
            "a.txt:2-3 of 4 lines\n2\ttwo gates\n3\tthree: the lock failed\n");
  EXPECT_EQ(text(id, "@4-8"), "a.txt@4-8 of 47 characters\ngate");
  EXPECT_EQ(text(records, "#record=2-3"), "r.ndjson#record=2-3 of 3 records\n{\"a\":2}\n{\"a\":3}");
  EXPECT_THAT(text(id, "a.txt", 25), HasSubstr("a.txt:1-2 of 4 lines; next: a.txt:3-\n"));
  EXPECT_THAT(text(id, "a.txt:3", 5), HasSubstr("next: a.txt@24-42\n3\tthree"));
  for (const std::string at :
       {"b.txt:1", "a.txt:9", "a.txt:3-1", "a.txt#page=3", "a.txt@x", "a.txt:0"}) {
    EXPECT_THAT(ErrorOf("read", {{"context", id}, {"at", at}}), HasSubstr("at \"")) << at;
  }
}

TEST_F(OperationsTest, ALongResultIsCutAtALineAndSaysWhereToGoOn) {  // SRV-22
  std::string lines;
  for (int i = 1; i <= 2000; ++i) lines += fmt::format("line {} of a long text\n", i);
  Write("long.txt", lines);
  options_.result_tokens = 1000;
  Restart();
  const std::string id = OpenFile("long.txt");
  const auto read = Do("read", {{"context", id}, {"at", "long.txt"}, {"max_chars", 100000}});
  ASSERT_THAT(read, Succeeds());
  const std::string text = PlainText(*read), next = TextAt(read->structured, "next");
  EXPECT_THAT(text, HasSubstr(fmt::format("; next: {}]", next)));
  EXPECT_LE(workspace_->Counter().CountText(read->parts[1].text).tokens, 1000);
  const auto rest = Do("read", {{"context", id}, {"at", next}});
  ASSERT_THAT(rest, Succeeds());
  EXPECT_EQ(FindInt(rest->structured, "start"), FindInt(read->structured, "end"));
}

TEST_F(OperationsTest, WrongArgumentsAreNamedByTheirPath) {  // SRV-26, SRV-A2
  EXPECT_THAT(ErrorOf("search", {{"context", "c000000000000"}, {"query", "x"}, {"k", 1000}}),
              HasSubstr("/k "));
  EXPECT_THAT(ErrorOf("read", {{"context", "c000000000000"}}), HasSubstr("at"));
  EXPECT_THAT(ErrorOf("recall", {{"query", "x"}, {"wrong", 1}}), HasSubstr("wrong"));
  EXPECT_THAT(ErrorOf("open", JsonArray()), HasSubstr("it takes paths, text, name"));
}

TEST_F(OperationsTest, NamesPersistInASessionWhichIsRebuiltByReplay) {  // SRV-24
  const std::string id = OpenFile("a.txt");
  const auto first = Do("run", {{"context", id}, {"code", "n = len(context.splitlines())"}});
  ASSERT_THAT(first, Succeeds());
  const std::string session = TextAt(first->structured, "session");
  // More sessions than interpreters: the first is parked, and comes back.
  for (std::size_t i = 0; i < 9; ++i) {
    ASSERT_THAT(Do("run", {{"context", id}, {"code", "1"}}), Succeeds());
  }
  const auto again = Do("run", {{"context", id}, {"code", "print(n)"}, {"session", session}});
  ASSERT_THAT(again, Succeeds());
  EXPECT_THAT(PlainText(*again), HasSubstr("4\n"));
  EXPECT_THAT(ErrorOf("run", {{"context", id}, {"code", "1"}, {"session", "s0000"}}),
              HasSubstr("there is no session s0000"));
}

TEST_F(OperationsTest, CodeOfRunReachesNoModelAndItsErrorsAreFailures) {  // SRV-24
  const std::string id = OpenFile("a.txt");
  const auto called = Do("run", {{"context", id}, {"code", "llm_query('hello')"}});
  ASSERT_THAT(called, Succeeds());
  EXPECT_EQ(called->kind, Output::Kind::kFailed);
  EXPECT_THAT(PlainText(*called), HasSubstr("sub-calls are off in run; use ask"));
}

TEST_F(OperationsTest, AskAnswersAndALaterCallRepeatsIt) {  // SRV-25
  Script("[\"The lock.\"]");
  const std::string id = OpenFile("a.txt");
  const auto answered = Do("ask", {{"context", id}, {"question", "What failed?"}});
  ASSERT_THAT(answered, Succeeds());
  EXPECT_EQ(TextAt(answered->structured, "status"), "final");
  EXPECT_FALSE(answered->structured.contains("answer"));
  const std::string run = TextAt(answered->structured, "run");
  EXPECT_THAT(PlainText(*answered),
              HasSubstr("The lock.\n\nrun: " + run + "  status: final  1 call  $0.000"));
  Restart();
  const auto again = Do("ask", {{"run", run}});
  ASSERT_THAT(again, Succeeds());
  EXPECT_EQ(PlainText(*again), PlainText(*answered));
  EXPECT_THAT(ErrorOf("ask", {{"run", run.substr(0, run.size() - 1)}}),
              HasSubstr("there is no run"));
  EXPECT_THAT(ErrorOf("ask", {{"run", run}, {"question", "x"}}), HasSubstr("/run"));
}

TEST_F(OperationsTest, AboveASumNothingIsSent) {  // SRV-25, SRV-A6
  Script("[\"a\", \"b\"]");
  options_.model.prices = {"1000/1000"};
  options_.max_usd = 100;
  options_.max_usd_day = 0.5;
  Restart();
  const std::string id = OpenFile("a.txt");
  const auto small =
      Do("ask", {{"context", id}, {"question", "What failed?"}, {"max_usd", 0.0001}});
  EXPECT_THAT(small, FailsWith(ErrorCode::kLimit, "nothing was sent"));
  EXPECT_THAT(small.error().message, HasSubstr("direct, scripted: 1 to 3 calls"));
  const auto first = Do("ask", {{"context", id}, {"question", "What failed?"}});
  ASSERT_THAT(first, Succeeds());
  options_.max_usd_day = 0.0001;
  Restart();
  EXPECT_THAT(Do("ask", {{"context", id}, {"question", "And then?"}}),
              FailsWith(ErrorCode::kLimit, "of this day"));
  options_.paid = WorkspaceOptions::Paid::kOff;
  Restart();
  EXPECT_THAT(Do("ask", {{"context", id}, {"question", "?"}}),
              FailsWith(ErrorCode::kRefused, "--paid off"));
}

TEST_F(OperationsTest, ARunThatCannotBeginHoldsNoMoney) {  // SRV-25
  Script("[\"a\"]");
  options_.model.prices = {"1/1"};
  options_.max_usd_day = 0.5;
  Restart();
  const AskWish wish{
      .context = OpenFile("a.txt"), .question = "What failed?", .mode = ask::Mode::kRecursive};
  options_.pool.worker_path = "/nonexistent/worker";
  workspace_ = *Workspace::Open(options_);
  EXPECT_THAT(workspace_->runs().Start(wish, {}), FailsWith(ErrorCode::kUnavailable, "worker"));
  EXPECT_EQ(workspace_->runs().Estimate(wish, {})->left_today, 0.5);
}

TEST_F(OperationsTest, ARunAtWorkIsNotForgotten) {  // SRV-25
  Script("- {reply: late, delay: 60s, times: always}");
  options_.runs_remembered = 1;
  Restart();
  const AskWish wish{.context = OpenFile("a.txt"), .question = "What failed?"};
  RunTable& runs = workspace_->runs();
  const std::string first = *runs.Start(wish, {}), second = *runs.Start(wish, {});
  EXPECT_EQ(runs.Known(), (std::vector{first, second}));
  EXPECT_TRUE(runs.Cancel(first, "enough"));
  ASSERT_THAT(runs.Wait(first, std::chrono::seconds(30), {}), Succeeds());
  const std::string third = *runs.Start(wish, {});
  EXPECT_EQ(runs.Known(), (std::vector{second, third}));
}

TEST_F(OperationsTest, WhatIsRememberedIsRecalled) {  // SRV-A2
  ASSERT_EQ(setenv("DOSSIER_MEMORY", (folder_.path() + "/memory.sqlite").c_str(), 1), 0);
  const auto stored =
      Do("remember", {{"text", "Ann moved to Bern."}, {"tags", JsonArray{"people"}}});
  ASSERT_THAT(stored, Succeeds());
  const auto id = FindInt(stored->structured, "id");
  EXPECT_EQ(PlainText(*stored), fmt::format("stored m{}", *id));
  const auto found = Do("recall", {{"query", "Where did Ann move?"}});
  ASSERT_THAT(found, Succeeds());
  EXPECT_THAT(PlainText(*found), HasSubstr(fmt::format("m{}  ", *id)));
  EXPECT_THAT(PlainText(*found), HasSubstr("Ann moved to Bern."));
  unsetenv("DOSSIER_MEMORY");
}

TEST_F(OperationsTest, PackFitsItsBudgetAndIsNoWayOutOfTheRoots) {  // SRV-21, SRV-22
  const auto packed = Do("pack", {{"paths", JsonArray{"."}}, {"budget", 500}});
  ASSERT_THAT(packed, Succeeds());
  EXPECT_LE(*FindInt(packed->structured, "tokens"), 500);
  EXPECT_THAT(PlainText(*packed), HasSubstr("three: the lock failed"));
  ASSERT_EQ(packed->links.size(), 1u);
  EXPECT_THAT(Do("pack", {{"paths", JsonArray{"/etc"}}}), FailsWith(ErrorCode::kRefused, "--root"));
}

// A number that the code could not read took the limit away, or ended the server.
TEST_F(OperationsTest, WholeNumbersOfAnyFormAreRead) {  // SRV-21
  const auto packed = Do("pack", {{"paths", JsonArray{"."}}, {"budget", 500.0}});
  ASSERT_THAT(packed, Succeeds());
  EXPECT_EQ(FindInt(packed->structured, "budget"), 500);
  for (const Json& wrong : {Json(std::uint64_t{1} << 63), Json(1e300)}) {
    EXPECT_THAT(ErrorOf("pack", {{"paths", JsonArray{"."}}, {"budget", wrong}}),
                HasSubstr("/budget"));
    EXPECT_THAT(ErrorOf("ask", {{"context", "c"}, {"question", "q"}, {"max_calls", wrong}}),
                HasSubstr("/max_calls"));
  }
}

TEST_F(OperationsTest, OldContextsAreDropped) {  // SRV-20
  const std::string id = OpenFile("a.txt");
  Write("b.txt", "b\n");
  const std::string newer = OpenFile("b.txt");
  EXPECT_THAT(*workspace_->contexts().Collect(std::chrono::hours(1), 200), ::testing::IsEmpty());
  EXPECT_EQ(*workspace_->contexts().Collect(std::chrono::hours(1), 1),
            std::vector<std::string>{id});
  EXPECT_THAT(ErrorOf("describe", {{"context", id}}), HasSubstr("there is no context"));
  EXPECT_THAT(Do("describe", {{"context", newer}}), Succeeds());
  EXPECT_EQ(workspace_->contexts().Collect(std::chrono::hours(0), 200)->size(), 1u);
}

}  // namespace
}  // namespace dossier::server
