// Selects the nodes that a round makes. The function is pure: the same seed gives the same nodes.
//
//   const StageState state{.stage = 1, .name = stage, .round = 3, .nodes_left = 12};
//   for (const Pick& pick : Select(tree, SearchOf(config), state)) Make(pick);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_NODE_SELECT_H_
#define DOSSIER_RESEARCH_NODE_SELECT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "research/setup/config.h"
#include "research/tree/node.h"

namespace dossier::research {

struct SearchConfig {
  std::int64_t seed = 0;
  int num_workers = 4, num_drafts = 3, max_debug_depth = 3;
  double debug_prob = 0.5;
  std::string primary_metric;
};

SearchConfig SearchOf(const RunConfig& config);

struct StageState {
  int stage = 1;     // 1 to 4
  std::string name;  // "2_baseline_tuning_1_first_attempt"
  std::int64_t round = 0;
  std::string base;  // stages 2 and 4: id of the best node of the previous stage, in this tree
  std::int64_t nodes_left = 0;  // until the stage's limit; no more are picked
};

struct Pick {
  int slot = 0;
  NodeKind kind = NodeKind::kDraft;
  std::string parent;  // id; "": a draft
};

// Ranks the good nodes that are neither seed reruns nor pruned, best first, earlier ones before
// equal ones; only pinned ones if there are any. A node added to the tree is inserted at the next
// query: the others are not compared again, unless it lacks a data set that they report.
//
//   Ranking ranking(primary);
//   if (const Node* best = ranking.Best(tree)) …
//
// Belongs to one tree; make a new one after nodes were pinned or pruned. Thread-safety: none.
class Ranking {
 public:
  explicit Ranking(std::string_view primary) : primary_(primary) {}
  std::vector<const Node*> Nodes(const Tree& tree);
  const Node* Best(const Tree& tree);  // null: none

 private:
  void Update(const Tree& tree);
  bool Narrow(const Node& node);
  void Insert(const Tree& tree, std::size_t node);

  std::string primary_;
  std::size_t seen_ = 0;  // number of tree nodes seen
  bool pinned_ = false;
  // The data sets that all compared nodes report, per metric.
  std::map<std::string, std::vector<std::string>, std::less<>> common_;
  std::vector<std::vector<std::optional<double>>> means_;  // over `common_`, by node and series
  std::vector<std::size_t> ranked_;                        // node indices
};

// While something pinned can be picked, only that is worked on, including its buggy descendants at
// any depth; pruned nodes are never picked. Slots that stay empty have no pick.
std::vector<Pick> Select(const Tree& tree, const SearchConfig& search, const StageState& state,
                         Ranking& ranking);

// The sequence of random numbers u in [0, 1) of one slot.
class SlotRandom {
 public:
  SlotRandom(std::int64_t seed, std::string_view stage, std::int64_t round, std::int64_t slot);
  double Next();
  // Returns floor(u · n); n > 0.
  std::size_t Index(std::size_t n);

 private:
  Random random_;
};

// The better metric compares greater. `datasets`: those that all good nodes of the stage report;
// empty: each node's own.
std::weak_ordering CompareMetric(const Metric& a, const Metric& b,
                                 std::span<const std::string> datasets,
                                 std::string_view primary = {});
// Returns the best good node that is neither a seed rerun nor pruned, only among pinned ones if
// there are any; the earlier one of equals; null: none.
const Node* BestNode(const Tree& tree, std::string_view primary);
// Returns the node with id `chosen` if it still qualifies for BestNode, otherwise the best one:
// people may have pruned it since, or pinned others.
const Node* KeepBest(const Tree& tree, std::string_view chosen, std::string_view primary);
// Sorts good nodes of several trees, best first; equal ones keep their order.
void SortByMetric(std::vector<const Node*>* nodes, std::string_view primary);
// Returns the good nodes that are not seed reruns, best first.
std::vector<const Node*> ByMetric(const Tree& tree, std::string_view primary);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_SELECT_H_
