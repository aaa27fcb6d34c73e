#include "research/run/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/search/stage_end.h"
#include "research/setup/config.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Node MadeNode(std::string id, std::string exc_type) {
  Node node{.id = std::move(id)};
  node.is_buggy = !exc_type.empty();
  node.exc_type = std::move(exc_type);
  return node;
}

TEST(ReportTest, WhatFailedIsCountedByItsKind) {  // section 6: no good node in stage 1
  RunResults results{.title = "Sorting"};
  results.stages.push_back({.name = "1_initial_implementation_1_preliminary"});
  results.stages.back().tree.nodes = {MadeNode("a1", "CompilationError"), MadeNode("b2", ""),
                                      MadeNode("c3", "CompilationError"),
                                      MadeNode("d4", "RuntimeError")};
  EXPECT_EQ(ErrorCounts(results), "CompilationError 2, RuntimeError 1");
  const std::string report =
      PlainReport(results, {.end = RunEnd::kFailed, .reason = "no_working_implementation"});
  EXPECT_THAT(report, HasSubstr("The run ended: failed (no_working_implementation)."));
  EXPECT_THAT(report, HasSubstr("Nodes that failed: CompilationError 2, RuntimeError 1."));
  EXPECT_THAT(report, HasSubstr("There is none."));
  EXPECT_THAT(report, HasSubstr("| d4 | draft | buggy: RuntimeError | N/A |"));
}

TEST(ReportTest, TheBestProgramAndItsRerunsAreShown) {  // RSP-36
  RunResults results{.title = "Sorting", .best_node = "a1"};
  results.stages.push_back({.name = "2_baseline_tuning_1_first_attempt", .best_node = "a1"});
  Node best = MadeNode("a1", "");
  best.metric = Metric{{.name = "speedup", .values = {{.dataset = "large", .value = 2}}}};
  results.stages.back().tree.nodes = {best};
  results.stages.back().seed_statistics = JsonArray{JsonObject{{"name", "speedup"}}};
  const std::string report = PlainReport(results, {});
  EXPECT_THAT(report, HasSubstr("Node `a1` (draft), metric speedup↑[large:2]"));
  EXPECT_THAT(report, HasSubstr("The run ended: done.\n"));
  EXPECT_THAT(report, HasSubstr("- `{\"name\":\"speedup\"}`"));
  EXPECT_THAT(report, Not(HasSubstr("failed")));
}

TEST(ReportTest, ARunWithoutAnEndHasNone) {
  EXPECT_THAT(PlainReport({.title = "Sorting"}, {.end = std::nullopt}),
              HasSubstr("The run has not ended yet.\n"));
}

TEST(ReportTest, ANameDoesNotBreakTheTable) {
  RunResults results{.title = "Sorting"};
  results.stages.push_back({.name = "1_initial_implementation_1_preliminary"});
  Node node = MadeNode("a1", "");
  node.metric = Metric{{.name = "a|b", .values = {{.dataset = "c|d", .value = 2}}}};
  results.stages.back().tree.nodes = {node};
  EXPECT_THAT(PlainReport(results, {}), HasSubstr("| a\\|b↑[c\\|d:2] |"));
}

TEST(SeedsTest, OnlyFilesThatAProgramHasAreReplaced) {  // RSP-36, 4.2
  const Json artifacts = ParseJson(R"({"phase_artifacts":{"coding":{"workspace":{"files":[
      {"path":"a.c","content":"old"},{"path":"b.c","content":"kept"}]}}}})")
                             .value();
  const auto changed =
      WithFiles(artifacts, JsonArray{JsonObject{{"path", "a.c"}, {"content", "new"}}});
  ASSERT_TRUE(changed);
  EXPECT_THAT(ToJson(*changed), HasSubstr(R"({"path":"a.c","content":"new"})"));
  EXPECT_THAT(ToJson(*changed), HasSubstr(R"({"path":"b.c","content":"kept"})"));
  EXPECT_THAT(WithFiles(artifacts, JsonArray{JsonObject{{"path", "../c"}, {"content", ""}}}),
              FailsWith(ErrorCode::kInvalidArgument, "../c is no file of the program"));
  EXPECT_THAT(WithFiles(artifacts, JsonArray{JsonObject{{"path", "a.c"}}}),
              FailsWith(ErrorCode::kInvalidArgument, "needs `path` and `content`"));
}

TEST(MemoryOptionsTest, LimitsAndBudgetsOfCallSites) {  // 5.3
  const auto options = ReadMemoryOptions({{"core_max_chars", 500},
                                          {"memory_budget_chars", 9000},
                                          {"draft_budget_chars", 700},
                                          {"use_fts", "off"},
                                          {"durability", "full"},
                                          {"redact_secrets", false}});
  ASSERT_TRUE(options) << options.error().message;
  const driver::MemoryConfig& store = options->store;
  EXPECT_EQ(store.limits.core_max_chars, 500);
  EXPECT_EQ(store.limits.memory_budget_chars, 9000);
  EXPECT_EQ(store.limits.recall_max_events, 20);
  EXPECT_EQ(options->budget_chars.size(), 1u);
  EXPECT_EQ(options->budget_chars.at("draft"), 700);
  EXPECT_EQ(store.redaction, memory::Redaction::kOff);
  EXPECT_EQ(store.use_fts, memory::UseFts::kOff);
  EXPECT_EQ(store.durability, memory::WriteDurability::kFull);
}

}  // namespace
}  // namespace dossier::research
