// Selects the nodes that a round makes; a pure function, the same for the same seed.
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
  std::string base;  // stages 2 and 4: the id of the best node of the stage before, in this tree
  std::int64_t nodes_left = 0;  // until the stage's cap; no more are picked
};

struct Pick {
  int slot = 0;
  NodeKind kind = NodeKind::kDraft;
  std::string parent;  // id; "": a draft
};

// Good nodes that are neither seed reruns nor pruned, best first, earlier ones in front of equal
// ones; pinned ones alone if there are any. A node that the tree gained is put in its place with
// the next question: the others are not compared again, unless it lacks a data set that they
// report.
//
//   Ranking ranking(primary);
//   if (const Node* best = ranking.Best(tree)) …
//
// One tree's; after nodes in it were pinned or pruned there must be another. Thread-safety: none.
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
  std::size_t seen_ = 0;  // nodes of the tree
  bool pinned_ = false;
  // The data sets that all compared nodes report, by metric.
  std::map<std::string, std::vector<std::string>, std::less<>> common_;
  std::vector<std::vector<std::optional<double>>> means_;  // over them, by node and series
  std::vector<std::size_t> ranked_;                        // nodes
};

// What people pinned is worked on alone while there is something of it to pick, a fault of it
// however deep; what they pruned is never picked. Slots that stay empty have no pick.
std::vector<Pick> Select(const Tree& tree, const SearchConfig& search, const StageState& state,
                         Ranking& ranking);

// The successive u in [0, 1) of one slot.
class SlotRandom {
 public:
  SlotRandom(std::int64_t seed, std::string_view stage, std::int64_t round, std::int64_t slot);
  double Next();
  // floor(u · n); n > 0.
  std::size_t Index(std::size_t n);

 private:
  Random random_;
};

// Better is greater. `datasets`: those that all good nodes of the stage report; empty: each node's
// own.
std::weak_ordering CompareMetric(const Metric& a, const Metric& b,
                                 std::span<const std::string> datasets,
                                 std::string_view primary = {});
// The best of the good nodes that are neither seed reruns nor pruned, and of the pinned ones if
// there are any; the earlier one of equals; null: none.
const Node* BestNode(const Tree& tree, std::string_view primary);
// `chosen`, an id, as long as it is one of those; otherwise the best of them: people may have
// pruned it since, or pinned others.
const Node* KeepBest(const Tree& tree, std::string_view chosen, std::string_view primary);
// Good, non-seed nodes, best first.
std::vector<const Node*> ByMetric(const Tree& tree, std::string_view primary);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_SELECT_H_
