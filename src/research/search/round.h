// Runs one round: selects nodes and makes them.
//
//   RoundState state{.stage = {.stage = 1, .name = name, .round = 0, .nodes_left = 12}};
//   DOSSIER_ASSIGN_OR_RETURN(const RoundEnd end, RunRound(driver, state, &tree, ranking, cancel));
//   if (end.made == 0) return;                       // nothing fits: the stage ends
//
// A round is a barrier: all memory branches fork from their parents' when it starts, and the slots'
// results enter tree and memory in slot order, so that the degree of parallelism makes no
// difference. After an error, the tree holds the nodes that were finished. Thread-safety: blocks
// the caller.

#ifndef DOSSIER_RESEARCH_SEARCH_ROUND_H_
#define DOSSIER_RESEARCH_SEARCH_ROUND_H_

#include <string>
#include <string_view>

#include "research/node/driver.h"
#include "research/node/node_work.h"
#include "research/node/select.h"

namespace dossier::research {

struct RoundState {
  StageState stage;
  std::string evaluation_metrics;  // from define_metrics
  std::string base_plot_code;      // stages 3 and 4
  std::size_t steered = 0;         // number of people's orders in force (steering.h)
};

// Returns the journal key of a round's selection.
std::string RoundKey(const StageState& stage);

struct RoundEnd {
  int made = 0;  // nodes that entered the tree
  NodeMade::State state = NodeMade::State::kWhole;
};

// `ranking` must belong to `tree`.
Result<RoundEnd> RunRound(const Driver& driver, const RoundState& state, Tree* tree,
                          Ranking& ranking, const CancelToken& cancel);

// Forks a node's memory branch from its parent's and returns it; "" without memory. Its name
// identifies the node: "1.1-draft-r0s2" is round 0, slot 2 of the first part of stage 1.
Result<std::string> ForkBranch(const Driver& driver, std::string_view parent_branch,
                               const Node& node, std::int64_t round, std::int64_t slot);
// Journals a new node and sets its time to that of the first attempt at it. `steered`: number of
// people's orders in force when it was chosen.
Status CreateNode(const Driver& driver, Node* node, std::size_t steered = 0);
// Adds a finished node to its tree, its parent and its memory branch.
Status EnterNode(const Driver& driver, Node node, Tree* tree);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_ROUND_H_
