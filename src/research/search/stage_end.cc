#include "research/search/stage_end.h"

#include <utility>

#include "research/files/artifacts.h"
#include "research/files/run_folder.h"
#include "research/search/seeds.h"
#include "research/search/steering.h"
#include "research/search/summaries.h"
#include "research/search/tree_page.h"

namespace dossier::research {
namespace {

// A failed stage ends again when a retry added rounds to it.
std::string EndKey(const SubstageEnd& end) {
  return fmt::format("{}/{}", end.view.name, end.view.round);
}

Status KeepEnd(const Driver& driver, const SubstageEnd& end, const StageResults& stage) {
  const NodeCount count = CountNodes(stage.tree);
  return driver.log().Add("stage.ended", EndKey(end),
                          {{"stage", stage.name},
                           {"number", stage.stage},
                           {"best", stage.best_node},
                           {"over", end.seeds == SeedRuns::kYes},
                           {"nodes", count.done},
                           {"good", count.good},
                           {"notes", stage.notes},
                           {"seed_statistics", stage.seed_statistics}});
}

Status KeepTexts(const Driver& driver, const StageTexts& texts, StageResults* stage) {
  stage->notes = texts.summary;
  if (!texts.notes.empty()) {
    if (!stage->notes.empty()) stage->notes += "\n\n";
    stage->notes += texts.notes;
  }
  const std::string folder = run_files::StageLogs(stage->name) + "/notes/";
  if (!texts.summary.empty()) {
    DOSSIER_RETURN_IF_ERROR(
        WriteArtefact(driver.services, folder + "journal_summary.md", texts.summary + "\n"));
  }
  if (texts.notes.empty()) return {};
  return WriteArtefact(driver.services, folder + "stage_notes.md", texts.notes + "\n");
}

// Writes the program of the best node, as files.
Status WriteBest(const Driver& driver, const StageResults& stage, const Node& best) {
  const std::string folder = run_files::StageBest(stage.name);
  DOSSIER_RETURN_IF_ERROR(
      WriteArtefact(driver.services, folder + "/node.json", ToPrettyJson(NodeJson(best)) + "\n"));
  for (const ArtifactFile& file : SplitSources(best.code)) {
    DOSSIER_RETURN_IF_ERROR(
        WriteArtefact(driver.services, folder + "/code/" + file.path, file.content));
  }
  return {};
}

}  // namespace

Status WriteStageFiles(const Driver& driver, const StageResults& stage) {
  const std::string folder = run_files::StageLogs(stage.name);
  JsonArray nodes;
  for (const Node& node : stage.tree.nodes) {
    nodes.push_back(NodeJson(node));
    // Its file was written before it had children, so it is rewritten.
    DOSSIER_RETURN_IF_ERROR(WriteArtefact(driver.services, run_files::NodeJson(node.id),
                                          ToPrettyJson(nodes.back()) + "\n",
                                          Durability::kSurvivesCrash));
  }
  const JsonObject journal{
      {"stage", stage.name}, {"best_node", stage.best_node}, {"nodes", std::move(nodes)}};
  DOSSIER_RETURN_IF_ERROR(
      WriteArtefact(driver.services, folder + "/journal.json", ToPrettyJson(journal) + "\n"));
  const Node* best = stage.tree.Find(stage.best_node);
  if (!best) return {};
  DOSSIER_RETURN_IF_ERROR(
      WriteArtefact(driver.services, folder + "/best_node_id.txt", best->id + "\n"));
  return WriteBest(driver, stage, *best);
}

Status EndSubstage(const Driver& driver, const SubstageEnd& end, RunResults* results,
                   const CancelToken& cancel) {
  StageResults& stage = results->stages.back();
  stage.rounds = end.view.round;
  DOSSIER_ASSIGN_OR_RETURN(stage.best_node, ChooseBest(driver, end.view, cancel));
  KeepBest(results, driver.config().primary_metric);
  if (const Node* node = results->Best()) results->memory_branch = node->branch_id;
  if (end.seeds == SeedRuns::kYes) {
    const SeedOrder order{
        .stage = stage.stage, .name = stage.name, .round = end.view.round, .best = stage.best_node};
    DOSSIER_ASSIGN_OR_RETURN(stage.seed_statistics, RunSeeds(driver, order, &stage.tree, cancel));
    // The question for the reruns' program was counted for the best node, after its end.
    for (Node& node : stage.tree.nodes) node.usage = driver.log().UsageOf(node.id);
  }
  // Also for a stage that has ended, because the report's prompt uses the names.
  SteerNodes(driver.steering->First(end.steered), results);
  // A stage that has ended has its files: a resume reads the rest from the journal.
  DOSSIER_ASSIGN_OR_RETURN(const auto ended, driver.log().Recorded("stage.ended", EndKey(end)));
  if (ended) {
    stage.notes = TextAt(Json(ended->data), "notes");
    return {};
  }
  StageView view = end.view;
  view.best = stage.tree.Find(stage.best_node);
  DOSSIER_ASSIGN_OR_RETURN(const StageTexts texts, AskStageTexts(driver, view, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepTexts(driver, texts, &stage));
  DOSSIER_RETURN_IF_ERROR(WriteStageFiles(driver, stage));
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const Json summary,
                           SummarizeStage(driver.services, *results, stage, cancel));
  DOSSIER_RETURN_IF_ERROR(WriteStagePages(driver.services.run_folder, results->title, stage));
  return KeepEnd(driver, end, stage);
}

}  // namespace dossier::research
