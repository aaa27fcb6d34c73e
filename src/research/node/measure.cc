#include "research/node/measure.h"

#include <utility>

#include "research/files/cuts.h"
#include "research/files/npy.h"
#include "research/files/phase_files.h"
#include "research/files/replies.h"
#include "research/node/node_request.h"
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
  const auto text = ReadWorkspaceFile(place_.workspace, std::string(kMetricsFile), kMaxMetricsFile);
  if (text) {
    Result<Metric> metric = ReadMetricFile(*text);
    if (metric && !metric->empty()) {
      measured_.metric = *std::move(metric);
      return std::move(measured_);
    }
    measured_.warnings.push_back(fmt::format("{} is not read: {}", kMetricsFile,
                                             metric ? "it names none" : metric.error().message));
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json files, NpyList(place_.workspace));
  if (files.as_array().empty()) {
    measured_.failure = fmt::format("the program left neither {} nor a .npy file", kMetricsFile);
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

}  // namespace dossier::research
