// A node: one program with its results. A tree of them is what a run explores.
//
//   Node node{.id = NodeId(run, stage, round, slot), .kind = NodeKind::kDraft};
//   DOSSIER_RETURN_IF_ERROR(WriteFile(path, ToPrettyJson(NodeJson(node))));
//   DOSSIER_ASSIGN_OR_RETURN(const Node again, ReadNode(json));
//
// Plain data; ReadNode(NodeJson(n)) == n. Errors of ReadNode: kDamaged naming the field.
//
// Thread-safety: plain data; a tree is changed by the thread of the run alone.

#ifndef DOSSIER_RESEARCH_TREE_NODE_H_
#define DOSSIER_RESEARCH_TREE_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "model/client/client.h"

namespace dossier::research {

enum class NodeKind : std::uint8_t { kDraft, kDebug, kImprove, kTuning, kAblation, kSeed, kCopy };
std::string_view NodeKindName(NodeKind kind);  // "draft"

struct MetricValue {
  std::string dataset;
  double value = 0;  // NaN: there, but not a number (null in JSON)
};
// One measure of a program, over some data sets.
struct MetricSeries {
  std::string name;
  enum class Better : std::uint8_t { kHigher, kLower } better = Better::kHigher;
  std::string description;
  std::vector<MetricValue> values;
};
// In declared order.
using Metric = std::vector<MetricSeries>;

// What one reply took, as call.replied holds it.
JsonObject ReplyUsageJson(const model::Usage& usage);
// What is not there counts as nothing, a cost that is not there as unknown.
model::Usage ReadReplyUsage(const Json& json);
// A sum, as node.json holds it.
JsonObject UsageJson(const model::UsageSum& usage);
// Errors: kDamaged naming the field.
Result<model::UsageSum> ReadUsage(const Json& json);

// What people want of a node (search/steering.h): it is what the search goes on with, or is left
// alone. Both hold for all that comes of it.
enum class Steer : std::uint8_t { kFree, kPinned, kPruned };

// Fields as in node.json.
struct Node {
  std::string id, parent_id;  // 32 hex digits; parent "": none
  std::vector<std::string> children;
  std::int64_t step = 0;  // in its stage, from 0
  std::string ctime;      // RFC 3339
  std::string stage;      // "1_initial_implementation_1_preliminary"
  NodeKind kind = NodeKind::kDraft;
  std::string branch_id;  // of memory
  std::string plan, code;
  Json phase_artifacts;  // as ArtifactsJson writes them; null: none
  double exec_time = 0;  // seconds
  std::string exc_type;  // "CompilationError"; "": none
  std::string exc_info, term_out, analysis;
  std::optional<Metric> metric;
  bool is_buggy = false, is_buggy_plots = false;
  std::vector<std::string> plots;  // relative to the run folder
  std::string plot_code, plot_plan;
  std::vector<std::string> plot_analyses;
  std::string vlm_feedback_summary;
  std::vector<std::string> datasets_successfully_tested;
  std::string exec_time_feedback, hyperparam_name, ablation_name;
  bool is_seed_node = false, is_seed_agg_node = false;
  std::optional<std::int64_t> seed_value;
  std::string inherited_from_node_id;
  std::string workspace_path;  // relative to the run folder
  std::string worker_image;
  model::UsageSum usage;
  // What later prompts and summaries say of it.
  Json phase0_plan, history;  // history: phase_summaries, phase1_steps_summary, …
  Json summary;               // node_summary's findings; null: none
  std::string failure;        // reason of a failed call, and where its raw reply lies
  // Not in node.json: SteerNodes (search/steering.h) gives them, each time anew.
  std::string name;  // "draft 1", or as people call it
  Steer steer = Steer::kFree;
  std::string hint;  // of people, for the programs that come of it
};

// First 32 hex digits of SHA-256 over Driver::node_key, stage, round and slot, in lines.
std::string NodeId(std::string_view key, std::string_view stage, std::int64_t round,
                   std::int64_t slot);

JsonObject NodeJson(const Node& node);
Result<Node> ReadNode(Json json);
JsonArray MetricJson(const Metric& metric);  // the form of `metric_names`
// Errors: kInvalidArgument with the path of the wrong value.
Result<Metric> ReadMetric(const Json& metric_names);
// "speedup↑[large:3.12]", each number by number_text.h: NumberText for what models and files are
// told, RoundedText for pages.
std::string MetricText(const Metric& metric);
std::string RoundedMetricText(const Metric& metric);

// The first value that is no finite number, as "loss of train"; unset: there is none. A metric
// without any value has none that is finite.
std::optional<std::string> NotFinite(const Metric& metric);

// Whether a node is good: it is not buggy, its plots are valid, and all numbers it measured are
// finite.
inline bool IsGood(const Node& node) {
  return !node.is_buggy && !node.is_buggy_plots && !(node.metric && NotFinite(*node.metric));
}

// Nodes of one stage in the order of their steps.
struct Tree {
  std::vector<Node> nodes;

  const Node* Find(std::string_view id) const;
  // The number of consecutive debug nodes up to and including this one.
  int DebugDepth(const Node& node) const;
  bool IsLeaf(const Node& node) const { return node.children.empty(); }
  // The root of the tree it stands in.
  const Node* RootOf(const Node& node) const;
};

// The first node of each id, for who looks for many. Points into what it was made of.
class NodeIndex {
 public:
  NodeIndex() = default;
  explicit NodeIndex(const Tree& tree) { Add(tree); }
  void Add(const Tree& tree) {
    for (const Node& node : tree.nodes) nodes_.try_emplace(node.id, &node);
  }
  const Node* Find(std::string_view id) const {
    const auto found = nodes_.find(id);
    return id.empty() || found == nodes_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const Node*> nodes_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_NODE_H_
