// Builds the call that makes a node's program: its call site, and what the model is shown.
//
//   NodeOrder order{.node = node, .parent = &best, .stage = 2, .worker = "worker-0",
//                   .idea = {.name = "threads", .description = "number of threads"}};
//   work.coding = CodingRequest(driver, order);
//
// Pure. Thread-safety: none needed.

#ifndef DOSSIER_RESEARCH_NODE_NODE_REQUEST_H_
#define DOSSIER_RESEARCH_NODE_NODE_REQUEST_H_

#include <string>
#include <string_view>

#include "research/node/driver.h"
#include "research/tree/node.h"

namespace dossier::research {

// What a slot of stage 2 or 4 tries.
struct TrialIdea {
  std::string name, description;
};

struct NodeOrder {
  Node node;                       // what is known in advance: id, kind, parent, branch, step
  const Node* parent = nullptr;    // null: a draft
  int stage = 1;                   // 1 to 4
  std::string worker;              // "worker-0"
  TrialIdea idea;                  // for tuning and ablation nodes
  std::string evaluation_metrics;  // from define_metrics; "": none
  std::string base_plot_code;      // stages 3 and 4
};

std::string_view CodingSite(NodeKind kind);  // "draft"; "" for kinds that ask no model
CallRequest CodingRequest(const Driver& driver, const NodeOrder& order);
CallOrigin ScopeOf(const Node& node, std::string_view phase);

// Adds a program's results: sections `metric` and `execution_output`.
void AddResults(const Node& node, CallRequest* request);

// Returns `summary` as prompts show it: the output, and how the node failed.
std::string ExecutionOutput(const Node& node);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_NODE_REQUEST_H_
