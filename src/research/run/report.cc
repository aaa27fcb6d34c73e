#include "research/run/report.h"

#include <map>
#include <utility>

#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/run_folder.h"
#include "research/tree/metric.h"

namespace dossier::research {
namespace {

std::string MetricOf(const Node& node) {
  if (node.is_seed_agg_node) return SeedText(node.summary);
  return node.metric ? MetricText(*node.metric) : std::string("N/A");
}

std::string_view StateOf(const Node& node) {
  if (IsGood(node)) return "good";
  return node.is_buggy_plots && !node.is_buggy ? "no valid plot" : "buggy";
}

// Returns "draft 1"; for an unnamed node the first part of its id.
std::string NameOf(const Node& node) {
  return node.name.empty() ? node.id.substr(0, 8) : node.name;
}

void AddBest(const RunResults& results, std::string* out) {
  const Node* best = results.Best();
  *out += "\n## Best program\n\n";
  if (!best) {
    *out += "There is none.\n";
    return;
  }
  *out += fmt::format("Node `{}` ({}), metric {}, {}.\n", best->id,
                      best->name.empty() ? NodeKindName(best->kind) : best->name, MetricOf(*best),
                      SecondsText(best->exec_time));
  if (!best->plan.empty()) *out += fmt::format("\n{}\n", TrimSpace(best->plan));
  if (!best->analysis.empty()) *out += fmt::format("\n{}\n", TrimSpace(best->analysis));
}

std::string MissingPrimary(const RunResults& results, const ReportFacts& facts) {
  const Node* best = results.Best();
  return best && best->metric ? MissingMetric(*best->metric, facts.primary) : "";
}

void AddSeeds(const StageResults& stage, std::string* out) {
  const auto* series = stage.seed_statistics.if_array();
  if (!series || series->empty()) return;
  *out += "\nReruns of the best program with other seeds:\n\n";
  for (const Json& one : *series) *out += fmt::format("- `{}`\n", ToJson(one));
}

void AddStage(const StageResults& stage, std::string* out) {
  *out += fmt::format("\n## Stage {}\n\n", stage.name);
  *out += "| node | kind | state | metric | seconds |\n|---|---|---|---|---:|\n";
  for (const Node& node : stage.tree.nodes) {
    *out += fmt::format("| {}{} | {} | {}{} | {} | {} |\n", ReplaceAll(NameOf(node), "|", "\\|"),
                        node.id == stage.best_node ? " *" : "", NodeKindName(node.kind),
                        StateOf(node), node.exc_type.empty() ? "" : ": " + node.exc_type,
                        ReplaceAll(MetricOf(node), "|", "\\|"), RoundedText(node.exec_time));
  }
  AddSeeds(stage, out);
  if (!stage.notes.empty()) *out += fmt::format("\n{}\n", TrimSpace(stage.notes));
}

// Asks a model to put the plain report's facts into words; it is shown nothing else.
Result<std::optional<std::string>> AskReport(const Driver& driver, const std::string& plain,
                                             const CancelToken& cancel) {
  const CallRequest request{.site = "report",
                            .scope = {.phase = "report"},
                            .prefix = CallPrefix(driver),
                            .sections = {{.name = "journal", .value = Json(plain)}},
                            .memory_query = driver.query};
  DOSSIER_ASSIGN_OR_RETURN(CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, "run", outcome.warnings));
  if (!outcome.failure) return std::optional(std::move(outcome.payload));
  DOSSIER_RETURN_IF_ERROR(KeepWarning(
      driver, "run", "the report is made without a model: " + FailureText(*outcome.failure)));
  return std::optional<std::string>();
}

}  // namespace

std::string ErrorCounts(const RunResults& results) {
  std::map<std::string, int> counts;
  for (const StageResults& stage : results.stages) {
    for (const Node& node : stage.tree.nodes) {
      if (!Counts(node) || IsGood(node)) continue;
      if (!node.exc_type.empty()) {
        ++counts[node.exc_type];
      } else {
        ++counts[node.is_buggy ? "found buggy by the review" : "no valid plot"];
      }
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", name, count));
  return Join(parts, ", ");
}

std::string PlainReport(const RunResults& results, const ReportFacts& facts) {
  std::string out = fmt::format("# {}\n\n", results.title);
  out += facts.end ? fmt::format("The run ended: {}", RunEndName(*facts.end))
                   : std::string("The run has not ended yet");
  if (!facts.reason.empty()) out += fmt::format(" ({})", facts.reason);
  out += ".\n";
  const NodeCount count = CountNodes(results.stages);
  out += fmt::format("\nNodes: {} done, {} good, {} buggy.\n", count.done, count.good, count.buggy);
  if (const std::string counts = ErrorCounts(results); !counts.empty()) {
    out += fmt::format("\nNodes that failed: {}.\n", counts);
  }
  AddBest(results, &out);
  if (const std::string missing = MissingPrimary(results, facts); !missing.empty()) {
    out += fmt::format("\nNote: {}.\n", missing);
  }
  for (const StageResults& stage : results.stages) AddStage(stage, &out);
  return out;
}

Result<std::string> WriteReport(const Driver& driver, const RunResults& results,
                                const ReportFacts& facts, const CancelToken& cancel) {
  const std::string path(run_files::kReport);
  std::string text = PlainReport(results, facts);
  if (results.models == Models::kAsk) {
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<std::string> asked,
                             AskReport(driver, text, cancel));
    if (asked) {
      text = std::string(TrimSpace(*asked)) + "\n";
      if (const std::string missing = MissingPrimary(results, facts); !missing.empty()) {
        text += fmt::format("\nNote: {}.\n", missing);
      }
    }
  }
  DOSSIER_RETURN_IF_ERROR(WriteArtefact(driver.services, path, text));
  return path;
}

}  // namespace dossier::research
