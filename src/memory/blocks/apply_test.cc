#include "memory/blocks/apply.h"

#include <gtest/gtest.h>

#include "memory/blocks/reply.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;

UpdateBlock BlockOf(std::string_view json) {
  const ParsedReply reply = ParseReply(fmt::format("<memory_update>{}</memory_update>", json));
  EXPECT_TRUE(reply.block) << json;
  return *reply.block;
}

UpdateResult Applied(TestStore& store, std::string_view json, std::string_view branch = kRootBranch,
                     ApplyContext context = {}) {
  context.clock = store.options().clock;
  auto result = Apply(*store, branch, BlockOf(json), context);
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

std::string ResultOf(const UpdateResult& result, std::string_view name) {
  const Json* found = Find(result.results, name);
  return found ? ToJson(*found) : "none";
}

// "core_set ok, core_get ok".
std::string LogOf(const UpdateResult& result) {
  std::string text;
  for (const Json& entry : result.operations_log) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", *FindString(entry, "type"), *FindString(entry, "status"));
  }
  return text;
}

TEST(ApplyTest, WritesRunBeforeReadsAndTheReadsSeeThem) {  // MEM-20, MEM-T8
  TestStore store;
  const UpdateResult result = Applied(store, R"({"core_get": ["a", "b"], "core_set": {"a": "1"}})");
  EXPECT_EQ(LogOf(result), "core_set ok, core_get ok");
  EXPECT_EQ(ResultOf(result, "core_get"), R"({"a":"1","b":null})");
  EXPECT_EQ(ResultOf(result, "core_set"), R"({"evicted":[]})");
  EXPECT_EQ(result.errors, 0);
}

TEST(ApplyTest, TheStoreKnowsWhichBlocksWroteToIt) {  // MEM-27
  TestStore store;
  const UpdateBlock block =
      *ParseReply(R"(<memory_update>{"core_set": {"a": "1"}}</memory_update>)").block;
  ASSERT_TRUE(Apply(*store, "root", block, {.block_id = "n1/draft/a1/r1"}));
  EXPECT_TRUE(*WasApplied(*store, "n1/draft/a1/r1"));
  EXPECT_FALSE(*WasApplied(*store, "n1/draft/a1/r2"));
}

TEST(ApplyTest, TheResultHasTheSpecifiedParts) {  // MEM-20
  TestStore store;
  const UpdateResult result = Applied(store, R"({"core_set": {"a": "1"}})");
  EXPECT_EQ(
      ToJson(BlockResultJson(result)),
      R"({"core_set":{"evicted":[]},"operations_log":[{"type":"core_set",)"
      R"("timestamp":"2023-11-14T22:13:20.000000Z","status":"ok","seq":1,"key":"a"}],)"
      R"("input_updates":{"core_set":{"a":"1"}},"timing":{)"
      R"("start_timestamp":"2023-11-14T22:13:20.000000Z",)"
      R"("end_timestamp":"2023-11-14T22:13:20.000000Z","duration_seconds":0},"warnings":[]})");
}

TEST(ApplyTest, EachOperationReturnsWhatTheTableSays) {  // MEM-20, MEM-T8
  TestStore store;
  const UpdateResult wrote = Applied(
      store, R"({"archival_write": [{"text": "first linker", "tags": ["a"]}, {"text": "second"}],
                 "recall_append": [{"text": "an event", "kind": "note"}, {"summary": "another"}]})");
  EXPECT_EQ(ResultOf(wrote, "archival_write"), "[1,2]");
  EXPECT_EQ(ResultOf(wrote, "recall_append"), "[3,4]");
  const UpdateResult read = Applied(store, R"({"archival_get": [1], "archival_search": "linker",
                                              "recall_search": {"query": "event", "kind": "note"}})");
  EXPECT_EQ(ResultOf(read, "archival_get"),
            R"([{"id":1,"text":"first linker","tags":["LLM_INSIGHT","a"]}])");
  const Json* hits = Find(read.results, "archival_search");
  ASSERT_EQ(hits->get_array().size(), 1U);
  EXPECT_EQ(FindInt(hits->get_array()[0], "id"), 1);
  EXPECT_GT(*FindNumber(hits->get_array()[0], "score"), 0);
  EXPECT_EQ(ResultOf(read, "recall_search"),
            R"([{"id":3,"kind":"note","summary":"an event","ts":"2023-11-14T22:13:20.000000Z"}])");
  const UpdateResult changed = Applied(store, R"({"archival_update": [{"id": 2, "text": "third"}],
      "archival_delete": [1], "recall_evict": [3, 99], "core_delete": "absent"})");
  EXPECT_EQ(ResultOf(changed, "archival_update"), R"([{"id":5,"supersedes":2}])");
  EXPECT_EQ(ResultOf(changed, "archival_delete"), "none");
  EXPECT_EQ(ResultOf(changed, "recall_evict"),
            R"({"evicted_count":1,"archived_count":1,"refused":[99]})");
  EXPECT_EQ(LogOf(changed),
            "core_delete error, archival_update ok, archival_delete ok, recall_evict ok, "
            "recall_evict error");
  EXPECT_EQ(changed.errors, 2);
}

TEST(ApplyTest, ARefusedItemLeavesTheOthers) {  // MEM-21
  TestStore store;
  const UpdateResult result = Applied(store, R"({"archive": "x", "core_set": {"a": null, "b": "2"},
      "archival_write": 5, "recall_append": [{"kind": "empty"}, {"text": "kept"}]})");
  EXPECT_EQ(LogOf(result),
            "core_set error, core_set ok, archival_write error, recall_append error, "
            "recall_append ok");
  EXPECT_EQ(result.errors, 4);  // the unknown operation is one, too
  EXPECT_EQ(store.Core("b"), "2");
  EXPECT_EQ(FindString(result.operations_log[2], "path"), "$.archival_write");
  EXPECT_TRUE(FindString(result.operations_log[3], "error")->starts_with("empty_text"));
  EXPECT_EQ(ResultOf(result, "recall_append"), "[null,1]");
}

TEST(ApplyTest, TheSameBlockAgainChangesNothing) {  // MEM-15, MEM-16
  TestStore store;
  constexpr std::string_view kBlock =
      R"({"core_set": {"a": "1"}, "archival_write": {"text": "t"}, "recall_append": {"text": "e"}})";
  Applied(store, kBlock);
  EXPECT_EQ(LogOf(Applied(store, kBlock)),
            "core_set unchanged, archival_write unchanged, recall_append unchanged");
}

TEST(ApplyTest, AFailureOfTheStoreUndoesTheBlock) {  // MEM-21, MEM-27
  TestStore store;
  const ApplyContext context{
      .also = [](BranchTransaction&) -> Status { return MakeError(ErrorCode::kIo, "disk full"); }};
  EXPECT_THAT(Apply(*store, "root", BlockOf(R"({"core_set": {"a": "1"}})"), context),
              FailsWith(ErrorCode::kIo, "disk full"));
  EXPECT_EQ(store.Core("a"), "none");
  EXPECT_THAT(Apply(*store, "n9", BlockOf("{}"), {}), FailsWith(ErrorCode::kNotFound, "n9"));
}

TEST(ApplyTest, ReadsWriteNothing) {  // MEM-2
  TestStore store;
  Applied(store, R"({"core_set": {"a": "1"}})");
  const Seq before = store.View().at();
  Applied(store, R"({"core_get": "a", "archival_search": "x"})");
  EXPECT_EQ(store.View().at(), before);
}

TEST(ApplyTest, SecretsAreOutOfTheResultToo) {  // MEM-52
  TestStore store;
  const UpdateResult result = Applied(store, R"({"core_set": {"note": "use hf_x8Kq2LwZ9vT)"
                                             "n4RbY7cMd1eQ5zT3kWq9Lp0"
                                             R"("}})");
  const std::string json = ToJson(BlockResultJson(result));
  EXPECT_EQ(json.find("hf_x8Kq2LwZ9vT"), std::string::npos);
  EXPECT_EQ(result.redacted, 1);
}

TEST(ApplyTest, TtlCountsFromTheWrite) {  // MEM-10, MEM-T6
  TestStore store;
  Applied(store, R"({"core_set": {"a": {"value": "1", "ttl": "30s"}}})");
  EXPECT_EQ(store.View().Core("a")->expires_at, StandingClock::kStart + 30'000'000);
  store.clock().now += 31'000'000;
  EXPECT_EQ(store.Core("a"), "none");
}

TEST(ApplyTest, ConsolidationFollowsAnAppliedBlockAtTheTrigger) {  // MEM-49
  TestStore store({.limits = {.core_max_chars = 100, .recall_max_events = 2}});
  for (int i = 0; i < 4; ++i) store.Add({.tier = Tier::kRecall, .text = fmt::format("e{}", i)});
  const UpdateResult low = Applied(store, R"({"core_set": {"a": "1"}})", "root",
                                   {.consolidate_from = PressureLevel::kHigh});
  EXPECT_EQ(LogOf(low), "core_set ok");
  const UpdateResult high =
      Applied(store, fmt::format(R"({{"core_set": {{"b": "{}"}}}})", std::string(85, 'x')), "root",
              {.consolidate_from = PressureLevel::kHigh});
  EXPECT_EQ(LogOf(high), "core_set ok, consolidate ok");
  EXPECT_EQ(store.View().Window(10)->size(), 2U);
}

}  // namespace
}  // namespace dossier::memory
