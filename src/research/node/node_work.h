// Fills one slot of a round: a program is written, run, judged, measured, plotted and summarised.
//
//   DOSSIER_ASSIGN_OR_RETURN(const NodeMade made, MakeNode(driver, order, cancel));
//   if (made.state == NodeMade::State::kWhole) tree.nodes.push_back(made.node);
//
// A program's failure is recorded in the node, which is then buggy; an error ends the run. A node
// that is in the journal is read from there, and none of its work is repeated. Thread-safety: one
// thread per node; several nodes at the same time.

#ifndef DOSSIER_RESEARCH_NODE_NODE_WORK_H_
#define DOSSIER_RESEARCH_NODE_NODE_WORK_H_

#include "research/node/driver.h"
#include "research/node/node_request.h"

namespace dossier::research {

struct NodeMade {
  Node node;
  // kCut: --until named one of its phases, and nothing after that phase was done.
  enum class State : std::uint8_t { kWhole, kCut } state = State::kWhole;
};

Result<NodeMade> MakeNode(const Driver& driver, const NodeOrder& order, const CancelToken& cancel);

// The last step for every node whose program ran, including reruns: measures and records it.
Status MeasureInto(const Driver& driver, std::string_view worker, Node* node,
                   const CancelToken& cancel);
// Adds the usage of the node's calls to it, then writes node.json and the journal.
Status KeepNode(const Driver& driver, Node* node);
// Reads a node from the journal; unset if it is not finished. Errors: kDamaged.
Result<std::optional<Node>> RecordedNode(const Driver& driver, std::string_view id);

// Determines the metric of a program that ran. `working/metrics.json` is read directly. Otherwise a
// model writes a script that reads the `.npy` files, the script runs in the sandbox, and a model
// names the metrics in its output. Errors: those of RoleCaller::Call and of the sandbox; kIo.

inline constexpr int kMeasureTries = 3;  // scripts; each call has three attempts of its own
inline constexpr std::string_view kMetricsFile = "working/metrics.json";

struct MeasurePlace {
  const Node* node = nullptr;
  std::string workspace;  // absolute
  std::string worker;     // "worker-0"
};

struct MeasuredMetric {
  std::optional<Metric> metric;
  std::string failure;  // why there is no metric
  std::vector<std::string> warnings;
};

Result<MeasuredMetric> Measure(const Driver& driver, const MeasurePlace& place,
                               const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_NODE_WORK_H_
