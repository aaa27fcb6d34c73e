#include "ask/run/run_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunMemoryTest : public ::testing::Test {
 protected:
  RunMemory Open() {
    auto opened = RunMemory::Open({.store = memory::SharedBy(&*store_)});
    EXPECT_THAT(opened, testing::Succeeds());
    return *opened;
  }
  static std::vector<std::string> Texts(const RunMemory& memory, const std::string& query) {
    const auto found = memory.Handle("memory_search", {{"query", query}});
    EXPECT_THAT(found, testing::Succeeds());
    std::vector<std::string> texts;
    for (const Json& hit : Find(*found, "hits")->get_array()) {
      texts.emplace_back(*FindString(hit, "text"));
    }
    return texts;
  }

  memory::TestStore store_;
};

// MEM-59: code finds what it wrote, by words and by id; so does the next run.
TEST_F(RunMemoryTest, CodeWritesSearchesAndGets) {
  const RunMemory memory = Open();
  const auto written = memory.Handle(
      "memory_write", {{"text", "the cluster wants icpx"}, {"tags", JsonArray{"build"}}});
  ASSERT_THAT(written, testing::Succeeds());
  const std::int64_t id = *FindInt(*written, "id");
  const auto found = memory.Handle("memory_search", {{"query", "Which compiler on the cluster?"}});
  ASSERT_THAT(found, testing::Succeeds());
  const Json& hit = Find(*found, "hits")->get_array().at(0);
  EXPECT_EQ(FindInt(hit, "id"), id);
  EXPECT_EQ(FindString(hit, "text"), "the cluster wants icpx");
  EXPECT_EQ(ToJson(*Find(hit, "tags")), R"(["LLM_INSIGHT","build"])");
  EXPECT_GT(FindNumber(hit, "score").value_or(0), 0);
  const auto got = memory.Handle("memory_get", {{"id", id}});
  ASSERT_THAT(got, testing::Succeeds());
  EXPECT_EQ(FindString(*Find(*got, "record"), "text"), "the cluster wants icpx");
  const auto again =
      memory.Handle("memory_write", {{"text", "the cluster wants icpx"}, {"tags", "build"}});
  EXPECT_EQ(FindInt(*again, "id"), id);
  EXPECT_EQ(FindBool(*again, "unchanged"), true);
}

TEST_F(RunMemoryTest, AnIdThatIsNotThereIsNull) {
  const auto got = Open().Handle("memory_get", {{"id", 41}});
  ASSERT_THAT(got, testing::Succeeds());
  EXPECT_TRUE(Find(*got, "record")->is_null());
}

// SBX-93: everything that comes from a worker is checked.
TEST_F(RunMemoryTest, WrongArgumentsAreRefusedByName) {
  const RunMemory memory = Open();
  struct Case {
    const char* method;
    JsonObject args;
    const char* says;
  };
  const Case cases[] = {
      {"memory_search", {}, "query"},
      {"memory_search", {{"query", 1}}, "query"},
      {"memory_search", {{"query", ""}}, "query is empty"},
      {"memory_search", {{"query", "a"}, {"k", 0}}, "k must be 1 to 200"},
      {"memory_search", {{"query", "a"}, {"k", 201}}, "k"},
      {"memory_search", {{"query", "a"}, {"branch", "x"}}, "branch"},
      {"memory_get", {{"id", "x"}}, "id"},
      {"memory_get", {{"id", -1}}, "id"},
      {"memory_write", {}, "text"},
      {"memory_write", {{"text", " "}}, "empty_text"},
      {"memory_write", {{"text", std::string((1 << 20) + 1, 'x')}}, "too_large"},
      {"memory_write", {{"text", "a"}, {"tags", JsonArray{1}}}, "tags"},
      {"memory_write", {{"text", "a"}, {"tags", 1}}, "tags"},
      {"memory_burn", {}, "memory_burn"},
  };
  for (const Case& one : cases) {
    const auto result = memory.Handle(one.method, one.args);
    ASSERT_FALSE(result) << one.method << " " << one.says;
    EXPECT_THAT(result.error().message, HasSubstr(one.says)) << one.method;
  }
  EXPECT_THAT(*store_.View().Records({}), IsEmpty());
}

// MEM-T27, MEM-59: a session below sees what was known then; only it sees its own writes.
TEST_F(RunMemoryTest, SubSessionsDoNotLeak) {
  const RunMemory root = Open();
  ASSERT_THAT(root.Handle("memory_write", {{"text", "apple known before"}}), testing::Succeeds());
  const auto first = root.ForSubSession("20261122-1", "0.1");
  const auto second = root.ForSubSession("20261122-1", "0.2");
  ASSERT_THAT(first, testing::Succeeds());
  ASSERT_THAT(second, testing::Succeeds());
  ASSERT_THAT(first->Handle("memory_write", {{"text", "apple of the first"}}), testing::Succeeds());
  ASSERT_THAT(root.Handle("memory_write", {{"text", "apple known after"}}), testing::Succeeds());
  EXPECT_THAT(Texts(*first, "apple"),
              ::testing::UnorderedElementsAre("apple known before", "apple of the first"));
  EXPECT_THAT(Texts(*second, "apple"), ElementsAre("apple known before"));
  EXPECT_THAT(Texts(root, "apple"),
              ::testing::UnorderedElementsAre("apple known before", "apple known after"));
}

// MEM-59
TEST_F(RunMemoryTest, TheAnswerIsKeptWithItsSources) {
  ASSERT_THAT(Open().Keep({.run = "run-1",
                           .question = "Which is the largest?",
                           .text = "bash",
                           .status = "final",
                           .sources = {JsonObject{{"name", "packages.csv"}, {"sha256", "ab"}}}}),
              testing::Succeeds());
  const auto window = *store_.View().Window(10);
  ASSERT_EQ(window.size(), 1U);
  EXPECT_EQ(window[0].kind, "answer");
  EXPECT_EQ(window[0].ref, "run-1");
  EXPECT_EQ(window[0].text, "Question: Which is the largest?\nAnswer: bash\nSources: packages.csv");
  EXPECT_EQ(ToJson(window[0].meta),
            R"({"status":"final","sources":[{"name":"packages.csv","sha256":"ab"}]})");
}

// 5.2
TEST_F(RunMemoryTest, CallsAreLoggedWithTheirRun) {
  const std::string path = store_.folder() + "/memory_calls.jsonl";
  const auto memory = RunMemory::Open({.store = memory::SharedBy(&*store_),
                                       .calls = std::make_shared<const memory::MemoryCallLog>(
                                           memory::CallLogOptions{.path = path})});
  ASSERT_THAT(memory, testing::Succeeds());
  ASSERT_THAT(memory->port().Log({.op = "memory_search",
                                  .layer = "bridge",
                                  .memory_type = "store",
                                  .run = "run-1",
                                  .details = {{"query", "linker"}}}),
              testing::Succeeds());
  const auto line = ParseJson(*ReadFile(path));
  ASSERT_TRUE(line);
  EXPECT_EQ(FindString(*line, "op"), "memory_search");
  EXPECT_EQ(FindString(*line, "branch_id"), "root");
  EXPECT_EQ(FindString(*line, "phase"), "ask");
  EXPECT_EQ(FindString(*line, "run_id"), "run-1");
  EXPECT_EQ((*memory::ReadsByPhase(path))["ask"], 1);
  EXPECT_THAT(Open().port().Log({.op = "show"}), testing::Succeeds());  // without a log: nothing
}

TEST_F(RunMemoryTest, ABranchThatIsNotThereIsSaidAtOnce) {
  const auto opened = RunMemory::Open({.store = memory::SharedBy(&*store_), .branch = "n9"});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("no branch \"n9\""));
}

}  // namespace
}  // namespace dossier::ask
