#include "research/run/run_record.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

TEST(RunRecordTest, WhatWasAskedForIsReadBack) {
  const TempFolder temp = *TempFolder::Make("record");
  RunOrder order;
  order.stages = {1, 3};
  order.until = Step::kPaper;
  order.skip = {RunOrder::Skip::kCitations, RunOrder::Skip::kReview};
  order.memory_store = "/data/memory.sqlite";
  order.connection = {{"base_url", "http://127.0.0.1:8080"}};
  ASSERT_TRUE(
      WriteFileAtomic(temp.path() + "/run.json", RunRecordText(RecordOf(order, "r1", "Sorting"))));
  const auto record = ReadRunRecord(temp.path());
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->run, "r1");
  EXPECT_EQ(record->title, "Sorting");
  EXPECT_EQ(record->stages, order.stages);
  EXPECT_EQ(record->until, order.until);
  EXPECT_EQ(record->skip, order.skip);
  EXPECT_EQ(record->memory_store, order.memory_store);
  EXPECT_EQ(record->connection, order.connection);
}

TEST(RunRecordTest, ADamagedOneNamesTheField) {
  const TempFolder temp = *TempFolder::Make("record");
  EXPECT_THAT(ReadRunRecord(temp.path()), FailsWith(ErrorCode::kNotFound, "run.json"));
  const struct {
    std::string_view text, message;
  } kCases[] = {
      {"{", "run.json"},
      {"{}", "run is missing"},
      {R"({"schema":"dossier.research.run/2","run":"r","stages":"1","skip":[]})",
       "go on with the version that made the run"},
      {R"({"run":"r","stages":"9","skip":[]})", "stages"},
      {R"({"run":"r","stages":"1","skip":["x"]})", "skip"},
      {R"({"run":"r","stages":"1","skip":[],"until":"x"})", "until"},
  };
  for (const auto& example : kCases) {
    ASSERT_TRUE(WriteFileAtomic(temp.path() + "/run.json", example.text));
    EXPECT_THAT(ReadRunRecord(temp.path()),
                FailsWith(ErrorCode::kDamaged, std::string(example.message)));
  }
}

TEST(RunRecordTest, StagesAreARangeOrAList) {
  const struct {
    std::string_view text;
    std::vector<int> stages;
  } kGood[] = {{"1-4", {1, 2, 3, 4}}, {"3-4", {3, 4}}, {"3,1", {1, 3}}, {"1-2,2-3", {1, 2, 3}}};
  for (const auto& example : kGood) {
    EXPECT_EQ(ParseStages(example.text), example.stages) << example.text;
  }
  for (const std::string_view bad : {"", "0", "5", "4-1", "1-", "a", "1-2-3", "1,,2"}) {
    EXPECT_THAT(ParseStages(bad), FailsWith(ErrorCode::kUsage, "1 to 4")) << bad;
  }
  EXPECT_THAT(ParseStages("2-4"), FailsWith(ErrorCode::kUsage, "stage 2 tunes the best program"));
}

TEST(RunRecordTest, StepsHaveTheNamesOfTheFlag) {
  for (const std::string_view name : StepNames()) EXPECT_EQ(StepName(*FindStep(name)), name);
  EXPECT_FALSE(FindStep("stage5"));
}

}  // namespace
}  // namespace dossier::research
