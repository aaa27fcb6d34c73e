#include "research/search/tree_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/run/run_history.h"
#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t CountOf(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

PageStage StageOf(const StageResults& stage) {
  PageStage page{.name = stage.name, .best_node = stage.best_node};
  for (const Node& node : stage.tree.nodes) page.nodes.push_back({.node = &node});
  return page;
}

TEST(TreePageTest, NodesStandUnderTheirParentsWithMetricStateAndCost) {  // 5.1
  StageResults stage = TwoNodes();
  stage.tree.nodes[0].usage = {.calls = 2,
                               .total = {.input = 1500, .cost_nano_usd = 1'500'000'000}};
  const std::string html = TreePage("Sorting", {StageOf(stage)});
  EXPECT_THAT(html, HasSubstr("<a class=\"node best onpath\" href=\"#n0\" data-text="));
  EXPECT_THAT(html, HasSubstr("<a class=\"node buggy\" href=\"#n1\" data-parent=\"n0\""));
  EXPECT_THAT(html, HasSubstr(">3.12 speedup↑</text>"));
  EXPECT_THAT(html, HasSubstr("<dt>Cost</dt><dd>$1.5000</dd>"));
  EXPECT_THAT(html, HasSubstr("nodes: 2 done, 1 good, 1 buggy, 0 running; stages: 1; calls: 2, "
                              "tokens in: 1,500"));
  EXPECT_THAT(html, HasSubstr("<body data-first=\"n0\">"));
}

TEST(TreePageTest, NodesHaveShortNamesAndNoIdIsInTheDrawing) {  // FLT-75
  RunResults results{.stages = {TwoNodes(), TwoNodes(2)}};
  Node& copy = results.stages[1].tree.nodes[0];
  copy.id = std::string(32, 'c');
  copy.kind = NodeKind::kCopy;
  copy.inherited_from_node_id = results.stages[0].tree.nodes[0].id;
  results.stages[1].tree.nodes[1].id = std::string(32, 'd');
  SteerNodes({}, &results);
  const std::string html = TreePage("x", {StageOf(results.stages[0]), StageOf(results.stages[1])});
  const std::string drawn =
      html.substr(html.find("<svg"), html.find("<article") - html.find("<svg"));
  for (const std::string_view name : {"draft 1", "debug 1", "debug 2"}) {
    EXPECT_THAT(drawn, HasSubstr(fmt::format("</tspan> {}</text>", name)));
  }
  EXPECT_THAT(drawn, Not(HasSubstr(">aaaa")));
  EXPECT_THAT(drawn, Not(HasSubstr("draft 2")));  // the copy has its original's name
}

TEST(TreePageTest, EachMetricIsPlottedOverTheNodesWithTheBestSoFar) {  // FLT-75
  StageResults stage = TwoNodes();
  for (const double value : {1e-9, 5.0, 2.0}) {
    Node node = stage.tree.nodes[0];
    node.id = fmt::format("{:e<32}", value);
    node.children.clear();
    node.metric->front().values[0].value = value;
    stage.tree.nodes.push_back(node);
  }
  const std::string html = TreePage("x", {StageOf(stage)});
  EXPECT_EQ(CountOf(html, "<figure class=\"plot\">"), 1U);
  EXPECT_THAT(html, HasSubstr("<figcaption>speedup↑, logarithmic</figcaption>"));
  EXPECT_EQ(CountOf(html, "<a class=\"point "), 4U);
  EXPECT_THAT(html, HasSubstr(">1e-09</text>"));  // the smallest is not 0.0000
  const std::size_t path = html.find("class=\"sofar\"");
  ASSERT_NE(path, std::string::npos);
  // From 3.12 up to 5, and not down to 2.
  EXPECT_EQ(CountOf(html.substr(path, html.find("/>", path) - path), "V"), 1U);
}

TEST(TreePageTest, WhatPeopleWantIsShown) {  // FLT-73
  StageResults stage = TwoNodes();
  stage.tree.nodes[0].steer = Steer::kPinned;
  stage.tree.nodes[0].hint = "use <blocks>";
  stage.tree.nodes[1].steer = Steer::kPruned;
  const std::string html = TreePage("x", {StageOf(stage)});
  EXPECT_THAT(html, HasSubstr("<dt>Steered</dt><dd>pinned</dd><dt>Hint</dt><dd>use &lt;blocks"));
  EXPECT_THAT(html, HasSubstr("<a class=\"node buggy pruned\""));
}

TEST(TreePageTest, TextIsEscapedAndNothingIsLoaded) {  // 5.1
  constexpr std::string_view kEvil = "</script><script>alert(1)</script>\" onload='x' &";
  StageResults stage = TwoNodes();
  Node& node = stage.tree.nodes[0];
  node.plan = node.code = node.analysis = node.term_out = node.id = kEvil;
  node.metric->front().name = kEvil;
  PageStage page = StageOf(stage);
  page.name = kEvil;
  page.nodes[0].prompts = {
      {.name = std::string(kEvil), .sections = {{std::string(kEvil), std::string(kEvil)}}}};
  page.nodes[0].images = {{.name = std::string(kEvil), .png = TinyPng()}};
  const std::string html = TreePage(kEvil, {page});
  EXPECT_EQ(CountOf(html, "<script"), 2U);
  EXPECT_EQ(CountOf(html, "</script>"), 2U);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_EQ(CountOf(html, "src=\""), CountOf(html, "src=\"data:image/png;base64,"));
  for (const std::string_view part : {"http://", "https://", "url(", "@import"}) {
    EXPECT_THAT(html, Not(HasSubstr(std::string(part))));
  }
}

TEST(TreePageTest, ATextOfManyPromptsIsInThePageOnce) {
  const StageResults stage = TwoNodes();
  PageStage page = StageOf(stage);
  const std::string idea = "The idea of this run, which every prompt begins with.";
  for (int i = 0; i < 50; ++i) {
    page.nodes[0].prompts.push_back(
        {.name = fmt::format("{:04}_draft", i), .sections = {{"Research idea", idea}}});
  }
  EXPECT_EQ(CountOf(TreePage("x", {page}), idea), 1U);
}

TEST(TreePageTest, ParentsInARingAndImagesThatDoNotDecodeDoNoHarm) {
  StageResults stage = TwoNodes();
  stage.tree.nodes[0].parent_id = stage.tree.nodes[1].id;
  stage.tree.nodes[1].parent_id = stage.tree.nodes[0].id;
  PageStage page = StageOf(stage);
  page.nodes[0].images = {{.name = "a.png", .png = "no"}};
  EXPECT_THAT(TreePage("x", {page}), HasSubstr("a.png (left out: it does not decode)"));
}

TEST(TreePageTest, PagesAreMadeFromTheFilesOfTheRun) {  // 5.1
  ResearchRig rig;
  memory::TestStore store;
  store.Set("compiler", "g++");
  rig.services.memory = &*store;
  rig.results.stages = {TwoNodes()};
  SteerNodes({}, &rig.results);
  const Node& node = rig.results.stages[0].tree.nodes[0];
  rig.Write(node.plots[0], TinyPng());
  const std::string logs = "logs/phase_logs/node_" + node.id + "/prompt_logs/";
  rig.Write(logs + "0001_draft_a1_r1_prompt.json",
            R"({"sections":[{"name":"Instructions","text":"Write it."}]})");
  rig.Write(logs + "0001_draft_a1_r1_response.txt", "Here it is.");
  rig.Write(logs + "draft_prompt.json", R"({"sections":[{"name":"x","text":"An alias."}]})");
  rig.Write("logs/prompt_logs/0002_writeup_a1_r1_prompt.json",
            R"({"sections":[{"name":"Instructions","text":"Write the paper."}]})");
  rig.Write("figures/speed.png", TinyPng());
  const std::string folder = rig.services.run_folder;
  ASSERT_THAT(WriteStagePages(folder, rig.results.title, rig.results.stages[0]), Succeeds());
  const RunHistory history{.folder = folder,
                           .results = rig.results,
                           .usage = {.calls = 3, .total = {.cost_nano_usd = 2'000'000'000}},
                           .memory_reads = {{"coding", 7}}};
  ASSERT_THAT(WriteRunPages(history, rig.services.memory), Succeeds());
  const std::string html = rig.Read("logs/unified_tree_viz.html");
  EXPECT_THAT(html, HasSubstr("0001_draft_a1_r1"));
  EXPECT_THAT(html, HasSubstr("Write it."));
  EXPECT_THAT(html, HasSubstr("Here it is."));
  EXPECT_THAT(html, Not(HasSubstr("An alias.")));
  EXPECT_THAT(html, HasSubstr("alt=\"loss.png\""));
  EXPECT_THAT(html, HasSubstr("<a href=\"#run\">calls of no node, $2.0000</a>"));
  EXPECT_THAT(html, HasSubstr("Write the paper."));
  EXPECT_THAT(html, HasSubstr("alt=\"speed.png\""));
  EXPECT_THAT(html, HasSubstr("<dt>Cost</dt><dd>$2.0000</dd>"));
  EXPECT_THAT(html, HasSubstr("calls: 3,"));
  EXPECT_THAT(html, HasSubstr("<title>Sorting &amp; &lt;speed&gt;</title>"));
  EXPECT_THAT(rig.Read("logs/stage_1_initial/tree_plot.html"), HasSubstr("1_initial"));
  EXPECT_EQ(Find(rig.ReadJson("logs/stage_1_initial/tree_data.json"), "nodes")->as_array().size(),
            2U);
  const std::string memory = rig.Read("logs/memory_database.html");
  EXPECT_THAT(memory, HasSubstr("compiler"));
  EXPECT_THAT(memory, HasSubstr("<td>coding<td class=\"number\">7"));  // FLT-75
  EXPECT_THAT(memory, HasSubstr("<tr><td>draft 1<td"));
}

}  // namespace
}  // namespace dossier::research
