#include "research/node/node_work.h"

#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/npy.h"
#include "research/files/phase_files.h"
#include "research/files/replies.h"
#include "research/files/run_folder.h"
#include "research/node/plots.h"
#include "research/node/workspace_command.h"
#include "research/tree/metric.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxMetricsFile = 4 << 20;  // bytes
constexpr std::string_view kScript = "parse_metrics.py";

// Measures one node: holds the script that a model writes, and its results.
class Measuring {
 public:
  Measuring(const Driver& driver, const MeasurePlace& place, const CancelToken& cancel)
      : driver_(driver), place_(place), cancel_(cancel) {}

  Result<MeasuredMetric> Run();

 private:
  CallRequest Request(std::string_view site, int attempt) const;
  Result<CallOutcome> Ask(const CallRequest& request);
  // Returns the script's output; empty, with last_error_ set, if there is none.
  Result<std::string> RunScript(int attempt, const Json& files);
  Result<std::optional<Metric>> Extract(int attempt, const std::string& output);

  const Driver& driver_;
  const MeasurePlace& place_;
  const CancelToken& cancel_;
  MeasuredMetric measured_;
  std::string last_error_, last_code_;
};

CallRequest Measuring::Request(std::string_view site, int attempt) const {
  return {.site = std::string(site),
          .scope = ScopeOf(*place_.node, site),
          .label = attempt == 1 ? std::string(site) : fmt::format("{}{}", site, attempt),
          .prefix = CallPrefix(driver_),
          .memory_query = driver_.query};
}

Result<CallOutcome> Measuring::Ask(const CallRequest& request) {
  DOSSIER_ASSIGN_OR_RETURN(CallOutcome outcome, driver_.caller().Call(request, cancel_));
  measured_.warnings.insert(measured_.warnings.end(), outcome.warnings.begin(),
                            outcome.warnings.end());
  if (outcome.failure) last_error_ = request.site + ": " + FailureText(*outcome.failure);
  return outcome;
}

Result<std::string> Measuring::RunScript(int attempt, const Json& files) {
  CallRequest request = Request("parse_metrics", attempt);
  request.sections = {{.name = "original_code", .value = Json(place_.node->code)},
                      {.name = "npy", .value = files},
                      {.name = "last_error", .value = Json(last_error_)},
                      {.name = "last_failing_code", .value = Json(last_code_)}};
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, Ask(request));
  if (outcome.failure) return std::string();
  const auto reply = ReadPython(outcome.payload);
  if (!reply) {
    last_error_ = reply.error().message;
    return std::string();
  }
  last_code_ = reply->script;
  DOSSIER_RETURN_IF_ERROR(WriteOwnFile(place_.workspace, kScript, reply->script));
  DOSSIER_ASSIGN_OR_RETURN(const ExecResult result,
                           RunInWorkspace(driver_.services,
                                          {.worker = place_.worker,
                                           .workspace = place_.workspace,
                                           .image = place_.node->worker_image},
                                          {.argv = {"python3", std::string(kScript)}}, cancel_));
  if (result.status == 0 && !result.out.empty()) return CutNodeOutput(result.out);
  last_error_ = fmt::format("status {}: {}", result.status,
                            CutTail(result.err.empty() ? result.out : result.err, kCommandSummary));
  return std::string();
}

Result<std::optional<Metric>> Measuring::Extract(int attempt, const std::string& output) {
  CallRequest request = Request("metrics_extraction", attempt);
  request.sections = {{.name = "execution_output", .value = Json(output)}};
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, Ask(request));
  if (outcome.failure) return std::optional<Metric>();
  DOSSIER_ASSIGN_OR_RETURN(const Json reply, ParseJson(outcome.payload));
  const Json* names = Find(reply, "metric_names");
  if (!FindBool(reply, "valid_metrics_received").value_or(false) || !names) {
    last_error_ = "the output of the script holds no valid metrics:\n" + output;
    return std::optional<Metric>();
  }
  Result<Metric> metric = ReadMetric(*names);
  if (metric && !metric->empty()) return std::optional(*std::move(metric));
  last_error_ = metric ? "no metric is named" : metric.error().message;
  return std::optional<Metric>();
}

Result<MeasuredMetric> Measuring::Run() {
  std::string fault = fmt::format("the program left neither {} nor a .npy file", kMetricsFile);
  const auto text = ReadWorkspaceFile(place_.workspace, std::string(kMetricsFile), kMaxMetricsFile);
  if (text) {
    Result<Metric> metric = ReadMetricFile(*text);
    if (metric && !metric->empty()) {
      measured_.metric = *std::move(metric);
      return std::move(measured_);
    }
    fault = fmt::format("{} is not read: {}", kMetricsFile,
                        metric ? "it names none" : metric.error().message);
    measured_.warnings.push_back(fault);
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json files, NpyList(place_.workspace));
  if (files.as_array().empty()) {
    measured_.failure = std::move(fault);
    return std::move(measured_);
  }
  for (int attempt = 1; attempt <= kMeasureTries && !measured_.metric; ++attempt) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string output, RunScript(attempt, files));
    if (output.empty()) continue;
    DOSSIER_ASSIGN_OR_RETURN(measured_.metric, Extract(attempt, output));
  }
  if (!measured_.metric) measured_.failure = last_error_;
  return std::move(measured_);
}

}  // namespace

Result<MeasuredMetric> Measure(const Driver& driver, const MeasurePlace& place,
                               const CancelToken& cancel) {
  return Measuring(driver, place, cancel).Run();
}

namespace {

// Returns the last phase of a node, given --until.
Phase LastPhase(const RunOrder& order) {
  if (order.until == Step::kPhase0) return Phase::kPlan;
  if (order.until == Step::kPhase1) return Phase::kInstall;
  return Phase::kRun;
}

// Makes a call of the stage that judges a node; the caller adds sections.
CallRequest Judging(const Driver& driver, const Node& node, std::string_view site) {
  return {.site = std::string(site),
          .scope = ScopeOf(node, site),
          .prefix = CallPrefix(driver),
          .memory_query = driver.query};
}

void Fails(std::string_view type, std::string info, Node* node) {
  node->is_buggy = true;
  if (!node->exc_type.empty()) return;
  node->exc_type = type;
  node->exc_info = std::move(info);
}

Status KeepPhases(const Driver& driver, PhasesOutcome outcome, Node* node) {
  node->phase0_plan = std::move(outcome.phase0_plan);
  node->phase_artifacts = std::move(outcome.artifacts);
  node->plan = std::move(outcome.plan);
  node->code = std::move(outcome.code);
  node->history = std::move(outcome.history);
  node->term_out = std::move(outcome.term_out);
  node->exc_type = std::move(outcome.exc_type);
  node->exc_info = std::move(outcome.exc_info);
  node->exec_time = outcome.exec_time;
  node->worker_image = std::move(outcome.worker_image);
  node->is_buggy = !node->exc_type.empty();
  if (!outcome.failure) return {};
  node->failure = FailureText(*outcome.failure);
  Fails("PhasePlanError", node->failure, node);
  return KeepWarning(driver, node->id, node->failure);
}

enum class Ran : std::uint8_t { kToItsEnd, kTimedOut };

// Without an answer the node counts as buggy.
Status Review(const Driver& driver, Ran ran, Node* node, const CancelToken& cancel) {
  CallRequest request = Judging(driver, *node, "execution_review");
  if (ran == Ran::kTimedOut) request.memory_round = CallRequest::MemoryRound::kNo;
  request.sections = {{"implementation", Json(node->code)},
                      {"execution_output", Json(ExecutionOutput(*node))}};
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, node->id, outcome.warnings));
  if (outcome.failure) {
    node->is_buggy = true;
    node->analysis = "no review: " + FailureText(*outcome.failure);
    return KeepWarning(driver, node->id, node->analysis);
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json reply, ParseJson(outcome.payload));
  node->analysis = TextAt(reply, "summary");
  if (FindBool(reply, "is_bug").value_or(true)) node->is_buggy = true;
  return {};
}

Status Draw(const Driver& driver, const NodeOrder& order, Node* node, const CancelToken& cancel) {
  if (Skips(*driver.order, RunOrder::Skip::kPlots)) return {};
  const PlotWork work{.node = node,
                      .worker = order.worker,
                      .scope = ScopeOf(*node, "plots"),
                      .prefix = CallPrefix(driver),
                      .workspace = WorkspaceOf(driver, node->id),
                      .base_plot_code = order.base_plot_code};
  DOSSIER_ASSIGN_OR_RETURN(const PlotOutcome outcome, MakeNodePlots(driver.services, work, cancel));
  KeepPlots(outcome, node);
  return KeepWarnings(driver, node->id, outcome.warnings);
}

Status SumUp(const Driver& driver, Node* node, const CancelToken& cancel) {
  CallRequest request = Judging(driver, *node, "node_summary");
  JsonArray analyses(node->plot_analyses.begin(), node->plot_analyses.end());
  request.sections = {
      {"implementation", Json(node->code)},
      {"plan", Json(node->plan)},
      {"execution_output", Json(ExecutionOutput(*node))},
      {"analysis", Json(node->analysis)},
      {"metric", Json(node->metric ? MetricText(*node->metric) : std::string("N/A"))},
      {"plot_analyses", Json(std::move(analyses))},
      {"vlm_summary", Json(node->vlm_feedback_summary)}};
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, node->id, outcome.warnings));
  if (outcome.failure) {
    return KeepWarning(driver, node->id, "no node summary: " + FailureText(*outcome.failure));
  }
  DOSSIER_ASSIGN_OR_RETURN(node->summary, ParseJson(outcome.payload));
  return {};
}

Result<PhasesOutcome> RunProgram(const Driver& driver, const NodeOrder& order,
                                 const CancelToken& cancel) {
  const Node& node = order.node;
  NodeWork work{.node_id = node.id,
                .worker = order.worker,
                .scope = ScopeOf(node, ""),
                .prefix = driver.prefix,
                .coding = CodingRequest(driver, order),
                .workspace = WorkspaceOf(driver, node.id),
                .last = LastPhase(*driver.order)};
  work.history = order.parent ? order.parent->history : driver.previous_history;
  return RunPhases(driver.services, work, cancel);
}

// Steps after the program ran; each adds to the node.
Status Judge(const Driver& driver, const NodeOrder& order, Ran ran, Node* node,
             const CancelToken& cancel) {
  if (!node->code.empty()) {
    DOSSIER_RETURN_IF_ERROR(Review(driver, ran, node, cancel));
  }
  if (!node->is_buggy) {
    DOSSIER_RETURN_IF_ERROR(MeasureInto(driver, order.worker, node, cancel));
  }
  if (!node->is_buggy) DOSSIER_RETURN_IF_ERROR(Draw(driver, order, node, cancel));
  if (node->code.empty()) return {};
  return SumUp(driver, node, cancel);
}

}  // namespace

Status MeasureInto(const Driver& driver, std::string_view worker, Node* node,
                   const CancelToken& cancel) {
  const MeasurePlace place{
      .node = node, .workspace = WorkspaceOf(driver, node->id), .worker = std::string(worker)};
  DOSSIER_ASSIGN_OR_RETURN(MeasuredMetric measured, Measure(driver, place, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, node->id, measured.warnings));
  node->metric = std::move(measured.metric);
  if (!node->metric) {
    Fails("RuntimeError", "no metric: " + measured.failure, node);
  } else if (const auto what = NotFinite(*node->metric)) {
    Fails("RuntimeError",
          fmt::format("the metric {} is not a finite number; a value that was not measured is left "
                      "out, not written as null, NaN or Infinity",
                      *what),
          node);
  }
  return {};
}

Status KeepNode(const Driver& driver, Node* node) {
  node->usage = driver.log().UsageOf(node->id);
  const JsonObject json = NodeJson(*node);
  DOSSIER_RETURN_IF_ERROR(WriteArtefact(driver.services, run_files::NodeJson(node->id),
                                        ToPrettyJson(json) + "\n", Durability::kSurvivesCrash));
  return driver.log().Add("node.finished", node->id, {{"node", json}});
}

Result<std::optional<Node>> RecordedNode(const Driver& driver, std::string_view id) {
  DOSSIER_ASSIGN_OR_RETURN(auto event, driver.log().Recorded("node.finished", id));
  if (!event) return std::optional<Node>();
  const auto json = event->data.find("node");
  if (json == event->data.end()) {
    return MakeError(ErrorCode::kDamaged, "journal: node.finished of {} has no node", id);
  }
  DOSSIER_ASSIGN_OR_RETURN(Node node, ReadNode(std::move(json->value())));
  node.usage = driver.log().UsageOf(node.id);  // includes calls made after its end
  return std::optional(std::move(node));
}

Result<NodeMade> MakeNode(const Driver& driver, const NodeOrder& order, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Node> recorded, RecordedNode(driver, order.node.id));
  if (recorded) return NodeMade{.node = *std::move(recorded)};
  NodeMade made{.node = order.node};
  Node& node = made.node;
  node.workspace_path = run_files::Workspace(node.id);
  DOSSIER_ASSIGN_OR_RETURN(PhasesOutcome outcome, RunProgram(driver, order, cancel));
  const Ran ran = outcome.timed_out ? Ran::kTimedOut : Ran::kToItsEnd;
  DOSSIER_RETURN_IF_ERROR(KeepPhases(driver, std::move(outcome), &node));
  if (LastPhase(*driver.order) != Phase::kRun) {
    made.state = NodeMade::State::kCut;
    return made;
  }
  DOSSIER_RETURN_IF_ERROR(Judge(driver, order, ran, &node, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepNode(driver, &node));
  return made;
}

}  // namespace dossier::research
