#include "research/search/stage_questions.h"

#include <array>
#include <utility>

#include "research/node/node_request.h"
#include "research/node/results.h"
#include "research/node/select.h"

namespace dossier::research {
namespace {

constexpr std::string_view kNoMetric = "N/A";

std::string MetricOf(const Node& node) {
  return node.metric ? MetricText(*node.metric) : std::string(kNoMetric);
}

// Makes a question of the run about a stage. Its journal key is the stage and the round.
CallRequest Question(const Driver& driver, const StageView& view, std::string_view site) {
  return {.site = std::string(site),
          .scope = {.branch = view.best ? view.best->branch_id : std::string(),
                    .stage = view.name,
                    .phase = std::string(site)},
          .label = fmt::format("{}_{}_r{}", site, view.name, view.round),
          .prefix = CallPrefix(driver),
          .memory_query = driver.query};
}

// Returns the payload; none if the call failed, with a warning that says what is done instead.
Result<std::optional<std::string>> AskRun(const Driver& driver, const CallRequest& request,
                                          std::string_view otherwise, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, "run", outcome.warnings));
  if (!outcome.failure) return std::optional(std::move(outcome.payload));
  DOSSIER_RETURN_IF_ERROR(
      KeepWarning(driver, "run",
                  fmt::format("{} of {}: {}; {}", request.site, request.scope.stage,
                              FailureText(*outcome.failure), otherwise)));
  return std::optional<std::string>();
}

// As AskRun, for JSON replies; null: none.
Result<Json> AskRunJson(const Driver& driver, const CallRequest& request,
                        std::string_view otherwise, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<std::string> payload,
                           AskRun(driver, request, otherwise, cancel));
  if (!payload) return Json();
  return ParseJson(*payload);
}

// Returns the tested data sets, or for stage 4 the removed components.
JsonArray Tested(const StageView& view) {
  JsonArray list;
  for (const Node& node : view.tree->nodes) {
    if (view.stage == 4 && !node.ablation_name.empty()) {
      list.push_back(Json(node.ablation_name + ": " + MetricOf(node)));
    } else if (view.stage != 4 && view.best == &node) {
      for (const std::string& name : node.datasets_successfully_tested) list.push_back(Json(name));
    }
  }
  return list;
}

JsonArray Issues(const StageView& view) {
  JsonArray list;
  for (const Node& node : view.tree->nodes) {
    if (!IsGood(node)) {
      list.push_back(
          Json(node.exc_type.empty() ? node.analysis : node.exc_type + ": " + node.exc_info));
    }
  }
  return list;
}

JsonObject Progress(const StageView& view) {
  const NodeCount count = CountNodes(*view.tree);
  return {{"rounds", view.round}, {"nodes", count.done}, {"good", count.good}};
}

void AddStanding(const StageView& view, CallRequest* request) {
  request->sections = {{"main_goal", Json(MainGoals(view.stage))},
                       {"metrics", Json(view.best ? MetricOf(*view.best) : std::string(kNoMetric))},
                       {"issues", Json(Issues(view))},
                       {"progress", Json(Progress(view))}};
}

JsonObject Candidate(const Node& node) {
  return {{"id", node.id},
          {"metric", "Metric: " + MetricOf(node)},
          {"analysis", node.analysis},
          {"vlm_summary", node.vlm_feedback_summary}};
}

enum class Ended : std::uint8_t { kWell, kBadly };

JsonArray Experiments(const Tree& tree, Ended ended) {
  const bool good = ended == Ended::kWell;
  JsonArray list;
  for (const Node& node : tree.nodes) {
    if (IsGood(node) != good || node.is_seed_node || node.kind == NodeKind::kCopy) continue;
    JsonObject one{{"id", node.id}, {"plan", node.plan}, {"analysis", node.analysis}};
    if (good) one["metric"] = MetricOf(node);
    if (!good) one["error"] = node.exc_type + ": " + node.exc_info;
    list.push_back(std::move(one));
  }
  return list;
}

JsonArray NodeSummaries(const Tree& tree) {
  JsonArray list;
  for (const Node& node : tree.nodes) {
    if (!node.summary.is_null() && !node.is_seed_node && node.kind != NodeKind::kCopy) {
      list.push_back(JsonObject{{"id", node.id}, {"summary", node.summary}});
    }
  }
  return list;
}

}  // namespace

std::string_view MainGoals(int stage) {
  constexpr std::array<std::string_view, 4> kGoals = {
      "A first program that runs, is correct, and measures what the idea asks for.",
      "Tune the parameters of the program for a better metric, without a change of its idea; show "
      "that the result holds on the data sets of the idea.",
      "Find new ways to a better metric: other algorithms, data structures and experiments that "
      "the idea allows.",
      "Take parts of the best program away, one at a time, and measure what each of them brings."};
  return kGoals[static_cast<std::size_t>(stage - 1)];
}

Result<StageCompletion> AskCompletion(const Driver& driver, const StageView& view,
                                      const CancelToken& cancel) {
  CallRequest request = Question(driver, view, "stage_completion");
  request.sections = {
      {"goals", Json(view.goals)},
      {"metrics", Json(view.best ? MetricOf(*view.best) : std::string(kNoMetric))},
      {"vlm_summary", Json(view.best ? view.best->vlm_feedback_summary : std::string())},
      {view.stage == 4 ? "ablations" : "datasets", Json(Tested(view))}};
  DOSSIER_ASSIGN_OR_RETURN(const Json reply,
                           AskRunJson(driver, request, "taken as not complete", cancel));
  StageCompletion answer{.reasoning = TextAt(reply, "reasoning")};
  if (FindBool(reply, "is_complete").value_or(false))
    answer.state = StageCompletion::State::kComplete;
  return answer;
}

Result<Progression> AskProgression(const Driver& driver, const StageView& view,
                                   const CancelToken& cancel) {
  CallRequest request = Question(driver, view, "stage_progression");
  AddStanding(view, &request);
  DOSSIER_ASSIGN_OR_RETURN(const Json reply,
                           AskRunJson(driver, request, "the stage goes on", cancel));
  return FindBool(reply, "ready_for_next_stage").value_or(false) ? Progression::kNextStage
                                                                 : Progression::kSubstage;
}

Result<SubstageGoal> AskSubstageGoal(const Driver& driver, const StageView& view,
                                     const CancelToken& cancel) {
  CallRequest request = Question(driver, view, "substage_goal");
  AddStanding(view, &request);
  DOSSIER_ASSIGN_OR_RETURN(const Json reply,
                           AskRunJson(driver, request, "the main goals stay", cancel));
  SubstageGoal goal{.goals = std::string(MainGoals(view.stage))};
  if (reply.is_null()) return goal;
  if (const std::string name = TextAt(reply, "name"); !name.empty()) goal.name = name;
  if (std::string goals = TextAt(reply, "goals"); !goals.empty()) goal.goals = std::move(goals);
  goal.max_iterations = FindInt(reply, "max_iterations");
  return goal;
}

Result<std::string> ChooseBest(const Driver& driver, const StageView& view,
                               const CancelToken& cancel) {
  const std::vector<const Node*> good = ByMetric(*view.tree, driver.config().primary_metric);
  if (good.empty()) return std::string();
  if (good.size() == 1) return good.front()->id;
  CallRequest request = Question(driver, view, "best_node");
  JsonArray candidates;
  for (const Node* node : good) candidates.push_back(Candidate(*node));
  request.sections = {{"candidates", Json(std::move(candidates))}};
  DOSSIER_ASSIGN_OR_RETURN(const Json reply,
                           AskRunJson(driver, request, "the best by metric is taken", cancel));
  const std::string chosen = TextAt(reply, "selected_id");
  for (const Node* node : good) {
    if (node->id == chosen) return chosen;
  }
  if (!chosen.empty()) {
    DOSSIER_RETURN_IF_ERROR(KeepWarning(
        driver, "run",
        fmt::format("best_node of {} named {}, which is no candidate; the best by metric is taken",
                    view.name, chosen)));
  }
  return good.front()->id;
}

Result<StageTexts> AskStageTexts(const Driver& driver, const StageView& view,
                                 const CancelToken& cancel) {
  CallRequest summary = Question(driver, view, "journal_summary");
  summary.sections = {{"successful", Json(Experiments(*view.tree, Ended::kWell))},
                      {"failed", Json(Experiments(*view.tree, Ended::kBadly))}};
  CallRequest notes = Question(driver, view, "stage_notes");
  notes.sections = {{"node_summaries", Json(NodeSummaries(*view.tree))},
                    {"best_node", view.best ? Json(Candidate(*view.best)) : Json("")}};
  StageTexts texts;
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<std::string> first,
                           AskRun(driver, summary, "there is no summary of the stage", cancel));
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<std::string> second,
                           AskRun(driver, notes, "there are no notes of the stage", cancel));
  texts.summary = first.value_or("");
  texts.notes = second.value_or("");
  return texts;
}

Result<std::string> AskMetrics(const Driver& driver, const CancelToken& cancel) {
  const CallRequest request{.site = "define_metrics",
                            .scope = {.phase = "define_metrics"},
                            .prefix = CallPrefix(driver),
                            .memory_query = driver.query};
  DOSSIER_ASSIGN_OR_RETURN(
      const std::optional<std::string> metrics,
      AskRun(driver, request, "drafts see the evaluation of the idea alone", cancel));
  return metrics.value_or("");
}

}  // namespace dossier::research
