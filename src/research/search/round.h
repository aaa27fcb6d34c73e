// A round: one selection, and the nodes made from it.
//
//   RoundState state{.stage = {.stage = 1, .name = name, .round = 0, .nodes_left = 12}};
//   DOSSIER_ASSIGN_OR_RETURN(const RoundEnd end, RunRound(driver, state, &tree, ranking, cancel));
//   if (end.made == 0) return;                       // nothing fits: the stage ends
//
// A round is a barrier: all branches of memory fork from their parents' when it starts, and what
// the slots found enters tree and memory in the order of the slots, so that it does not matter how
// many of them ran at the same time. An error leaves in the tree what was finished.
// Thread-safety: blocks its caller.

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
  std::string evaluation_metrics;  // of define_metrics
  std::string base_plot_code;      // stages 3 and 4
  std::size_t steered = 0;         // orders of people that are in force (steering.h)
};

// The key of a round's selection in the journal.
std::string RoundKey(const StageState& stage);

struct RoundEnd {
  int made = 0;  // nodes that entered the tree
  NodeMade::State state = NodeMade::State::kWhole;
};

// `ranking`: that of the tree.
Result<RoundEnd> RunRound(const Driver& driver, const RoundState& state, Tree* tree,
                          Ranking& ranking, const CancelToken& cancel);

// The branch of memory of a node, forked from its parent's; "" without memory. Its name says which
// node it is of: "1.1-draft-r0s2" is of round 0, slot 2 of the first part of stage 1.
Result<std::string> ForkBranch(const Driver& driver, std::string_view parent_branch,
                               const Node& node, std::int64_t round, std::int64_t slot);
// Journals a new node and gives it the time of the first attempt at it. `steered`: orders of people
// that chose it.
Status CreateNode(const Driver& driver, Node* node, std::size_t steered = 0);
// Puts a finished node into its tree, its parent and its branch of memory.
Status EnterNode(const Driver& driver, Node node, Tree* tree);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_ROUND_H_
