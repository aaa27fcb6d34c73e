#include "research/search/summaries.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/node/select.h"

namespace dossier::research {
namespace {

constexpr std::string_view kSchema = "dossier.research.summary/1";
constexpr std::array<std::string_view, 3> kNames = {"baseline", "research", "ablation"};
constexpr std::size_t kMaxRecords = 20;          // per stage: the best ones
constexpr std::uint64_t kMaxRecordText = 6'000;  // characters per field

std::string PathOf(std::string_view name) {
  return fmt::format("{}/{}_summary.json", run_files::kLogs, name);
}

Json Text(std::string_view text) { return Json(CutText(text, kMaxRecordText)); }

Json Texts(const std::vector<std::string>& texts) {
  JsonArray array;
  for (const std::string& text : texts) array.push_back(Text(text));
  return array;
}

Json FieldOf(const Json& object, std::string_view key) {
  const Json* field = Find(object, key);
  return field ? *field : Json();
}

// The node fields in each kind of prompt; `id`, `stage`, `kind`, `name` are always included.
constexpr std::array<std::string_view, 4> kAlways = {"id", "stage", "kind", "name"};
constexpr std::array<std::string_view, 9> kForCitations = {"overall_plan",
                                                           "analysis",
                                                           "metric",
                                                           "vlm_feedback_summary",
                                                           "phase0_plan",
                                                           "phase1_steps_summary",
                                                           "phase3_compile_log_summary",
                                                           "phase4_run_log_summary",
                                                           "phase_artifacts_summary"};
constexpr std::array<std::string_view, 11> kForWriteup = {"overall_plan",
                                                          "analysis",
                                                          "metric",
                                                          "vlm_feedback_summary",
                                                          "phase0_plan",
                                                          "phase1_steps_summary",
                                                          "phase3_compile_log_summary",
                                                          "phase4_run_log_summary",
                                                          "phase_artifacts_summary",
                                                          "code",
                                                          "plot_analyses"};
constexpr std::array<std::string_view, 7> kForPlots = {"overall_plan",
                                                       "analysis",
                                                       "plot_plan",
                                                       "plot_code",
                                                       "plot_analyses",
                                                       "vlm_feedback_summary",
                                                       "exp_results_npy_files"};

std::span<const std::string_view> FieldsOf(SummaryFilter filter) {
  switch (filter) {
    case SummaryFilter::kCitations:
      return kForCitations;
    case SummaryFilter::kWriteup:
      return kForWriteup;
    case SummaryFilter::kPlots:
      return kForPlots;
  }
  return {};
}

Json FilterRecord(const Json& record, std::span<const std::string_view> fields) {
  if (!record.is_object()) return record;
  JsonObject kept;
  for (const auto& [name, value] : record.as_object()) {
    if (IsOneOf(name, kAlways) || IsOneOf(name, fields)) kept[name] = value;
  }
  return kept;
}

Json FilterRecords(const Json& records, std::span<const std::string_view> fields) {
  JsonArray kept;
  if (!records.is_array()) return kept;
  for (const Json& record : records.as_array()) kept.push_back(FilterRecord(record, fields));
  return kept;
}

// Returns the id of the node whose program this is: a substage begins with a copy of an earlier
// one.
std::string OriginalOf(const RunResults& results, const Node& node) {
  const Node* original = &node;
  while (original->kind == NodeKind::kCopy) {
    const Node* earlier = results.Find(original->inherited_from_node_id);
    if (!earlier) break;
    original = earlier;
  }
  return original->id;
}

// Returns the good nodes of all substages so far, best first, each program once; failed nodes are
// only counted elsewhere.
JsonArray RecordsOf(const RunResults& results, const StageResults& stage,
                    std::string_view primary) {
  std::set<std::string> taken;
  if (const Node* best = stage.tree.Find(stage.best_node)) taken.insert(OriginalOf(results, *best));
  std::vector<const Node*> good;
  const auto collect = [&](const Tree& tree) {
    for (const Node* node : ByMetric(tree, primary)) {
      if (taken.insert(OriginalOf(results, *node)).second) good.push_back(node);
    }
  };
  for (const StageResults& one : results.stages) {
    if (one.stage == stage.stage && one.name != stage.name) collect(one.tree);
  }
  collect(stage.tree);
  SortByMetric(&good, primary);
  JsonArray records;
  for (const Node* node : std::span(good).first(std::min(good.size(), kMaxRecords))) {
    records.push_back(NodeRecord(*node));
  }
  return records;
}

// Used for a stage without a model's answer: only facts.
JsonObject MechanicalText(const StageResults& stage) {
  std::int64_t good = 0;
  std::int64_t buggy = 0;
  for (const Node& node : stage.tree.nodes) ++(IsGood(node) ? good : buggy);
  const Node* best = stage.tree.Find(stage.best_node);
  JsonObject text{
      {"made_by", "program"}, {"nodes", stage.tree.nodes.size()}, {"good", good}, {"buggy", buggy}};
  if (best && best->metric) text["best_metric"] = MetricText(*best->metric);
  if (!stage.notes.empty()) text["notes"] = Text(stage.notes);
  return text;
}

// Journals a warning once, also over several resumes.
Status Warn(const Services& services, const std::string& text) {
  const std::string key = "run/" + Sha256Hex(text).substr(0, 16);
  if (services.log->Has("warning", key)) return {};
  return services.log->Add("warning", key, {{"node", "run"}, {"text", text}});
}

Result<Json> AskForText(const Services& services, const RunResults& results,
                        const StageResults& stage, const JsonObject& summary,
                        const CancelToken& cancel) {
  if (results.models == Models::kNone) return Json(MechanicalText(stage));
  CallRequest request{.site = "run_summary",
                      .scope = {.branch = results.memory_branch, .stage = stage.name},
                      // A stage that a retry goes on with has other nodes to tell of.
                      .label = fmt::format("run_summary_{}_r{}", stage.name, stage.rounds),
                      .prefix = results.prefix};
  JsonArray records;
  for (const std::string_view part : {"best_node", "nodes", "ablations", "seed_statistics"}) {
    const Json* value = Find(summary, part);
    if (value && !value->is_null()) records.push_back(JsonObject{{part, *value}});
  }
  request.sections = {{.name = "nodes", .value = std::move(records)}};
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, services.caller->Call(request, cancel));
  for (const std::string& warning : called.warnings) {
    DOSSIER_RETURN_IF_ERROR(Warn(services, warning));
  }
  const Result<Json> text = ParseJson(called.payload);
  if (!called.failure && text) return *text;
  DOSSIER_RETURN_IF_ERROR(Warn(
      services,
      fmt::format("{}: no answer ({}); the summary is made of the records alone", request.label,
                  called.failure ? FailureText(*called.failure) : text.error().message)));
  return Json(MechanicalText(stage));
}

}  // namespace

std::string_view SummaryName(int stage) {
  return kNames[static_cast<std::size_t>(std::clamp(stage - 2, 0, 2))];
}

JsonObject NodeRecord(const Node& node) {
  const std::string name = node.hyperparam_name.empty() ? node.ablation_name : node.hyperparam_name;
  JsonObject record{{"id", node.id},
                    {"stage", node.stage},
                    {"kind", NodeKindName(node.kind)},
                    {"name", name},
                    {"overall_plan", Text(node.plan)},
                    {"analysis", Text(node.analysis)},
                    {"metric", node.metric ? Json(MetricText(*node.metric)) : Json()},
                    {"vlm_feedback_summary", Text(node.vlm_feedback_summary)},
                    {"phase0_plan", node.phase0_plan},
                    {"phase1_steps_summary", FieldOf(node.history, "phase1_steps_summary")},
                    {"phase3_compile_log_summary", FieldOf(node.history, "compile_log_summary")},
                    {"phase4_run_log_summary", FieldOf(node.history, "run_log_summary")},
                    {"phase_artifacts_summary", FieldOf(node.history, "llm_output_summary")},
                    {"code", Json(CutText(node.code, 4 * kMaxRecordText))},
                    {"plot_plan", Text(node.plot_plan)},
                    {"plot_code", Text(node.plot_code)},
                    {"plot_analyses", Texts(node.plot_analyses)},
                    {"exp_results_npy_files", Texts(ResultFiles(node))}};
  return record;
}

Json FilterSummaries(const Json& summaries, SummaryFilter filter) {
  if (!summaries.is_object()) return JsonObject();
  JsonObject filtered;
  for (const auto& [name, summary] : summaries.as_object()) {
    if (!summary.is_object()) continue;
    JsonObject kept;
    for (const auto& [key, value] : summary.as_object()) {
      if (key == "nodes" || key == "ablations") {
        kept[key] = FilterRecords(value, FieldsOf(filter));
      } else if (key == "best_node") {
        kept[key] = FilterRecord(value, FieldsOf(filter));
      } else if (key != "schema") {
        kept[key] = value;
      }
    }
    filtered[name] = std::move(kept);
  }
  return filtered;
}

Result<Json> SummarizeStage(const Services& services, const RunResults& results,
                            const StageResults& stage, const CancelToken& cancel) {
  const Node* best = stage.tree.Find(stage.best_node);
  JsonArray records = RecordsOf(results, stage, services.config->primary_metric);
  JsonObject summary{{"schema", kSchema},
                     {"stage", stage.name},
                     {"best_node", best ? Json(NodeRecord(*best)) : Json()},
                     {"seed_statistics", stage.seed_statistics},
                     {stage.stage == 4 ? "ablations" : "nodes", std::move(records)}};
  DOSSIER_ASSIGN_OR_RETURN(summary["text"], AskForText(services, results, stage, summary, cancel));
  Json whole = std::move(summary);
  DOSSIER_RETURN_IF_ERROR(
      WriteArtefact(services, PathOf(SummaryName(stage.stage)), ToPrettyJson(whole) + "\n"));
  return whole;
}

Result<Json> ReadSummaries(const std::string& run_folder) {
  JsonObject summaries;
  for (const std::string_view name : kNames) {
    const std::string path = fmt::format("{}/{}", run_folder, PathOf(name));
    if (!Exists(path)) continue;
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    Result<Json> summary = ParseJson(text);
    if (!summary) {
      return MakeError(ErrorCode::kDamaged, "{}: {}", path, summary.error().message);
    }
    summaries[name] = *std::move(summary);
  }
  return summaries;
}

}  // namespace dossier::research
