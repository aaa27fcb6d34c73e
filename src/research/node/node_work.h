// One slot of a round: a program is written, run, judged, measured, drawn and summed up.
//
//   DOSSIER_ASSIGN_OR_RETURN(const NodeMade made, MakeNode(driver, order, cancel));
//   if (made.state == NodeMade::State::kWhole) tree.nodes.push_back(made.node);
//
// What goes wrong with a program is kept in the node, which then is buggy; an error ends the run. A
// node that the journal has is taken from there, and nothing of it is done again. Thread-safety:
// one thread a node; several nodes at the same time.

#ifndef DOSSIER_RESEARCH_NODE_NODE_WORK_H_
#define DOSSIER_RESEARCH_NODE_NODE_WORK_H_

#include "research/node/driver.h"
#include "research/node/node_request.h"

namespace dossier::research {

struct NodeMade {
  Node node;
  // kCut: --until named one of its phases, and nothing behind that phase was done.
  enum class State : std::uint8_t { kWhole, kCut } state = State::kWhole;
};

Result<NodeMade> MakeNode(const Driver& driver, const NodeOrder& order, const CancelToken& cancel);

// The last step of every node whose program ran, reruns included: measures it and records it.
Status MeasureInto(const Driver& driver, std::string_view worker, Node* node,
                   const CancelToken& cancel);
// Adds the usage of the node's calls to it, then writes node.json and the journal.
Status KeepNode(const Driver& driver, Node* node);
// From the journal; unset: it is not finished. Errors: kDamaged.
Result<std::optional<Node>> RecordedNode(const Driver& driver, std::string_view id);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_NODE_WORK_H_
