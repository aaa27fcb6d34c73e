#include "memory/blocks/block.h"

#include <gtest/gtest.h>

#include "memory/blocks/block_json.h"

namespace dossier::memory {
namespace {

UpdateBlock Checked(std::string_view json) {
  BlockJson read = ReadBlockJson(json);
  EXPECT_FALSE(read.fault) << json;
  return CheckBlock(std::move(read));
}

template <typename T>
const T& Only(const UpdateBlock& block) {
  EXPECT_EQ(block.operations.size(), 1U);
  return std::get<T>(block.operations.at(0).value);
}

TEST(BlockTest, OperationsStandInTableOrderWhateverTheWrittenOrder) {  // MEM-20, MEM-T8
  const UpdateBlock block = Checked(
      R"({"recall_search": "x", "core_get": "a", "recall": {"text": "e"}, "core": {"a": "b"}})");
  std::vector<OperationId> ids;
  for (const BlockOperation& operation : block.operations) ids.push_back(operation.id);
  EXPECT_EQ(ids, (std::vector{OperationId::kCoreSet, OperationId::kRecallAppend,
                              OperationId::kCoreGet, OperationId::kRecallSearch}));
  EXPECT_TRUE(block.Writes());
  EXPECT_TRUE(block.Reads());
}

TEST(BlockTest, AWrongTypeFailsThatOperationAloneWithItsPath) {  // MEM-21
  struct Case {
    std::string_view json;
    std::string_view error;
  };
  constexpr Case kCases[] = {
      {R"({"core_set": ["a"]})", "$.core_set: expected an object of keys and texts, not a list"},
      {R"({"core": {"a": {"value": "b", "pin": 1}}})",
       "$.core.a.pin: expected true or false, not 1"},
      {R"({"core_delete": ["a", 3]})", "$.core_delete[1]: expected a text, not 3"},
      {R"({"archival_write": "text"})",
       "$.archival_write: expected an object with a text, not a text"},
      {R"({"archival_write": [{"text": "a"}, {"tags": []}]})",
       "$.archival_write[1].text: expected a text, not nothing"},
      {R"({"archival_write": [{"text": "a", "tags": ["b", {}]}]})",
       "$.archival_write[0].tags[1]: expected a text, not an object"},
      {R"({"recall_append": [{"text": 5}]})", "$.recall_append[0].text: expected a text, not 5"},
      {R"({"recall_append": [{"text": "a", "time": "noon"}]})",
       "$.recall_append[0].time: expected a time like 2026-03-01T10:00:00Z, not a text"},
      {R"({"archival_update": [{"text": "a"}]})",
       "$.archival_update[0].id: expected the id of a record, not nothing"},
      {R"({"archival_delete": ["x"]})",
       "$.archival_delete[0]: expected the id of a record, a whole number above 0, not a text"},
      {R"({"recall_evict": {"oldest": -1}})",
       "$.recall_evict.oldest: expected a whole number from 0, not -1"},
      {R"({"recall_summarize": false})", "$.recall_summarize: expected true or {}, not false"},
      {R"({"archival_search": {}})",
       "$.archival_search.query: expected a text to search for, not nothing"},
      {R"({"archival_search": " "})",
       "$.archival_search: expected a text to search for, not blanks"},
      {R"({"archival_search": {"query": "a", "k": 0}})",
       "$.archival_search.k: expected a whole number from 1 to 200, not 0"},
      {R"({"recall_search": {"query": "a", "k": 201}})",
       "$.recall_search.k: expected a whole number from 1 to 200, not 201"},
      {R"({"recall_search": {"query": "a", "k": 1.5}})",
       "$.recall_search.k: expected a whole number from 1 to 200, not 1.5"},
      {R"({"recall_search": 5})",
       "$.recall_search: expected a query, or an object with one, not 5"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Only<BadValue>(Checked(c.json)).Text(), c.error);
  const UpdateBlock both = Checked(R"({"core_set": 5, "archival_get": [7]})");
  EXPECT_TRUE(std::holds_alternative<BadValue>(both.operations[0].value));
  EXPECT_EQ(std::get<Ids>(both.operations[1].value).ids, std::vector<std::int64_t>{7});
}

TEST(BlockTest, UnknownNamesAreReportedWithTheNearest) {  // MEM-21
  const UpdateBlock block = Checked(R"({"archive": "x", "core_get": "a"})");
  ASSERT_EQ(block.warnings.size(), 1U);
  EXPECT_EQ(block.warnings[0].name, "unknown_operation");
  EXPECT_EQ(block.warnings[0].text,
            "unknown operation \"archive\"; did you mean \"archival_write\"?");
  EXPECT_EQ(block.operations.size(), 1U);
}

TEST(BlockTest, ANameBesideItsSynonymIsMergedAndTheLaterTextWins) {  // MEM-21
  const UpdateBlock maps = Checked(R"({"core_set": {"a": "1", "b": "2"}, "core": {"b": "3"}})");
  const auto& items = Only<CoreSetItems>(maps).items;
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].value.value, "1");
  EXPECT_EQ(items[1].value.value, "3");
  ASSERT_EQ(maps.warnings.size(), 1U);
  EXPECT_EQ(maps.warnings[0].name, "duplicate_key");
  const UpdateBlock lists = Checked(R"({"core_get": "a", "mem_core_get": ["b"]})");
  EXPECT_EQ(Only<Keys>(lists).keys, (std::vector<std::string>{"a", "b"}));
  const UpdateBlock one = Checked(R"({"recall_search": "a", "mem_recall_search": "b"})");
  EXPECT_EQ(Only<SearchRequest>(one).query, "b");
  const UpdateBlock twice = Checked(R"({"core_set": {"a": "1"}, "core_set": {"b": "2"}})");
  EXPECT_EQ(Only<CoreSetItems>(twice).items.size(), 2U);
  EXPECT_EQ(twice.warnings.at(0).name, "duplicate_key");
}

TEST(BlockTest, CoreValuesHaveTwoForms) {  // MEM-9, MEM-10
  const UpdateBlock block = Checked(R"({"core_set": {"plain": "x", "number": 1.5, "list": [1, "a"],
    "data": {"value": 3, "unit": "m"}, "none": null,
    "full": {"value": "v", "importance": 9, "ttl": "2h", "pin": true},
    "odd": {"value": "v", "importance": "high", "ttl": "soon"}}})");
  const auto& items = Only<CoreSetItems>(block).items;
  ASSERT_EQ(items.size(), 7U);
  EXPECT_EQ(items[0].value.value, "x");
  EXPECT_FALSE(items[0].value.importance);
  EXPECT_EQ(items[1].value.value, "1.5");
  EXPECT_EQ(items[2].value.value, R"([1,"a"])");
  EXPECT_EQ(items[3].value.value, R"({"value":3,"unit":"m"})");
  EXPECT_TRUE(items[4].refused.starts_with("bad_value: "));
  EXPECT_EQ(items[5].value.importance, 5);
  EXPECT_TRUE(items[5].value.pinned);
  EXPECT_EQ(items[5].ttl->ExpiryAt(10), 7'200'000'010);
  EXPECT_EQ(items[6].value.importance, 3);
  EXPECT_FALSE(items[6].ttl);
  ASSERT_EQ(block.warnings.size(), 2U);
  EXPECT_EQ(block.warnings[0].name, "bad_importance");
  EXPECT_EQ(block.warnings[1].name, "ttl_ignored");
}

TEST(BlockTest, EachFormOfATtl) {  // MEM-10, MEM-T6
  struct Case {
    std::string_view json;
    std::optional<Micros> expiry;  // from 1,000,000 on
  };
  constexpr Micros kSecond = 1'000'000;
  const Case cases[] = {{"30", 31 * kSecond},
                        {"0.5", kSecond * 3 / 2},
                        {R"("30s")", 31 * kSecond},
                        {R"("45")", 46 * kSecond},
                        {R"("10m")", 601 * kSecond},
                        {R"("2h")", 7201 * kSecond},
                        {R"("7d")", 604'801 * kSecond},
                        {R"("4w")", 2'419'201 * kSecond},
                        {R"("1970-01-01T00:00:09Z")", 9 * kSecond},
                        {R"("soon")", std::nullopt},
                        {R"("3x")", std::nullopt},
                        {R"("")", std::nullopt},
                        {"0", std::nullopt},
                        {"-5", std::nullopt},
                        {"1e300", std::nullopt},
                        {R"("99999999999999999999s")", std::nullopt},
                        {"true", std::nullopt}};
  for (const Case& c : cases) {
    const std::optional<Ttl> ttl = ParseTtl(*ParseJson(c.json));
    EXPECT_EQ(ttl ? std::optional(ttl->ExpiryAt(kSecond)) : std::nullopt, c.expiry) << c.json;
  }
}

TEST(BlockTest, AnEventsTextIsTextSummaryOrContent) {  // MEM-14, MEM-T8
  struct Case {
    std::string_view event;
    std::string_view text;
  };
  constexpr Case kCases[] = {{R"({"text": "a"})", "a"},
                             {R"({"summary": "b"})", "b"},
                             {R"({"content": "c"})", "c"},
                             {R"({"content": "c", "text": "a", "summary": "b"})", "a\nb\nc"},
                             {R"({"content": "a", "text": "a"})", "a"},
                             {R"({"kind": "note"})", ""}};
  for (const Case& c : kCases) {
    const UpdateBlock block = Checked(fmt::format(R"({{"recall_append": {}}})", c.event));
    EXPECT_EQ(Only<NewRecords>(block).records.at(0).text, c.text) << c.event;
  }
  const UpdateBlock block =
      Checked(R"({"recall_append": [{"text": "a", "kind": "result", "tags": "t",
    "phase": "run", "thread": "s", "ref": "r", "time": "1970-01-01T00:00:02Z", "score": 4}]})");
  const Record& record = Only<NewRecords>(block).records.at(0);
  EXPECT_EQ(record.kind, "result");
  EXPECT_EQ(record.tags, std::vector<std::string>{"t"});
  EXPECT_EQ(record.phase + record.thread + record.ref, "runsr");
  EXPECT_EQ(record.at, 2'000'000);
  EXPECT_EQ(ToJson(record.meta), R"({"score":4})");
  EXPECT_EQ(Only<NewRecords>(Checked(R"({"recall_append": {"text": "a"}})")).records.at(0).kind,
            "llm_insight");
}

TEST(BlockTest, ABareListOfAnEvictionMeansIds) {  // MEM-18
  EXPECT_EQ(Only<EvictSelection>(Checked(R"({"recall_evict": [3, 4]})")).ids,
            (std::vector<std::int64_t>{3, 4}));
  const UpdateBlock block = Checked(R"({"recall_evict": {"ids": [3], "kind": "k", "oldest": 2}})");
  const auto& selection = Only<EvictSelection>(block);
  EXPECT_EQ(selection.ids, std::vector<std::int64_t>{3});
  EXPECT_EQ(selection.kind, "k");
  EXPECT_EQ(selection.oldest, 2);
}

}  // namespace
}  // namespace dossier::memory
