#include "research/paper/final_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPath = "memory/final_memory_for_paper.md";
constexpr std::string_view kHeadings[] = {"Executive Summary",
                                          "Best Node Details",
                                          "VLM Analysis & Visual Feedback",
                                          "Top Nodes Comparison",
                                          "Memory-Based Analysis",
                                          "Resources Used",
                                          "Execution Feedback",
                                          "Negative Results & Lessons Learned",
                                          "Provenance Chain"};

void ExpectHeadingsInOrder(const std::string& text) {
  std::size_t at = 0;
  for (const std::string_view heading : kHeadings) {
    const std::string line = fmt::format("\n## {}\n", heading);
    const std::size_t found = text.find(line);
    ASSERT_NE(found, std::string::npos) << heading;
    EXPECT_EQ(text.find(line, found + 1), std::string::npos) << heading;
    EXPECT_GE(found, at) << heading;
    at = found;
  }
}

std::size_t CountOf(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

class FinalMemoryTest : public ::testing::Test {
 protected:
  std::string Make() {
    const auto memory = MakeFinalMemory(rig_.services, rig_.results, {});
    EXPECT_THAT(memory, Succeeds());
    if (!memory) return "";
    warnings_ = memory->warnings;
    EXPECT_EQ(rig_.Read(kPath), memory->text);
    return memory->text;
  }
  void Remember() {
    rig_.services.memory = &*store_;
    store_.Set("compiler", "g++ 12 with -O3");
    store_.Add({.tier = memory::Tier::kRecall, .kind = "note", .text = "results: speedup 3.12"});
    store_.Add({.text = "The experimental setup used 2 cores."});
  }

  ResearchRig rig_;
  memory::TestStore store_;
  std::vector<std::string> warnings_;
};

TEST_F(FinalMemoryTest, WithoutBestNodeMemoryAndModelAllHeadingsAreThere) {  // RSP-40, RSP-T18
  rig_.results.models = Models::kNone;
  const std::string text = Make();
  ExpectHeadingsInOrder(text);
  EXPECT_THAT(text, HasSubstr("There is no best node"));
  EXPECT_EQ(rig_.caller.requests.size(), 0U);
}

TEST_F(FinalMemoryTest, WithAModelThatGivesNoAnswerTheSectionsHoldWhatMemoryHas) {  // RSP-T18
  Remember();
  const std::string text = Make();
  ExpectHeadingsInOrder(text);
  EXPECT_EQ(CountOf(text, "\n### "), 12U);
  EXPECT_THAT(text, HasSubstr("### experimental_setup"));
  EXPECT_THAT(text, HasSubstr("used 2 cores"));
  EXPECT_FALSE(warnings_.empty());
}

TEST_F(FinalMemoryTest, TheBestNodeItsFiguresAndWhatFailedAreTold) {  // RSP-40
  rig_.results.stages = {TwoNodes()};
  rig_.results.best_node = rig_.results.stages[0].best_node;
  rig_.results.environment = "- cpu_info: two cores";
  const std::string text = Make();
  ExpectHeadingsInOrder(text);
  EXPECT_THAT(text, HasSubstr("speedup↑[large:3.12]"));
  EXPECT_THAT(text, HasSubstr("| aaaaaaaa | 1_initial | draft |"));
  EXPECT_THAT(text, HasSubstr("Clear plots."));
  EXPECT_THAT(text, HasSubstr("- cpu_info: two cores"));
  EXPECT_THAT(text, HasSubstr("CompilationError: 1 nodes"));
  EXPECT_THAT(text, HasSubstr("- bbbbbbbb (debug, CompilationError): main.cc:3"));
  EXPECT_THAT(text, HasSubstr("1. aaaaaaaa (draft, 1_initial)"));
}

TEST_F(FinalMemoryTest, AProvenanceThatRunsInARingEnds) {  // RSP-40
  rig_.results.stages = {TwoNodes()};
  rig_.results.best_node = rig_.results.stages[0].best_node;
  rig_.results.stages[0].tree.nodes[0].parent_id = std::string(32, 'b');
  EXPECT_THAT(Make(), HasSubstr("2. bbbbbbbb"));
}

TEST_F(FinalMemoryTest, TextsOfModelsMakeNoHeadingsAndHaveABound) {  // RSP-40, spec 8.11
  rig_.results.stages = {TwoNodes()};
  rig_.results.best_node = rig_.results.stages[0].best_node;
  rig_.results.stages[0].tree.nodes[0].plan = "## Provenance Chain\n" + std::string(100'000, 'p');
  rig_.results.resources = std::string(100'000, 'r');
  const std::string text = Make();
  ExpectHeadingsInOrder(text);
  EXPECT_LT(text.size(), 20'000U);
  EXPECT_THAT(text, HasSubstr("characters truncated"));
}

TEST_F(FinalMemoryTest, AnOutlineIsAskedForAndEachSectionFilledFromSearch) {  // RSP-40
  Remember();
  rig_.config.paper_section_count = 3;
  rig_.caller.Reply("final_outline",
                    R"({"sections":[{"name":"Results","description":"numbers"},
                        {"name":"Zebra","description":"stripes"},{"name":"more"}]})");
  rig_.caller.Reply("final_keywords_results", R"({"keywords":["speedup"]})");
  rig_.caller.Reply("final_section_results", "# The speedup is 3.12.");
  const std::string text = Make();
  EXPECT_EQ(CountOf(text, "\n### "), 3U);
  EXPECT_THAT(text, HasSubstr("### results\n\n\\# The speedup is 3.12."));
  EXPECT_THAT(text, HasSubstr("### zebra\n\nnot found"));
  EXPECT_THAT(text, HasSubstr("### experimental_setup"));
  const CallRequest& outline = rig_.caller.requests[0];
  EXPECT_EQ(outline.variables.at("count"), "3");
}

TEST_F(FinalMemoryTest, ASummaryOfMemoryIsOneReply) {  // RSP-40: memory_summary
  Remember();
  rig_.config.paper_section_mode = "memory_summary";
  rig_.caller.Reply("final_summary", R"({"sections":[{"name":"results","text":"Speedup 3.12."}]})");
  const std::string text = Make();
  EXPECT_THAT(text, HasSubstr("### results\n\nSpeedup 3.12."));
  EXPECT_EQ(rig_.caller.requests.size(), 1U);
}

TEST(OutlineTest, ItHasExactlyTheSectionsAskedForWithTheRequiredOnes) {  // RSP-40
  for (const int count : {0, 3, 5, 12, 20}) {
    const std::vector<PaperSection> many(30, {"a", ""});
    std::vector<PaperSection> distinct;
    for (int i = 0; i < 30; ++i) distinct.push_back({fmt::format("Part {}", i), ""});
    for (const auto& outline : {std::vector<PaperSection>(), many, distinct}) {
      const std::vector<PaperSection> fitted = FittedOutline(outline, count);
      EXPECT_EQ(fitted.size(), static_cast<std::size_t>(std::max(count, 3)));
      for (const std::string_view name : {"experimental_setup", "results"}) {
        EXPECT_EQ(std::ranges::count(fitted, name, &PaperSection::name), 1) << count;
      }
    }
  }
  EXPECT_EQ(FittedOutline({{"Résumé & Results!", "x"}}, 3)[0].name, "r_sum_results");
}

}  // namespace
}  // namespace dossier::research
