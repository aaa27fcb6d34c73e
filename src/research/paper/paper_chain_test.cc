// The end of a run with the real caller: prompts fit their layouts, replies their forms.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/node/plots.h"
#include "research/paper/aggregation.h"
#include "research/paper/citations.h"
#include "research/paper/final_memory.h"
#include "research/paper/review.h"
#include "research/paper/writeup.h"
#include "research/run/run_history.h"
#include "research/search/summaries.h"
#include "research/search/tree_page.h"
#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"
#include "testing/scripted_model_for_test.h"
#include "testing/store_for_test.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kReview =
    R"(Thoughts.
```json
{"Summary":"S","Strengths":[],"Weaknesses":[],"Originality":2,"Quality":2,"Clarity":2,
"Significance":2,"Questions":[],"Limitations":[],"Ethical Concerns":false,"Soundness":2,
"Presentation":2,"Contribution":2,"Overall":4,"Confidence":3,"Decision":"Reject"}
```)";

std::string PaperText() {
  std::string tex = WrittenPaper();
  tex.insert(tex.find("\\section{Results}"),
             "\\begin{figure}\\includegraphics{speed.png}\\caption{Speed}\\label{f}\\end{figure}\n"
             "\\cite{hoare62}\n");
  return "```latex\n" + tex + "```";
}

// Chosen by label prefix; longer ones first.
std::string Answer(const ScriptedCall& call) {
  static const std::pair<std::string_view, std::string> kAnswers[] = {
      {"plotting_code", "One curve.\n```python\nprint(1)\n```"},
      {"vlm_analysis", R"({"plot_analyses":[{"analysis":"It rises."}],"valid_plots_received":true,)"
                       R"("vlm_feedback_summary":"Good."})"},
      {"datasets_tested", "REASONING: all\nSUCCESSFULLY_TESTED_DATASETS: large"},
      {"seed_plot", "All seeds.\n```python\nprint(2)\n```"},
      {"run_summary", R"({"Description":"Sorted."})"},
      {"final_outline", R"({"sections":[{"name":"results","description":"numbers"}]})"},
      {"final_keywords", R"({"keywords":["speedup"]})"},
      {"final_section", "The speedup is 3.12."},
      {"plot_aggregation_r", "I am done"},
      {"plot_aggregation", "```python\nprint(3)\n```"},
      {"citations_1", R"({"Query":"quicksort"})"},
      {"citations_2", R"({"Query":""})"},
      {"citation_choice", R"({"Selected":[0],"Description":"the method"})"},
      {"writeup_reflection", "I am done"},
      {"writeup", PaperText()},
      {"review", std::string(kReview)},
      {"meta_review", std::string(kReview)},
      {"figure_review",
       R"({"Img_description":"d","Img_review":"clear","Caption_review":"c","Figrefs_review":"f"})"},
  };
  for (const auto& [label, answer] : kAnswers) {
    if (call.label.starts_with(label)) return answer;
  }
  return "no answer for " + call.label;
}

class PaperChainTest : public ::testing::Test {
 protected:
  PaperChainTest() {
    model_.When("", Answer);
    store_.Set("finding", "the speedup is 3.12");
    CallerOptions options{.log = rig_.log.get(),
                          .memory = {.store = memory::SharedBy(&*store_)},
                          .ledger = &ledger_,
                          .open = model_.Open(),
                          .clock = SystemClock(),
                          .run_folder = rig_.folder()};
    auto caller = RoleCaller::Open(std::move(options));
    EXPECT_THAT(caller, Succeeds());
    caller_ = *std::move(caller);
    rig_.services.caller = caller_.get();
    rig_.services.memory = &*store_;
    rig_.config.review_ensemble = 2;
    rig_.config.citation_bibtex = rig_.folder() + "/mine.bib";
    rig_.Write("mine.bib", "@article{hoare62, title={Quicksort}, author={C. Hoare}, year=1962}");
    rig_.script->On("command -v *");  // no LaTeX
    rig_.script->On("python3 plot.py").Writes("working/loss.png", TinyPng());
    rig_.script->On("python3 aggregate.py").Writes("figures/speed.png", TinyPng());
    rig_.results.prefix = {.idea = JsonObject{{"Title", "Sorting"}},
                           .environment = "- cpu_info: two cores"};
    rig_.results.stages = {TwoNodes()};
    rig_.results.best_node = rig_.results.stages[0].best_node;
  }

  ResearchRig rig_;
  memory::TestStore store_;
  ScriptedModel model_;
  model::Ledger ledger_{{}, SystemClock()};
  std::unique_ptr<RoleCaller> caller_;
};

TEST_F(PaperChainTest, FromANodeToAReviewedPaper) {  // RSP-38 to RSP-44
  Node& node = rig_.results.stages[0].tree.nodes[0];
  const auto plots = MakeNodePlots(rig_.services,
                                   {.node = &node,
                                    .worker = "worker-0",
                                    .scope = {.node = node.id, .stage = node.stage},
                                    .prefix = rig_.results.prefix,
                                    .workspace = rig_.folder() + "/" + node.workspace_path},
                                   {});
  ASSERT_THAT(plots, Succeeds());
  EXPECT_THAT(plots->warnings, IsEmpty());
  EXPECT_THAT(plots->datasets, ::testing::ElementsAre("large"));
  KeepPlots(*plots, &node);

  const auto summary = SummarizeStage(rig_.services, rig_.results, rig_.results.stages[0], {});
  ASSERT_THAT(summary, Succeeds());
  EXPECT_EQ(FindString(*Find(*summary, "text"), "Description"), "Sorted.");

  const auto memory = MakeFinalMemory(rig_.services, rig_.results, {});
  ASSERT_THAT(memory, Succeeds());
  EXPECT_THAT(memory->warnings, IsEmpty());
  EXPECT_THAT(memory->text, HasSubstr("### results\n\nThe speedup is 3.12."));

  const auto figures = AggregatePlots(rig_.services, rig_.results, {});
  ASSERT_THAT(figures, Succeeds());
  EXPECT_THAT(figures->warnings, IsEmpty());

  const auto citations = GatherCitations(rig_.services, rig_.results, {});
  ASSERT_THAT(citations, Succeeds());
  EXPECT_THAT(citations->warnings, IsEmpty());
  ASSERT_EQ(citations->entries.size(), 1U);

  const auto paper = MakePaper(rig_.services, rig_.results,
                               {.figures = figures->figures,
                                .aggregator = figures->script,
                                .final_memory = memory->text,
                                .citations = citations->entries},
                               {});
  ASSERT_THAT(paper, Succeeds());
  EXPECT_THAT(paper->warnings, IsEmpty());
  const auto written = model_.Calls("writeup");
  ASSERT_EQ(written.size(), 1U);
  for (const std::string_view part :
       {"speed.png", "hoare62", "The speedup is 3.12.", "print(3)", "\\maketitle", "8 pages"}) {
    EXPECT_THAT(written[0].prompt, HasSubstr(std::string(part)));
  }

  const auto reviewed = ReviewPaper(rig_.services, rig_.results, {});
  ASSERT_THAT(reviewed, Succeeds());
  EXPECT_THAT(reviewed->warnings, IsEmpty());
  ASSERT_TRUE(reviewed->review);
  EXPECT_EQ(FindInt(*reviewed->review, "Overall"), 4);
  EXPECT_EQ(reviewed->figures.size(), 1U);
  EXPECT_EQ(model_.Calls("meta_review").size(), 1U);

  const RunHistory history{.folder = rig_.services.run_folder, .results = rig_.results};
  ASSERT_THAT(WriteRunPages(history, nullptr), Succeeds());
  const std::string page = rig_.Read("logs/unified_tree_viz.html");
  for (const std::string_view label :
       {"plotting_code", "plot_aggregation", "citations", "writeup", "review", "meta_review"}) {
    EXPECT_THAT(page, HasSubstr(std::string(label)));
  }
}

}  // namespace
}  // namespace dossier::research
