#include "research/tree/node.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/json/json.h"

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 7> kKinds = {"draft",    "debug", "improve", "tuning",
                                                    "ablation", "seed",  "copy"};

tl::unexpected<Error> Wrong(std::string_view field, std::string_view wanted) {
  return MakeError(ErrorCode::kDamaged, "node: {} must be {}", field, wanted);
}

// Absent and null mean the default: an older version did not write the field.
const Json* Value(const Json& json, std::string_view field) {
  const Json* value = Find(json, field);
  return value && !value->is_null() ? value : nullptr;
}

Status Read(const Json& json, std::string_view field, std::string* out) {
  const Json* value = Value(json, field);
  if (!value) return {};
  if (!value->is_string()) return Wrong(field, "a text");
  *out = std::string(value->as_string());
  return {};
}

Status Read(const Json& json, std::string_view field, std::vector<std::string>* out) {
  const Json* value = Value(json, field);
  if (!value) return {};
  if (!value->is_array()) return Wrong(field, "a list of texts");
  for (const Json& item : value->as_array()) {
    if (!item.is_string()) return Wrong(field, "a list of texts");
    out->emplace_back(item.as_string());
  }
  return {};
}

Status Read(const Json& json, std::string_view field, std::int64_t* out) {
  if (!Value(json, field)) return {};
  const auto number = FindInt(json, field);
  if (!number) return Wrong(field, "a whole number");
  *out = *number;
  return {};
}

Status Read(const Json& json, std::string_view field, std::optional<std::int64_t>* out) {
  return Value(json, field) ? Read(json, field, &out->emplace()) : Status();
}

Status Read(const Json& json, std::string_view field, double* out) {
  if (!Value(json, field)) return {};
  const auto number = FindNumber(json, field);
  if (!number) return Wrong(field, "a number");
  *out = *number;
  return {};
}

Status Read(const Json& json, std::string_view field, bool* out) {
  if (!Value(json, field)) return {};
  const auto flag = FindBool(json, field);
  if (!flag) return Wrong(field, "true or false");
  *out = *flag;
  return {};
}

// Moves the value out of `json`.
Status Read(Json& json, std::string_view field, Json* out) {
  if (json.as_object().contains(field)) *out = std::move(json.as_object()[field]);
  return {};
}

Status Read(const Json& json, std::string_view field, NodeKind* out) {
  std::string name;
  DOSSIER_RETURN_IF_ERROR(Read(json, field, &name));
  const auto found = std::find(kKinds.begin(), kKinds.end(), name);
  if (found == kKinds.end()) return Wrong(field, "a kind such as draft");
  *out = static_cast<NodeKind>(found - kKinds.begin());
  return {};
}

Status Read(const Json& json, std::string_view field, std::optional<Metric>* out) {
  const Json* value = Value(json, field);
  if (!value) return {};
  auto metric = ReadMetric(*value);
  if (!metric) return Wrong(field, metric.error().message);
  *out = std::move(*metric);
  return {};
}

Status Read(const Json& json, std::string_view field, model::UsageSum* out) {
  const Json* value = Value(json, field);
  if (!value) return {};
  auto usage = ReadUsage(*value);
  if (!usage) return Wrong(field, usage.error().message);
  *out = *usage;
  return {};
}

template <typename T>
Json Written(const T& value) {
  return Json(value);
}
Json Written(const std::vector<std::string>& value) { return TextArray(value); }
Json Written(NodeKind value) { return Json(NodeKindName(value)); }
Json Written(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json Written(const std::optional<Metric>& value) {
  return value ? Json(MetricJson(*value)) : Json(nullptr);
}
Json Written(const model::UsageSum& value) { return UsageJson(value); }

// Calls `visit(name, field)` for every field, in the order of node.json, until one fails.
template <typename SomeNode, typename Visit>
Status ForEachField(SomeNode& node, const Visit& visit) {
  Status status;
  const auto one = [&](std::string_view name, auto& field) {
    if (status) status = visit(name, field);
  };
  one("id", node.id);
  one("parent_id", node.parent_id);
  one("children", node.children);
  one("step", node.step);
  one("ctime", node.ctime);
  one("stage", node.stage);
  one("kind", node.kind);
  one("branch_id", node.branch_id);
  one("plan", node.plan);
  one("code", node.code);
  one("phase_artifacts", node.phase_artifacts);
  one("exec_time", node.exec_time);
  one("exc_type", node.exc_type);
  one("exc_info", node.exc_info);
  one("term_out", node.term_out);
  one("analysis", node.analysis);
  one("metric", node.metric);
  one("is_buggy", node.is_buggy);
  one("is_buggy_plots", node.is_buggy_plots);
  one("plots", node.plots);
  one("plot_code", node.plot_code);
  one("plot_plan", node.plot_plan);
  one("plot_analyses", node.plot_analyses);
  one("vlm_feedback_summary", node.vlm_feedback_summary);
  one("datasets_successfully_tested", node.datasets_successfully_tested);
  one("exec_time_feedback", node.exec_time_feedback);
  one("hyperparam_name", node.hyperparam_name);
  one("ablation_name", node.ablation_name);
  one("is_seed_node", node.is_seed_node);
  one("is_seed_agg_node", node.is_seed_agg_node);
  one("seed_value", node.seed_value);
  one("inherited_from_node_id", node.inherited_from_node_id);
  one("workspace_path", node.workspace_path);
  one("worker_image", node.worker_image);
  one("usage", node.usage);
  one("phase0_plan", node.phase0_plan);
  one("history", node.history);
  one("summary", node.summary);
  one("failure", node.failure);
  return status;
}

}  // namespace

JsonObject ReplyUsageJson(const model::Usage& usage) {
  return {{"input_tokens", usage.input},
          {"output_tokens", usage.output},
          {"cached_tokens", usage.cached},
          {"cache_write_tokens", usage.cache_write},
          {"cost_nano_usd", Written(usage.cost_nano_usd)}};
}

model::Usage ReadReplyUsage(const Json& json) {
  const auto tokens = [&](std::string_view key) { return FindInt(json, key).value_or(0); };
  return {.input = tokens("input_tokens"),
          .output = tokens("output_tokens"),
          .cached = tokens("cached_tokens"),
          .cache_write = tokens("cache_write_tokens"),
          .cost_nano_usd = FindInt(json, "cost_nano_usd")};
}

JsonObject UsageJson(const model::UsageSum& usage) {
  JsonObject json{{"calls", usage.calls}};
  for (auto& [key, value] : ReplyUsageJson(usage.total)) json.emplace(key, std::move(value));
  return json;
}

Result<model::UsageSum> ReadUsage(const Json& json) {
  if (!json.is_object()) return Wrong("usage", "an object");
  model::UsageSum usage;
  usage.total.cost_nano_usd.reset();
  DOSSIER_RETURN_IF_ERROR(Read(json, "calls", &usage.calls));
  DOSSIER_RETURN_IF_ERROR(Read(json, "input_tokens", &usage.total.input));
  DOSSIER_RETURN_IF_ERROR(Read(json, "output_tokens", &usage.total.output));
  DOSSIER_RETURN_IF_ERROR(Read(json, "cached_tokens", &usage.total.cached));
  DOSSIER_RETURN_IF_ERROR(Read(json, "cache_write_tokens", &usage.total.cache_write));
  DOSSIER_RETURN_IF_ERROR(Read(json, "cost_nano_usd", &usage.total.cost_nano_usd));
  return usage;
}

std::string_view NodeKindName(NodeKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string NodeId(std::string_view key, std::string_view stage, std::int64_t round,
                   std::int64_t slot) {
  return Sha256Hex(fmt::format("{}\n{}\n{}\n{}", key, stage, round, slot)).substr(0, 32);
}

JsonObject NodeJson(const Node& node) {
  JsonObject out;
  const Status written = ForEachField(node, [&](std::string_view name, const auto& field) {
    out[name] = Written(field);
    return Status();
  });
  static_cast<void>(written);  // writing cannot fail
  return out;
}

Result<Node> ReadNode(Json json) {
  if (!json.is_object()) return MakeError(ErrorCode::kDamaged, "node: it must be an object");
  Node node;
  DOSSIER_RETURN_IF_ERROR(ForEachField(
      node, [&](std::string_view name, auto& field) { return Read(json, name, &field); }));
  if (node.id.empty()) return Wrong("id", "a text that is not empty");
  return node;
}

const Node* Tree::Find(std::string_view id) const {
  if (id.empty()) return nullptr;
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

int Tree::DebugDepth(const Node& node) const {
  int depth = 0;
  const Node* at = &node;
  // Bounded by the number of nodes, so that it ends even if parents form a cycle.
  for (std::size_t seen = 0; at && at->kind == NodeKind::kDebug && seen < nodes.size(); ++seen) {
    ++depth;
    at = Find(at->parent_id);
  }
  return depth;
}

const Node* Tree::RootOf(const Node& node) const {
  const Node* at = &node;
  for (std::size_t seen = 0; seen < nodes.size(); ++seen) {
    const Node* parent = Find(at->parent_id);
    if (!parent) break;
    at = parent;
  }
  return at;
}

}  // namespace dossier::research
