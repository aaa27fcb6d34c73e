// The call that makes a node's program: which call site, and what it is shown.
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

// What a slot of stage 2 or 4 is to try.
struct TrialIdea {
  std::string name, description;
};

struct NodeOrder {
  Node node;                     // what is known before it is made: id, kind, parent, branch, step
  const Node* parent = nullptr;  // null: a draft
  int stage = 1;                 // 1 to 4
  std::string worker;            // "worker-0"
  TrialIdea idea;                // of tuning and ablation nodes
  std::string evaluation_metrics;  // of define_metrics; "": none
  std::string base_plot_code;      // stages 3 and 4
};

std::string_view CodingSite(NodeKind kind);  // "draft"; "" for kinds that ask no model
CallRequest CodingRequest(const Driver& driver, const NodeOrder& order);
CallOrigin ScopeOf(const Node& node, std::string_view phase);

// What a program reached: sections `metric` and `execution_output`.
void AddResults(const Node& node, CallRequest* request);

// `summary` as prompts show it: the output, and how the node failed.
std::string ExecutionOutput(const Node& node);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_NODE_REQUEST_H_
