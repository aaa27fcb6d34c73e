#include "research/node/node_request.h"

#include <utility>

#include "research/files/cuts.h"
#include "research/node/phase_history.h"

namespace dossier::research {
namespace {

// Adds the sections with the two kinds of feedback that a program passes to its children.
void AddFeedback(const Node& parent, CallRequest* request) {
  request->sections.push_back({"plot_feedback", Json(parent.vlm_feedback_summary)});
  request->sections.push_back({"time_feedback", Json(parent.exec_time_feedback)});
}

void AddEvaluation(const NodeOrder& order, CallRequest* request) {
  request->sections.push_back({"evaluation_metrics", Json(order.evaluation_metrics)});
}

void ForDraft(const Driver& driver, const NodeOrder& order, CallRequest* request) {
  request->sections.push_back({"data_overview", Json(driver.data_overview)});
  AddEvaluation(order, request);
}

// Returns what was wrong with a program, as a memory query: the output of the failed command, else
// the run's reason, else the review's finding.
std::string FaultOf(const Node& node) {
  const std::string errors = ErrorsOf(node.history);
  if (!errors.empty()) return errors;
  return CutTail(node.exc_info.empty() ? node.analysis : node.exc_info, kFailureTail);
}

void ForDebug(const NodeOrder& order, CallRequest* request) {
  const Node& parent = *order.parent;
  // A node that failed before it had a program has only its reason.
  const std::string code = parent.code.empty() ? "There is none. " + parent.failure : parent.code;
  request->sections.push_back({"previous_implementation", Json(code)});
  request->sections.push_back({"execution_output", Json(ExecutionOutput(parent))});
  AddEvaluation(order, request);
  AddFeedback(parent, request);
  if (const std::string fault = FaultOf(parent); !fault.empty()) {
    request->memory_query += "\n" + fault;
  }
}

void ForImprove(const NodeOrder& order, CallRequest* request) {
  request->sections.push_back({"previous_solution", Json(order.parent->code)});
  AddResults(*order.parent, request);
  AddEvaluation(order, request);
  AddFeedback(*order.parent, request);
}

void ForTrial(const NodeOrder& order, std::string_view section, CallRequest* request) {
  request->sections.push_back({"base_code", Json(order.parent->code)});
  AddResults(*order.parent, request);
  AddEvaluation(order, request);
  request->sections.push_back(
      {std::string(section),
       JsonObject{{"name", order.idea.name}, {"description", order.idea.description}}});
  request->memory_query += "\n" + order.idea.name + " " + order.idea.description;
}

}  // namespace

std::string_view CodingSite(NodeKind kind) {
  switch (kind) {
    case NodeKind::kDraft:
      return "draft";
    case NodeKind::kDebug:
      return "debug";
    case NodeKind::kImprove:
      return "improve";
    case NodeKind::kTuning:
      return "tuning_node";
    case NodeKind::kAblation:
      return "ablation_node";
    case NodeKind::kSeed:
    case NodeKind::kCopy:
      break;
  }
  return "";
}

CallOrigin ScopeOf(const Node& node, std::string_view phase) {
  return {
      .node = node.id, .branch = node.branch_id, .stage = node.stage, .phase = std::string(phase)};
}

void AddResults(const Node& node, CallRequest* request) {
  request->sections.push_back({"metric", Json(node.metric ? MetricText(*node.metric) : "")});
  request->sections.push_back({"execution_output", Json(ExecutionOutput(node))});
}

std::string ExecutionOutput(const Node& node) {
  if (node.exc_type.empty()) return node.term_out;
  return fmt::format("{}: {}\n\n{}", node.exc_type, node.exc_info, node.term_out);
}

CallRequest CodingRequest(const Driver& driver, const NodeOrder& order) {
  const std::string_view site = CodingSite(order.node.kind);
  CallRequest request{.site = std::string(site),
                      .scope = ScopeOf(order.node, PhaseName(Phase::kCoding)),
                      .alias = fmt::format("stage{}_{}_prompt", order.stage, site),
                      .prefix = driver.prefix,
                      .memory_query = driver.query};
  switch (order.node.kind) {
    case NodeKind::kDraft:
      ForDraft(driver, order, &request);
      break;
    case NodeKind::kDebug:
      ForDebug(order, &request);
      break;
    case NodeKind::kImprove:
      ForImprove(order, &request);
      break;
    case NodeKind::kTuning:
      ForTrial(order, "tuning_idea", &request);
      break;
    case NodeKind::kAblation:
      ForTrial(order, "ablation_idea", &request);
      break;
    case NodeKind::kSeed:
    case NodeKind::kCopy:
      break;
  }
  if (order.parent) request.sections.push_back({"hint", Json(order.parent->hint)});
  return request;
}

}  // namespace dossier::research
