// A node: one program with its results. A run explores a tree of nodes.
//
//   Node node{.id = NodeId(run, stage, round, slot), .kind = NodeKind::kDraft};
//   DOSSIER_RETURN_IF_ERROR(WriteFile(path, ToPrettyJson(NodeJson(node))));
//   DOSSIER_ASSIGN_OR_RETURN(const Node again, ReadNode(json));
//
// Plain data; ReadNode(NodeJson(n)) == n. Errors of ReadNode: kDamaged naming the field.
//
// Thread-safety: plain data; only the run's thread changes a tree.

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
  double value = 0;  // NaN: present, but not a number (null in JSON)
};
// One measured quantity of a program, for some data sets.
struct MetricSeries {
  std::string name;
  enum class Better : std::uint8_t { kHigher, kLower } better = Better::kHigher;
  std::string description;
  std::vector<MetricValue> values;
};
// In the order of declaration.
using Metric = std::vector<MetricSeries>;

// Returns the usage of one reply, in the form of call.replied.
JsonObject ReplyUsageJson(const model::Usage& usage);
// Missing counts are 0, a missing cost is unknown.
model::Usage ReadReplyUsage(const Json& json);
// Returns a usage sum, in the form of node.json.
JsonObject UsageJson(const model::UsageSum& usage);
// Errors: kDamaged naming the field.
Result<model::UsageSum> ReadUsage(const Json& json);

// What people want for a node (search/steering.h): the search works only on pinned nodes, and
// leaves pruned ones alone. Both apply to its descendants.
enum class Steer : std::uint8_t { kFree, kPinned, kPruned };

// Fields as in node.json.
struct Node {
  std::string id, parent_id;  // 32 hex digits; parent "": none
  std::vector<std::string> children;
  std::int64_t step = 0;  // position in its stage, from 0
  std::string ctime;      // RFC 3339
  std::string stage;      // "1_initial_implementation_1_preliminary"
  NodeKind kind = NodeKind::kDraft;
  std::string branch_id;  // memory branch
  std::string plan, code;
  Json phase_artifacts;  // in the form of ArtifactsJson; null: none
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
  // Data for later prompts and summaries.
  Json phase0_plan, history;  // history: phase_summaries, phase1_steps_summary, …
  Json summary;               // node_summary's findings; null: none
  std::string failure;        // reason of a failed call, and path of its raw reply
  // Not in node.json: set anew by SteerNodes (search/steering.h).
  std::string name;  // "draft 1", or the name people gave it
  Steer steer = Steer::kFree;
  std::string hint;  // from people, for the programs derived from it
};

// The first 32 hex digits of SHA-256 over Driver::node_key, stage, round and slot, one per line.
std::string NodeId(std::string_view key, std::string_view stage, std::int64_t round,
                   std::int64_t slot);

JsonObject NodeJson(const Node& node);
Result<Node> ReadNode(Json json);
JsonArray MetricJson(const Metric& metric);  // the form of `metric_names`
// Errors: kInvalidArgument with the path of the wrong value.
Result<Metric> ReadMetric(const Json& metric_names);
// Returns "speedup↑[large:3.12]". Numbers are formatted as in files/cuts.h: NumberText for models
// and files, RoundedText for pages.
std::string MetricText(const Metric& metric);
std::string RoundedMetricText(const Metric& metric);

// Returns the first value that is not finite, as "loss of train"; unset: there is none. A metric
// without values counts as not finite.
std::optional<std::string> NotFinite(const Metric& metric);

// Returns true if the node is not buggy, its plots are valid, and all its measured numbers are
// finite.
inline bool IsGood(const Node& node) {
  return !node.is_buggy && !node.is_buggy_plots && !(node.metric && NotFinite(*node.metric));
}

// The nodes of one stage, in step order.
struct Tree {
  std::vector<Node> nodes;

  const Node* Find(std::string_view id) const;
  // Returns the number of consecutive debug nodes up to and including this one.
  int DebugDepth(const Node& node) const;
  bool IsLeaf(const Node& node) const { return node.children.empty(); }
  // Returns the root above this node.
  const Node* RootOf(const Node& node) const;
};

// An index of the first node of each id, for many lookups. Points into the trees that were added.
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
