#include "research/search/stage_end.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "research/files/artifacts.h"
#include "research/files/run_folder.h"
#include "research/node/node_work.h"
#include "research/node/plots.h"
#include "research/search/round.h"
#include "research/search/slots.h"
#include "research/search/steering.h"
#include "research/search/summaries.h"
#include "research/search/tree_page.h"
#include "research/tree/metric.h"

namespace dossier::research {
// Reruns of the best program with other seeds.

namespace {

constexpr std::string_view kSeedVariable = "DOSSIER_SEED";

// Returns the file list of artefacts (5.2); null if it is missing.
JsonArray* FilesOf(Json& artifacts) {
  Json* at = &artifacts;
  for (const std::string_view key : {"phase_artifacts", "coding", "workspace", "files"}) {
    auto* object = at->if_object();
    at = object ? object->if_contains(key) : nullptr;
    if (!at) return nullptr;
  }
  return at->if_array();
}

std::string ProgramLanguage(const Json& artifacts) {
  const Json* at = &artifacts;
  for (const std::string_view key : {"phase_artifacts", "compile", "build_plan"}) {
    at = Find(*at, key);
    if (!at) return "";
  }
  return TextAt(*at, "language");
}

// The node that represents all reruns comes after them.
Node SeedNode(const Driver& driver, const SeedOrder& order, const Node& best, int slot) {
  Node node{.id = NodeId(driver.node_key, order.name, order.round, slot),
            .parent_id = best.id,
            .stage = order.name,
            .kind = NodeKind::kSeed,
            .plan = best.plan,
            .code = best.code,
            .is_seed_node = true};
  node.workspace_path = run_files::Workspace(node.id);
  return node;
}

// Returns the program with its seed read from the environment, if the model managed that.
Result<Json> SeededArtifacts(const Driver& driver, const SeedOrder& order, const Node& best,
                             const CancelToken& cancel) {
  Json artifacts = best.phase_artifacts;
  const JsonArray* files = FilesOf(artifacts);
  if (!files) return artifacts;
  CallRequest request{.site = "seed_injection",
                      .scope = ScopeOf(best, "seed_injection"),
                      .alias = fmt::format("stage{}_seed_injection_prompt", order.stage),
                      .prefix = CallPrefix(driver),
                      .sections = {{"language", Json(ProgramLanguage(artifacts))},
                                   {"default_seed", Json(0)},
                                   {"files", Json(*files)}},
                      .check = [&](std::string_view payload) -> Status {
                        DOSSIER_ASSIGN_OR_RETURN(const Json reply, ParseJson(payload));
                        const Json* changed = Find(reply, "files");
                        if (!changed) {
                          return MakeError(ErrorCode::kInvalidArgument, "`files` is missing");
                        }
                        DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const Json whole,
                                                 WithFiles(best.phase_artifacts, *changed));
                        return {};
                      }};
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, best.id, outcome.warnings));
  if (outcome.failure) {
    DOSSIER_RETURN_IF_ERROR(
        KeepWarning(driver, best.id,
                    fmt::format("the code of the reruns is not changed, {} alone is set: {}",
                                kSeedVariable, FailureText(*outcome.failure))));
    return artifacts;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json reply, ParseJson(outcome.payload));
  return WithFiles(std::move(artifacts), *Find(reply, "files"));
}

Status Rerun(const Driver& driver, const Node& best, const Json& artifacts, int slot, Node* node,
             const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Node> recorded, RecordedNode(driver, node->id));
  if (recorded) {
    *node = *std::move(recorded);
    return {};
  }
  const std::string worker = fmt::format("worker-{}", slot);
  const NodeWork work{.node_id = node->id,
                      .worker = worker,
                      .scope = ScopeOf(*node, PhaseName(Phase::kRun)),
                      .prefix = driver.prefix,
                      .workspace = WorkspaceOf(driver, node->id),
                      .environment = {fmt::format("{}={}", kSeedVariable, *node->seed_value)},
                      .base_workspace = best.workspace_path.empty() ? std::string()
                                                                    : driver.services.run_folder +
                                                                          "/" + best.workspace_path,
                      .base_image = best.worker_image};
  DOSSIER_ASSIGN_OR_RETURN(PhasesOutcome outcome,
                           RerunArtifacts(driver.services, work, artifacts, cancel));
  node->phase_artifacts = artifacts;
  if (!outcome.code.empty()) node->code = std::move(outcome.code);
  node->term_out = std::move(outcome.term_out);
  node->exc_type = std::move(outcome.exc_type);
  node->exc_info = std::move(outcome.exc_info);
  node->exec_time = outcome.exec_time;
  node->is_buggy = !node->exc_type.empty();
  if (!node->is_buggy) {
    DOSSIER_RETURN_IF_ERROR(MeasureInto(driver, worker, node, cancel));
  }
  return KeepNode(driver, node);
}

// Adds one node for all reruns: their statistics and their plot.
Status AddAggregate(const Driver& driver, const Node& best, const Json& statistics,
                    const std::vector<const Node*>& good, int slot, Node* node,
                    const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Node> recorded, RecordedNode(driver, node->id));
  if (recorded) {
    *node = *std::move(recorded);
    return {};
  }
  node->is_seed_agg_node = true;
  node->summary = JsonObject{{"seed_statistics", statistics}};
  node->is_buggy = good.empty();
  const bool has_data = std::any_of(good.begin(), good.end(), [&](const Node* run) {
    return !DataFiles(driver.services, *run).empty();
  });
  if (has_data && !Skips(*driver.order, RunOrder::Skip::kPlots)) {
    const SeedPlotWork work{.best = &best,
                            .reruns = good,
                            .node_id = node->id,
                            .worker = fmt::format("worker-{}", slot),
                            .scope = ScopeOf(*node, "seed_plot"),
                            .prefix = CallPrefix(driver)};
    DOSSIER_ASSIGN_OR_RETURN(const PlotOutcome outcome,
                             MakeSeedPlot(driver.services, work, cancel));
    KeepPlots(outcome, node);
    node->is_buggy_plots = false;  // a rerun without a figure is still a result
    DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, node->id, outcome.warnings));
  }
  return KeepNode(driver, node);
}

}  // namespace

Result<Json> WithFiles(Json artifacts, const Json& files) {
  JsonArray* own = FilesOf(artifacts);
  const JsonArray* changed = files.if_array();
  if (!own || !changed) return MakeError(ErrorCode::kInvalidArgument, "`files` is no list");
  for (const Json& file : *changed) {
    const auto path = FindString(file, "path");
    const auto content = FindString(file, "content");
    if (!path || !content) {
      return MakeError(ErrorCode::kInvalidArgument, "each file needs `path` and `content`");
    }
    bool known = false;
    for (Json& one : *own) {
      if (FindString(one, "path") != path) continue;
      one.as_object()["content"] = *content;
      known = true;
    }
    if (!known) {
      return MakeError(ErrorCode::kInvalidArgument, "{} is no file of the program", *path);
    }
  }
  return artifacts;
}

Result<Json> RunSeeds(const Driver& driver, const SeedOrder& order, Tree* tree,
                      const CancelToken& cancel) {
  const Node* found = tree->Find(order.best);
  const int count = driver.config().num_seeds;
  if (!found || found->phase_artifacts.is_null() || count <= 0) return Json();
  const Node best = *found;
  DOSSIER_ASSIGN_OR_RETURN(const Json artifacts, SeededArtifacts(driver, order, best, cancel));
  std::vector<Node> runs;
  for (int seed = 0; seed <= count; ++seed) {  // the last one represents the others
    Node node = SeedNode(driver, order, best, seed);
    node.step = static_cast<std::int64_t>(tree->nodes.size()) + seed;
    if (seed < count) node.seed_value = seed;
    DOSSIER_ASSIGN_OR_RETURN(node.branch_id,
                             ForkBranch(driver, best.branch_id, node, order.round, seed));
    DOSSIER_RETURN_IF_ERROR(CreateNode(driver, &node));
    runs.push_back(std::move(node));
  }
  DOSSIER_RETURN_IF_ERROR(RunSlots(
      {.count = static_cast<std::size_t>(count), .parallel = driver.config().parallel()},
      [&](std::size_t slot, const CancelToken& token) {
        return Rerun(driver, best, artifacts, static_cast<int>(slot), &runs[slot], token);
      },
      cancel));
  std::vector<Metric> metrics;
  std::vector<const Node*> good;
  for (const Node& run : runs) {
    if (!run.seed_value || run.is_buggy || !run.metric) continue;
    metrics.push_back(*run.metric);
    good.push_back(&run);
  }
  const Json statistics(SeedStatisticsJson(SeedStatistics(metrics)));
  DOSSIER_RETURN_IF_ERROR(
      AddAggregate(driver, best, statistics, good, count, &runs.back(), cancel));
  for (Node& run : runs) DOSSIER_RETURN_IF_ERROR(EnterNode(driver, std::move(run), tree));
  return statistics;
}

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
